"""Magentic: functions whose results are types, functions that are called, prompt chains, streams."""

from shared import ANN, GREETING, OBEDIENT, RANDOM, Bounded, Person, call, document, run, says

from magentic import AsyncStreamedStr, FunctionCall, OpenaiChatModel, StreamedStr, prompt, prompt_chain


def model(url=OBEDIENT):
    return OpenaiChatModel("tiny", base_url=url + "/v1", api_key="none")


def weather(city: str) -> str:
    """The weather in a city."""
    return f"rain in {city}"


def test_text():
    @prompt("{ask}", model=model())
    def answer(ask: str) -> str: ...

    assert answer("Hello") == GREETING


def test_structured():
    @prompt("{ask}", model=model())
    def person(ask: str) -> Person: ...

    @prompt("{ask}", model=model(RANDOM))
    def bounded(ask: str) -> Bounded: ...

    @prompt("{ask}", model=model(RANDOM))
    def number(ask: str) -> list[bool]: ...

    assert person(says(call("return_person", name="ann", age=5))) == ANN
    assert isinstance(bounded("A person."), Bounded)
    assert all(isinstance(one, bool) for one in number("Some."))


def test_functions():
    @prompt("{ask}", functions=[weather], model=model())
    def which(ask: str) -> FunctionCall[str]: ...

    @prompt_chain("{ask}", functions=[weather], model=model())
    def chain(ask: str) -> str: ...

    assert which(says(call("weather", city="Oslo")))() == "rain in Oslo"
    assert chain(says(call("weather", city="Oslo"), "It rains.")) == "It rains."


def test_stream():
    @prompt("{ask}", model=model())
    def answer(ask: str) -> StreamedStr: ...

    assert "".join(answer("Hello")) == GREETING


async def test_async_stream():
    @prompt("{ask}", model=model())
    async def answer(ask: str) -> AsyncStreamedStr: ...

    assert "".join([part async for part in await answer("Hello")]) == GREETING


run(globals())
