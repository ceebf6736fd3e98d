"""AutoGen: its OpenAI client with structured output and streams, an assistant with tools, a team."""

from shared import ANN, GREETING, OBEDIENT, RANDOM, Bounded, Person, call, document, run, says

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.conditions import MaxMessageTermination
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_core.models import ModelInfo, UserMessage
from autogen_core.tools import FunctionTool
from autogen_ext.models.openai import OpenAIChatCompletionClient

INFO = ModelInfo(vision=False, function_calling=True, json_output=True, structured_output=True, family="unknown")


def client(url=OBEDIENT):
    return OpenAIChatCompletionClient(model="tiny", base_url=url + "/v1", api_key="none", model_info=INFO, max_retries=0)


def user(text):
    return [UserMessage(content=text, source="user")]


async def weather(city: str) -> str:
    """The weather in a city."""
    return f"rain in {city}"


# With a response format, openai's parse takes strict tools alone.
STRICT = FunctionTool(weather, description="The weather in a city.", strict=True)


async def test_structured():
    got = await client().create(user(says(document())), json_output=Person)
    assert Person.model_validate_json(got.content) == ANN, got
    got = await client(RANDOM).create(user("A person."), json_output=Bounded)
    Bounded.model_validate_json(got.content)
    got = await client().create(user(says(document())), json_output=True)
    assert Person.model_validate_json(got.content) == ANN, got


async def test_stream():
    parts = [part async for part in client().create_stream(user("Hello"))]
    assert "".join(parts[:-1]) == GREETING and parts[-1].content == GREETING, parts


async def test_agent():
    agent = AssistantAgent("a", client(), tools=[STRICT], output_content_type=Person, reflect_on_tool_use=True)
    got = await agent.run(task=says(call("weather", city="Oslo"), document()))
    assert got.messages[-1].content == ANN, got
    assert "rain in Oslo" in str([m for m in got.messages if m.type == "ToolCallExecutionEvent"]), got


async def test_agent_loop():
    agent = AssistantAgent("a", client(), tools=[weather], max_tool_iterations=3, model_client_stream=True)
    steps = says(call("weather", city="Oslo"), call("weather", city="Bergen"), "Rain everywhere.")
    got = [one async for one in agent.run_stream(task=steps)]
    assert got[-1].messages[-1].content == "Rain everywhere.", got[-1]
    assert "rain in Bergen" in str(got[-1].messages)


async def test_team():
    team = RoundRobinGroupChat([AssistantAgent("a", client()), AssistantAgent("b", client())], termination_condition=MaxMessageTermination(3))
    got = await team.run(task="Hello")
    assert [(m.source, m.content) for m in got.messages[1:]] == [("a", GREETING), ("b", GREETING)], got


run(globals())
