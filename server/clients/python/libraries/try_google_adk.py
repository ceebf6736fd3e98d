"""Google's ADK through LiteLLM: an agent's output schema, tools, streams."""

from shared import ANN, GREETING, OBEDIENT, RANDOM, Bounded, Person, call, document, run, says

from google.adk.agents import LlmAgent, RunConfig
from google.adk.agents.run_config import StreamingMode
from google.adk.models.lite_llm import LiteLlm
from google.adk.runners import InMemoryRunner
from google.genai import types


def model(url=OBEDIENT):
    return LiteLlm(model="openai/tiny", api_base=url + "/v1", api_key="none", num_retries=0)


def weather(city: str) -> dict:
    """The weather in a city."""
    return {"weather": f"rain in {city}"}


async def events(agent, text, **more):
    runner = InMemoryRunner(agent=agent, app_name="app")
    session = await runner.session_service.create_session(app_name="app", user_id="u")
    content = types.Content(role="user", parts=[types.Part(text=text)])
    return [one async for one in runner.run_async(user_id="u", session_id=session.id, new_message=content, **more)]


def text(event):
    return "".join(part.text or "" for part in event.content.parts)


async def test_structured():
    got = await events(LlmAgent(name="a", model=model(), output_schema=Person), says(document()))
    assert Person.model_validate_json(text(got[-1])) == ANN, got
    got = await events(LlmAgent(name="a", model=model(RANDOM), output_schema=Bounded), "A person.")
    Bounded.model_validate_json(text(got[-1]))


async def test_tools():
    agent = LlmAgent(name="a", model=model(), tools=[weather])
    got = await events(agent, says(call("weather", city="Oslo"), call("weather", city="Bergen"), "Rain."))
    assert [r.response for e in got for r in e.get_function_responses()] == [{"weather": "rain in Oslo"}, {"weather": "rain in Bergen"}], got
    assert text(got[-1]) == "Rain.", got


async def test_stream():
    got = await events(LlmAgent(name="a", model=model()), "Hello", run_config=RunConfig(streaming_mode=StreamingMode.SSE))
    assert "".join(text(one) for one in got if one.partial) == GREETING, got
    assert text(got[-1]) == GREETING, got


run(globals())
