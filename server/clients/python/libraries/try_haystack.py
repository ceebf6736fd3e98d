"""Haystack: OpenAIChatGenerator with a schema and with tools, streams, an agent, a pipeline."""

from shared import ANN, GREETING, OBEDIENT, RANDOM, Bounded, Person, call, document, run, says

from haystack import Pipeline
from haystack.components.agents import Agent
from haystack.components.builders import ChatPromptBuilder
from haystack.components.generators.chat import OpenAIChatGenerator, OpenAIResponsesChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.tools import tool
from haystack.utils import Secret


@tool
def weather(city: str) -> str:
    """The weather in a city."""
    return f"rain in {city}"


def generators(url=OBEDIENT, **more):
    for kind in (OpenAIChatGenerator, OpenAIResponsesChatGenerator):
        yield kind(model="tiny", api_base_url=url + "/v1", api_key=Secret.from_token("none"), max_retries=0, **more)


def replies(generator, text, **more):
    return generator.run([ChatMessage.from_user(text)], **more)["replies"]


def test_structured():
    for url, ask, kind in ((OBEDIENT, says(document()), Person), (RANDOM, "A person.", Bounded)):
        chat = list(generators(url, generation_kwargs={"response_format": kind}))[0]
        responses = list(generators(url, generation_kwargs={"text_format": kind}))[1]
        for generator in (chat, responses):
            got = kind.model_validate_json(replies(generator, ask)[0].text)
            assert kind is Bounded or got == ANN, got


def test_stream():
    for generator in generators():
        parts = []
        got = replies(generator, "Hello", streaming_callback=lambda chunk: parts.append(chunk.content or ""))
        assert got[0].text == "".join(parts) == GREETING, parts


def test_tools():
    for generator in generators():
        got = replies(generator, says(call("weather", city="Oslo")), tools=[weather])[0]
        assert [(one.tool_name, one.arguments) for one in got.tool_calls] == [("weather", {"city": "Oslo"})], got


def test_agent():
    for generator in generators():
        agent = Agent(chat_generator=generator, tools=[weather])
        got = agent.run(messages=[ChatMessage.from_user(says(call("weather", city="Oslo"), "It rains."))])
        assert got["last_message"].text == "It rains.", got
        assert "rain in Oslo" in str(got["messages"]), got


def test_pipeline():
    pipeline = Pipeline()
    pipeline.add_component("prompt", ChatPromptBuilder(template=[ChatMessage.from_user("{{ ask }}")], required_variables=["ask"]))
    pipeline.add_component("model", next(generators()))
    pipeline.connect("prompt", "model")
    assert pipeline.run({"prompt": {"ask": says("yes")}})["model"]["replies"][0].text == "yes"


run(globals())
