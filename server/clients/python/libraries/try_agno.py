"""Agno: chat completions and Responses, Anthropic's and Ollama's API: output schemas, JSON mode, tools, streams."""

from shared import ANN, GREETING, OBEDIENT, RANDOM, Bounded, Person, call, document, run, says

from agno.agent import Agent
from agno.models.anthropic import Claude
from agno.models.ollama import Ollama
from agno.models.openai import OpenAIResponses
from agno.models.openai.like import OpenAILike


def models(url):
    yield OpenAILike(id="tiny", base_url=url + "/v1", api_key="none", max_retries=0)
    yield OpenAIResponses(id="tiny", base_url=url + "/v1", api_key="none", max_retries=0)
    yield Ollama(id="tiny", host=url)
    yield Claude(id="tiny", api_key="none", client_params={"base_url": url})


def agent(model, **more):
    return Agent(model=model, telemetry=False, **more)


def weather(city: str) -> str:
    """The weather in a city.

    Args:
        city: The city.
    """
    return f"rain in {city}"


def test_text_and_stream():
    for model in models(OBEDIENT):
        assert agent(model).run("Hello").content == GREETING, model
        text = "".join(e.content or "" for e in agent(model).run("Hello", stream=True) if e.event == "RunContent")
        assert text == GREETING, (model, text)


def test_structured():
    for model in models(OBEDIENT):
        assert agent(model, output_schema=Person).run(says(document())).content == ANN, model
        assert agent(model, output_schema=Person, use_json_mode=True).run(says(document())).content == ANN, model
    for model in list(models(RANDOM))[:3]:
        assert isinstance(agent(model, output_schema=Bounded).run("A person.").content, Bounded), model


def test_tools():
    for model in models(OBEDIENT):
        got = agent(model, tools=[weather]).run(says(call("weather", city="Oslo"), call("weather", city="Bergen"), "Rain."))
        assert [one.result for one in got.tools] == ["rain in Oslo", "rain in Bergen"], (model, got.tools)
        assert got.content == "Rain.", (model, got.content)


def test_tools_and_structure():
    for model in models(OBEDIENT):
        got = agent(model, tools=[weather], output_schema=Person).run(says(call("weather", city="Oslo"), document()))
        assert [one.result for one in got.tools] == ["rain in Oslo"] and got.content == ANN, (model, got.content)


run(globals())
