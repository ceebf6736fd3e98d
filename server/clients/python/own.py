"""The client in clients/python against the server, whose address is in the environment."""

import asyncio
import inspect
import os
import sys
import traceback
from enum import Enum

from pydantic import BaseModel, Field

import stencil_client
from stencil_client import AsyncClient, Client, StencilError

RANDOM = os.environ["STENCIL_RANDOM"]


class Plan(str, Enum):
    free = "free"
    pro = "pro"


class Person(BaseModel):
    name: str = Field(pattern="^[a-z]*$", max_length=8)
    age: int = Field(ge=1, le=120)
    plan: Plan


def test_model():
    with Client(RANDOM) as client:
        for seed in range(5):
            answer = client.generate_json(Person, "x", seed=seed, max_tokens=60)
            assert isinstance(answer.value, Person), answer
            assert answer.receipt.validated and answer.receipt.type == "schema" and "pattern" in answer.receipt.enforced
            assert set(answer.fields["/plan"].alternatives) == {"free", "pro"}, answer.fields
            assert answer.seed == seed and answer.usage.completion_tokens > 0


def test_types():
    with Client(RANDOM) as client:
        got = client.generate_json(list[bool], [{"role": "user", "content": "x"}], max_tokens=20, seed=1)
        assert all(isinstance(one, bool) for one in got.value)
        got = client.generate_json({"const": {"z": 1, "a": 2}}, "x", whitespace="compact")
        assert got.text == '{"z":1,"a":2}' and got.value == {"z": 1, "a": 2}
        assert client.generate_json(None, "x", max_tokens=20).receipt.type == "json"


def test_text():
    with Client(RANDOM) as client:
        got = client.generate("x", choice=["yes", "no"])
        assert got.value in ("yes", "no") and got.receipt.type == "choice"
        free = client.generate("x", max_tokens=5)
        assert free.receipt is None and free.warnings == []
        assert "was temperature meant" in client.generate("x", max_tokens=5, temprature=0).warnings[0]


def test_stream():
    with Client(RANDOM) as client:
        text, pointers, answer = "", [], None
        for event in client.stream_json(Person, "x", seed=3, max_tokens=60):
            text += event.token or ""
            if event.pointer is not None:
                pointers.append(event.pointer)
            answer = event.answer or answer
        assert pointers == ["/name", "/age", "/plan", ""], pointers
        assert text == answer.text and isinstance(answer.value, Person)
        try:
            list(client.stream_json(Person, "x", max_tokens=1))
        except StencilError as error:
            assert error.code == "budget_too_small" and error.minimum > 1
        else:
            raise AssertionError("no error")


def test_errors():
    with Client(RANDOM) as client:
        try:
            client.generate_json({"type": "string", "maxLenght": 3}, "x")
        except StencilError as error:
            assert error.status == 400 and error.code == "invalid_schema" and error.details[0].pointer == "/maxLenght", error
        else:
            raise AssertionError("no error")
        assert not client.check({"type": "string", "maxLenght": 3}).ok or client.check({"type": "string", "maxLenght": 3}).warnings
        assert client.check(Person).ok
        assert client.validate(Person, '{"name": "a", "age": 5, "plan": "pro"}').valid
        assert client.validate(Person, '{"name": "a", "age": 0, "plan": "pro"}').errors[0].pointer == "/age"
        probabilities = client.decide("I was charged twice.", "Which team?", ["billing", "shipping"])
        assert set(probabilities) == {"billing", "shipping"} and abs(sum(probabilities.values()) - 1) < 1e-3


def test_async():
    async def run():
        async with AsyncClient(RANDOM) as client:
            answers = await asyncio.gather(*(client.generate_json(Person, "x", seed=seed, max_tokens=60) for seed in range(4)))
            assert all(isinstance(answer.value, Person) for answer in answers)
            pointers = [event.pointer async for event in client.stream_json(Person, "x", seed=3, max_tokens=60) if event.pointer is not None]
            assert pointers == ["/name", "/age", "/plan", ""], pointers
            assert (await client.generate("x", choice=["yes", "no"])).value in ("yes", "no")
            assert (await client.check(Person)).ok
            assert not (await client.validate(Person, "{")).valid
            assert set(await client.decide("x", "Which?", ["a", "b"])) == {"a", "b"}
    asyncio.run(run())


def test_documented():
    """Every public name has a doc string, and the two clients have the same methods."""
    def public(kind):
        return {name for name, member in vars(kind).items() if inspect.isfunction(member) and not name.startswith("_")}
    for name in stencil_client.__all__:
        kind = getattr(stencil_client, name)
        assert kind.__doc__, name
        for method in public(kind):
            assert getattr(kind, method).__doc__, f"{name}.{method}"
    assert public(Client) == public(AsyncClient)


failed = 0
for name, test in list(globals().items()):
    if name.startswith("test_"):
        try:
            test()
        except Exception:
            failed += 1
            print(f"--- {name}", file=sys.stderr)
            traceback.print_exc()
sys.exit(failed > 0)
