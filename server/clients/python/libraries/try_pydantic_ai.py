"""Pydantic AI: the four ways of output, tools, streams, logprobs; chat completions, Responses and Anthropic's API."""

from shared import ANN, GREETING, OBEDIENT, RANDOM, Bounded, Person, call, document, run, says

from pydantic_ai import Agent, NativeOutput, PromptedOutput, TextOutput, ToolOutput
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIChatModelSettings, OpenAIResponsesModel
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider


def models(url):
    provider = OpenAIProvider(base_url=url + "/v1", api_key="none")
    yield OpenAIChatModel("tiny", provider=provider)
    yield OpenAIResponsesModel("tiny", provider=provider)
    yield AnthropicModel("tiny", provider=AnthropicProvider(base_url=url, api_key="none"), profile=ModelProfile(supports_json_schema_output=True))


def shout(text: str) -> str:
    return text.upper()


def test_text():
    for model in models(OBEDIENT):
        assert Agent(model).run_sync("Hello").output == GREETING
        assert Agent(model, output_type=TextOutput(shout)).run_sync("Hello").output == GREETING.upper()


def test_outputs():
    for model in models(OBEDIENT):
        for kind, told in (
            (Person, call("final_result", name="ann", age=5)),
            (ToolOutput(Person, name="person"), call("person", name="ann", age=5)),
            (NativeOutput(Person), document()),
            (PromptedOutput(Person), document()),
        ):
            assert Agent(model, output_type=kind).run_sync(says(told)).output == ANN, (model, kind)


def test_bounds():
    for model in list(models(RANDOM))[:2]:
        for kind in (Bounded, NativeOutput(Bounded)):
            assert isinstance(Agent(model, output_type=kind).run_sync("A person.").output, Bounded), (model, kind)


def test_tools():
    for model in models(OBEDIENT):
        agent, seen = Agent(model, output_type=NativeOutput(Person)), []

        @agent.tool_plain
        def weather(city: str) -> str:
            """The weather in a city."""
            seen.append(city)
            return "rain"

        assert agent.run_sync(says(call("weather", city="Oslo"), call("weather", city="Bergen"), document())).output == ANN
        assert seen == ["Oslo", "Bergen"], seen


async def test_stream():
    for model in models(OBEDIENT):
        async with Agent(model).run_stream("Hello") as got:
            assert "".join([part async for part in got.stream_text(delta=True)]) == GREETING
        async with Agent(model, output_type=NativeOutput(Person)).run_stream(says(document())) as got:
            parts = [part async for part in got.stream_output(debounce_by=None)]
            assert parts[-1] == ANN, parts


def test_logprobs():
    model = next(models(OBEDIENT))
    got = Agent(model, model_settings=OpenAIChatModelSettings(openai_logprobs=True)).run_sync("Hello")
    assert len(got.all_messages()[-1].provider_details["logprobs"]) > 0


run(globals())
