"""LangChain with its three providers: structured output, tools, streams, agents."""

from shared import ANN, GREETING, OBEDIENT, RANDOM, Bounded, Person, call, document, run, says

from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_core.exceptions import ContextOverflowError
from langchain_core.tools import tool
from langchain_ollama import ChatOllama
from langchain_openai import ChatOpenAI


@tool
def weather(city: str) -> str:
    """The weather in a city."""
    return f"rain in {city}"


def models(url, **more):
    yield ChatOpenAI(model="tiny", base_url=url + "/v1", max_retries=0, **more)
    yield ChatOpenAI(model="tiny", base_url=url + "/v1", max_retries=0, use_responses_api=True, **more)
    yield ChatAnthropic(model="tiny", base_url=url, max_retries=0, max_tokens=300)
    yield ChatOllama(model="tiny", base_url=url)


def test_text_and_stream():
    for model in models(OBEDIENT):
        assert model.invoke("Hello").text == GREETING, model
        assert "".join(chunk.text for chunk in model.stream("Hello")) == GREETING, model


def test_structured():
    for model in models(OBEDIENT):
        assert model.with_structured_output(Person, method="json_schema").invoke(says(document())) == ANN, model
        assert model.with_structured_output(Person, method="function_calling").invoke(says(call("Person", name="ann", age=5))) == ANN, model


def test_bounds():
    """Anthropic's client leaves bounds out of what it sends, so it is not among these."""
    for model in models(RANDOM):
        if not isinstance(model, ChatAnthropic):
            assert isinstance(model.with_structured_output(Bounded, method="json_schema").invoke("A person."), Bounded), model


def test_json_mode():
    for model in models(OBEDIENT):
        if not isinstance(model, ChatAnthropic):  # it has no such mode
            assert model.with_structured_output(Person, method="json_mode").invoke(says(document(), ask="JSON please.")) == ANN, model


def test_tools():
    for model in models(OBEDIENT):
        got = model.bind_tools([weather]).invoke(says(call("weather", city="Oslo")))
        assert [(one["name"], one["args"]) for one in got.tool_calls] == [("weather", {"city": "Oslo"})], got
        whole = None
        for chunk in model.bind_tools([weather]).stream(says(call("weather", city="Oslo"))):
            whole = chunk if whole is None else whole + chunk
        assert [(one["name"], one["args"]) for one in whole.tool_calls] == [("weather", {"city": "Oslo"})], whole
        forced = model.bind_tools([weather], tool_choice="weather").invoke(says(call("weather", city="Bergen")))
        if not isinstance(model, ChatOllama):  # Ollama's API has no choice of tools, and LangChain leaves it out
            assert forced.tool_calls[0]["args"] == {"city": "Bergen"}, forced


def test_agent():
    for model in models(OBEDIENT):
        agent = create_agent(model, [weather])
        got = agent.invoke({"messages": [{"role": "user", "content": says(call("weather", city="Oslo"), "It rains.")}]})
        assert [one.type for one in got["messages"]] == ["human", "ai", "tool", "ai"], got
        assert got["messages"][2].content == "rain in Oslo" and got["messages"][3].text == "It rains.", got


def test_agent_structured():
    for model in models(OBEDIENT):
        agent = create_agent(model, [weather], response_format=Person)
        steps = says(call("weather", city="Oslo"), call("Person", name="ann", age=5))
        assert agent.invoke({"messages": [{"role": "user", "content": steps}]})["structured_response"] == ANN, model


def test_overflow():
    for model in models(RANDOM):
        if isinstance(model, ChatOllama):  # Ollama cuts a prompt; LangChain has no such error for it
            continue
        try:
            model.invoke("word " * 5000)
        except ContextOverflowError as error:
            assert "4096 tokens" in str(error), error
        else:
            raise AssertionError("no error")


run(globals())
