"""Mirascope: calls with a format in its modes, tools, streams; chat completions and Anthropic's API."""

from shared import ANN, GREETING, OBEDIENT, RANDOM, Bounded, Person, call, document, run, says

from mirascope import llm

llm.register_provider("openai:completions", scope="openai/", base_url=OBEDIENT + "/v1", api_key="none")
llm.register_provider("anthropic", scope="anthropic/", base_url=OBEDIENT, api_key="none")
MODELS = ("openai/tiny:completions", "anthropic/tiny")


@llm.tool
def weather(city: str) -> str:
    """The weather in a city."""
    return f"rain in {city}"


def test_text_and_stream():
    for name in MODELS:
        model = llm.Model(name)
        assert model.call("Hello").text() == GREETING, name
        text = "".join(model.stream("Hello").text_stream())
        assert text.removesuffix("\n") == GREETING, (name, text)  # Mirascope ends each part with a line's end


def test_formats():
    for name in MODELS:
        for mode, told in (("strict", document()), ("tool", call("__mirascope_formatted_output_tool__", name="ann", age=5)), ("json", document())):
            if mode == "strict" and name.startswith("anthropic"):
                continue  # Mirascope knows by name which of Anthropic's models have it
            got = llm.Model(name).call(says(told), format=llm.format(Person, mode=mode)).parse()
            assert got == ANN, (name, mode, got)


def test_bounds():
    llm.register_provider("openai:completions", scope="openai/", base_url=RANDOM + "/v1", api_key="none")
    try:
        for mode in ("strict", "tool"):
            got = llm.Model(MODELS[0]).call("A person.", format=llm.format(Bounded, mode=mode)).parse()
            assert isinstance(got, Bounded), got
    finally:
        llm.register_provider("openai:completions", scope="openai/", base_url=OBEDIENT + "/v1", api_key="none")


def test_tools():
    for name in MODELS:
        got = llm.Model(name).call(says(call("weather", city="Oslo"), "It rains."), tools=[weather])
        assert [one.name for one in got.tool_calls] == ["weather"], (name, got)
        got = got.resume(got.execute_tools())
        assert got.text() == "It rains.", (name, got)


run(globals())
