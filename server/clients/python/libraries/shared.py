"""What the scripts for the libraries share. Import it first: it turns telemetry off, and refuses connections to anything but
this machine. The model of OBEDIENT writes the texts between << and >> in the conversation, the first in its first turn and
so on; that of RANDOM writes anything that it may."""

import asyncio
import inspect
import json
import os
import sys
import traceback

os.environ.update({
    "AGNO_TELEMETRY": "false",
    "ANONYMIZED_TELEMETRY": "False",
    "CREWAI_DISABLE_TELEMETRY": "true",
    "CREWAI_DISABLE_TRACKING": "true",
    "CREWAI_TRACING_ENABLED": "false",
    "DO_NOT_TRACK": "1",
    "HAYSTACK_TELEMETRY_ENABLED": "False",
    "HF_HUB_OFFLINE": "1",
    "LANGCHAIN_TRACING_V2": "false",
    "LANGSMITH_TRACING": "false",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_TELEMETRY": "False",
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
    "OPENAI_API_KEY": "none",
    "ANTHROPIC_API_KEY": "none",
    "OTEL_SDK_DISABLED": "true",
})

OBEDIENT, RANDOM = os.environ["STENCIL_OBEDIENT"], os.environ["STENCIL_RANDOM"]
GREETING = "hello wörld"
refused = set()


def guard(event, args):
    if event == "socket.connect" and isinstance(args[1], tuple) and args[1][0] not in ("127.0.0.1", "::1", "localhost"):
        where = args[1][0]
    elif event == "socket.getaddrinfo" and args[0] not in ("127.0.0.1", "::1", "localhost", None, b"127.0.0.1", b"localhost"):
        where = args[0]
    else:
        return
    refused.add(str(where))
    raise OSError(f"no connections to {where} here")


sys.addaudithook(guard)

from pydantic import BaseModel, Field  # noqa: E402


class Person(BaseModel):
    """A person."""

    name: str = Field(description="The first name")
    age: int = Field(description="In years")


class Bounded(BaseModel):
    """A person within bounds, which a random model finds only if it is held to them."""

    name: str = Field(pattern="^[a-z]{1,8}$")
    age: int = Field(ge=1, le=120)


ANN = Person(name="ann", age=5)


def says(*texts, ask="Make up a person."):
    """A question that has the model write the texts, one a turn."""
    return ask + " " + " ".join(f"<<{text}>>" for text in texts)


def document(value=ANN):
    return json.dumps(value.model_dump() if isinstance(value, BaseModel) else value)


def call(name, /, **arguments):
    """A call of a tool as the model writes it."""
    return f'<tool_call>\n{{"name": "{name}", "arguments": {json.dumps(arguments)}}}\n</tool_call>'


def run(tests):
    """Runs the functions of a script that begin with test_, and exits with 1 if one failed."""
    failed = 0
    loop = asyncio.Runner()  # one for all: clients that are left open would close theirs in another
    for name, test in list(tests.items()):
        if not name.startswith("test_"):
            continue
        try:
            result = test()
            if inspect.isawaitable(result):
                loop.run(result)
            print("ok", name)
        except BaseException:
            failed += 1
            print("FAILED", name)
            traceback.print_exc(file=sys.stdout)
    if refused:
        print("connections refused:", ", ".join(sorted(refused)))
    sys.stdout.flush()
    os._exit(failed > 0)  # without waiting for threads of telemetry
