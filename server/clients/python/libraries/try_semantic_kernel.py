"""Semantic Kernel: chat completion with a response format, functions that are called by themselves, an agent, streams."""

from shared import ANN, GREETING, OBEDIENT, RANDOM, Bounded, Person, call, document, run, says

from openai import AsyncOpenAI
from semantic_kernel import Kernel
from semantic_kernel.agents import ChatCompletionAgent
from semantic_kernel.connectors.ai import FunctionChoiceBehavior
from semantic_kernel.connectors.ai.open_ai import OpenAIChatCompletion, OpenAIChatPromptExecutionSettings
from semantic_kernel.contents import ChatHistory
from semantic_kernel.functions import KernelArguments, kernel_function

seen = []


class Weather:
    @kernel_function(description="The weather in a city.")
    def now(self, city: str) -> str:
        seen.append(city)
        return f"rain in {city}"


def service(url=OBEDIENT):
    return OpenAIChatCompletion(ai_model_id="tiny", async_client=AsyncOpenAI(base_url=url + "/v1", api_key="none", max_retries=0))


def history(text):
    got = ChatHistory()
    got.add_user_message(text)
    return got


async def test_structured():
    for url, ask, kind in ((OBEDIENT, says(document()), Person), (RANDOM, "A person.", Bounded)):
        got = await service(url).get_chat_message_content(history(ask), OpenAIChatPromptExecutionSettings(response_format=kind))
        person = kind.model_validate_json(got.content)
        assert kind is Bounded or person == ANN, got


async def test_stream():
    parts = [str(part) async for part in service().get_streaming_chat_message_content(history("Hello"), OpenAIChatPromptExecutionSettings())]
    assert "".join(parts) == GREETING, parts


async def test_functions():
    kernel, settings = Kernel(), OpenAIChatPromptExecutionSettings(function_choice_behavior=FunctionChoiceBehavior.Auto())
    kernel.add_plugin(Weather(), "weather")
    seen.clear()
    ask = says(call("weather-now", city="Oslo"), call("weather-now", city="Bergen"), "Rain.")
    got = await service().get_chat_message_content(history(ask), settings, kernel=kernel)
    assert got.content == "Rain." and seen == ["Oslo", "Bergen"], (got, seen)


async def test_agent():
    seen.clear()
    agent = ChatCompletionAgent(
        service=service(), name="a", plugins=[Weather()],
        arguments=KernelArguments(OpenAIChatPromptExecutionSettings(response_format=Person)))
    got = await agent.get_response(messages=says(call("Weather-now", city="Oslo"), document()))
    assert Person.model_validate_json(got.content.content) == ANN and seen == ["Oslo"], (got, seen)


run(globals())
