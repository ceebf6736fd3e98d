"""OpenAI's Agents SDK with chat completions and Responses: structured output, tools, handoffs, sessions, streams."""

from shared import ANN, GREETING, OBEDIENT, RANDOM, Bounded, Person, call, document, run, says

from agents import Agent, ModelSettings, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, SQLiteSession, function_tool, set_tracing_disabled
from openai import AsyncOpenAI

set_tracing_disabled(True)


def models(url):
    client = AsyncOpenAI(base_url=url + "/v1", api_key="none", max_retries=0)
    yield OpenAIChatCompletionsModel(model="tiny", openai_client=client)
    yield OpenAIResponsesModel(model="tiny", openai_client=client)


@function_tool
def weather(city: str) -> str:
    """The weather in a city."""
    return f"rain in {city}"


async def test_structured():
    for model in models(OBEDIENT):
        assert (await Runner.run(Agent(name="a", model=model), "Hello")).final_output == GREETING
        assert (await Runner.run(Agent(name="a", model=model, output_type=Person), says(document()))).final_output == ANN
    for model in models(RANDOM):
        assert isinstance((await Runner.run(Agent(name="a", model=model, output_type=Bounded), "A person.")).final_output, Bounded)


async def test_tools():
    for model in models(OBEDIENT):
        agent = Agent(name="a", model=model, tools=[weather], output_type=Person)
        got = await Runner.run(agent, says(call("weather", city="Oslo"), document()))
        assert got.final_output == ANN
        assert "rain in Oslo" in [item.output for item in got.new_items if item.type == "tool_call_output_item"]
        forced = Agent(name="a", model=model, tools=[weather], model_settings=ModelSettings(tool_choice="weather", verbosity="medium"))
        assert (await Runner.run(forced, says(call("weather", city="Oslo"), "It rains."))).final_output == "It rains."


async def test_handoff():
    for model in models(OBEDIENT):
        other = Agent(name="Other", model=model)
        got = await Runner.run(Agent(name="First", model=model, handoffs=[other]), says(call("transfer_to_other"), "Here."))
        assert got.final_output == "Here." and got.last_agent is other


async def test_session():
    for model in models(OBEDIENT):
        session, agent = SQLiteSession("s"), Agent(name="a", model=model, tools=[weather])
        await Runner.run(agent, says(call("weather", city="Oslo"), "one", "two"), session=session)
        assert (await Runner.run(agent, "And now?", session=session)).final_output == "two"
    got = await Runner.run(agent, says("one", "two"))
    assert (await Runner.run(agent, "And now?", previous_response_id=got.last_response_id)).final_output == "two"


async def test_stream():
    for model in models(OBEDIENT):
        got = Runner.run_streamed(Agent(name="a", model=model, tools=[weather]), says(call("weather", city="Oslo"), GREETING))
        text = ""
        async for event in got.stream_events():
            if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
                text += event.data.delta
        assert text == GREETING and got.final_output == GREETING, text


run(globals())
