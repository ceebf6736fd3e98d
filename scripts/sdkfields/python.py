"""Prints the parameters of the methods of OpenAI's, Anthropic's and Ollama's Python clients as JSON: a list of
{"sdk", "method", "path", "fields"}, where fields has the members of each parameter that may be an object."""

import inspect
import json
import pkgutil
import re
import sys
import typing
from importlib import import_module, metadata

import anthropic
import ollama
import openai
import pydantic

# Parameters that aren't sent, or in no field of their own.
TRANSPORT = {"self", "extra_headers", "extra_query", "extra_body", "timeout", "kwargs"}


def members(hint, into):
    """Adds the members of the objects that a type allows. What lists hold doesn't count."""
    if typing.is_typeddict(hint):
        into.update(typing.get_type_hints(hint))
    elif inspect.isclass(hint) and issubclass(hint, pydantic.BaseModel):
        into.update(field.alias or name for name, field in hint.model_fields.items())
    elif typing.get_origin(hint) in (typing.Union, typing.Annotated, type(int | str), typing.Required, typing.NotRequired):
        for one in typing.get_args(hint):
            members(one, into)
    return into


def fields(method, path):
    hints = typing.get_type_hints(inspect.unwrap(method))
    in_path = set(re.findall(r"{(\w+)}", path))
    return {
        name: sorted(members(hints.get(name, str), set()))
        for name in inspect.signature(method).parameters
        if name not in TRANSPORT | in_path
    }


def resources(package):
    """The classes of a client made by Stainless, whose methods name verb and path."""
    root = import_module(package + ".resources")
    for found in pkgutil.walk_packages(root.__path__, root.__name__ + "."):
        module = import_module(found.name)
        for name, one in inspect.getmembers(module, inspect.isclass):
            if one.__module__ == module.__name__ and not re.match("Async|.*With(Raw|Streaming)", name):
                yield one


def calls():
    for package in (openai, anthropic):
        base = "/v1" if package is openai else ""  # OpenAI's is in the base URL
        for resource in resources(package.__name__):
            for _, method in inspect.getmembers(resource, inspect.isfunction):
                source = inspect.getsource(inspect.unwrap(method))
                call = re.search(r'self\._(post|get|delete|get_api_list)\(\s*(?:path_template\(\s*)?f?"([^"?]+)', source)
                if call and method.__qualname__.startswith(resource.__name__ + "."):
                    verb = call[1].removesuffix("_api_list").upper()
                    yield package.__name__, verb, base + call[2], fields(method, call[2])
    for _, method in inspect.getmembers(ollama.Client, inspect.isfunction):
        call = re.search(r"'(POST|GET|DELETE)',\s*'([^']+)'", inspect.getsource(method))
        if call:
            yield "ollama", call[1], call[2], fields(method, call[2])


out = []
for sdk, verb, path, given in calls():
    path = re.sub(r"{\w+}", "{}", path)
    out.append({"sdk": f"{sdk} {metadata.version(sdk)} (Python)", "method": verb, "path": path, "fields": given})
for sdk in "openai", "anthropic", "ollama":
    if not any(one["sdk"].startswith(sdk) and one["fields"] for one in out):
        sys.exit(f"no methods of {sdk} were found")
json.dump(out, sys.stdout)
