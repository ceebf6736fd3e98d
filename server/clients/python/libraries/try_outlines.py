"""Outlines: its back ends for OpenAI, Anthropic, Ollama, vLLM and SGLang; types, schemas, regular expressions, choices, grammars."""

from shared import ANN, OBEDIENT, RANDOM, Bounded, Person, document, run, says

import re
from typing import Literal

import anthropic
import ollama
import openai
import outlines
from outlines.types import CFG, JsonSchema, Regex


def gpt(url):
    return openai.OpenAI(base_url=url + "/v1", api_key="none", max_retries=0)


def models(url):
    yield outlines.from_openai(gpt(url), "tiny")
    yield outlines.from_ollama(ollama.Client(host=url), "tiny")
    yield outlines.from_vllm(gpt(url), "tiny")
    yield outlines.from_sglang(gpt(url), "tiny")


def test_models():
    for model in models(OBEDIENT):
        assert Person.model_validate_json(model(says(document()), Person)) == ANN, model
        schema = JsonSchema(Person.model_json_schema() | {"additionalProperties": False})
        assert Person.model_validate_json(model(says(document()), schema)) == ANN, model
    for model in models(RANDOM):
        Bounded.model_validate_json(model("A person.", Bounded))


def test_constraints():
    """Those of vLLM and SGLang, whose APIs have more than schemas."""
    for model in list(models(RANDOM))[2:]:
        assert model("Pick.", Literal["red", "blue"]) in ("red", "blue")
        assert re.fullmatch("[a-f]{3}-[0-9]{2}", model("Pick.", Regex("[a-f]{3}-[0-9]{2}")))
        assert re.fullmatch("(ab)+", model("Pick.", CFG('root ::= "ab" | "ab" root')))


def test_stream():
    for model in models(OBEDIENT):
        assert Person.model_validate_json("".join(model.stream(says(document()), Person))) == ANN, model


async def test_async():
    model = outlines.from_openai(openai.AsyncOpenAI(base_url=OBEDIENT + "/v1", api_key="none"), "tiny")
    assert Person.model_validate_json(await model(says(document()), Person)) == ANN


def test_anthropic():
    """Outlines has no structured output for Anthropic, only text."""
    model = outlines.from_anthropic(anthropic.Anthropic(base_url=OBEDIENT, api_key="none"), "tiny")
    assert model(says("yes"), max_tokens=50) == "yes"


run(globals())
