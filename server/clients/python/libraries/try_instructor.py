"""Instructor: its modes with OpenAI's, Anthropic's and Ollama's clients, retries, streams of parts and of items."""

from shared import ANN, OBEDIENT, RANDOM, Bounded, Person, call, document, run, says

from collections.abc import Iterable

import anthropic
import instructor
import openai


def gpt(mode, url=OBEDIENT):
    return instructor.from_openai(openai.OpenAI(base_url=url + "/v1", api_key="none", max_retries=0), mode=mode)


def claude(mode):
    return instructor.from_anthropic(anthropic.Anthropic(base_url=OBEDIENT, api_key="none", max_retries=0), mode=mode)


def ask(text):
    return {"model": "tiny", "messages": [{"role": "user", "content": text}]}


def same(got):
    """Instructor returns a class of its own, derived from Person."""
    assert isinstance(got, Person) and got.model_dump() == ANN.model_dump(), repr(got)


TOOL = call("Person", name="ann", age=5)
MODES = {
    instructor.Mode.TOOLS: TOOL,
    instructor.Mode.TOOLS_STRICT: TOOL,
    instructor.Mode.JSON: document(),
    instructor.Mode.JSON_SCHEMA: document(),
    instructor.Mode.MD_JSON: f"```json\n{document()}\n```",
}


def test_modes():
    for mode, told in MODES.items():
        same(gpt(mode).chat.completions.create(response_model=Person, **ask(says(told))))


def test_bounds():
    for mode in (instructor.Mode.TOOLS, instructor.Mode.JSON_SCHEMA):
        got = gpt(mode, RANDOM).chat.completions.create(response_model=Bounded, max_retries=0, **ask("A person."))
        assert isinstance(got, Bounded), mode


def test_anthropic():
    for mode, told in ((instructor.Mode.ANTHROPIC_TOOLS, TOOL), (instructor.Mode.ANTHROPIC_JSON, document())):
        same(claude(mode).chat.completions.create(response_model=Person, max_tokens=200, **ask(says(told))))


def test_ollama():
    client = instructor.from_provider("ollama/tiny", base_url=OBEDIENT + "/v1")
    told = document() if client.mode in (instructor.Mode.JSON, instructor.Mode.JSON_SCHEMA) else TOOL
    same(client.chat.completions.create(response_model=Person, messages=ask(says(told))["messages"]))


def test_retry():
    """A document that Pydantic refuses is asked for again, with what was wrong."""
    from pydantic import field_validator

    class Adult(Person):
        @field_validator("age")
        @classmethod
        def grown(cls, age):
            assert age > 17, "too young"
            return age

    told = says(document(), document({"name": "ann", "age": 50}))
    assert gpt(instructor.Mode.JSON_SCHEMA).chat.completions.create(response_model=Adult, max_retries=2, **ask(told)).age == 50


def test_streams():
    told = says(call("PartialPerson", name="ann", age=5))
    parts = list(gpt(instructor.Mode.TOOLS).chat.completions.create_partial(response_model=Person, **ask(told)))
    same(parts[-1])
    people = call("IterablePerson", tasks=[{"name": "ann", "age": 5}, {"name": "bo", "age": 6}])
    got = list(gpt(instructor.Mode.TOOLS).chat.completions.create_iterable(response_model=Person, **ask(says(people))))
    assert [one.name for one in got] == ["ann", "bo"], got
    got = gpt(instructor.Mode.TOOLS).chat.completions.create(response_model=Iterable[Person], **ask(says(people)))
    assert [one.name for one in got] == ["ann", "bo"]


run(globals())
