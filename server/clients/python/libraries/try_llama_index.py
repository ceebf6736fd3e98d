"""LlamaIndex: OpenAILike with structured output, tools, streams, and its agents."""

from shared import ANN, GREETING, OBEDIENT, RANDOM, Bounded, Person, call, document, run, says

from llama_index.core.agent.workflow import FunctionAgent, ReActAgent
from llama_index.core.llms import ChatMessage
from llama_index.core.prompts import PromptTemplate
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai_like import OpenAILike


def llm(url=OBEDIENT, structured=True):
    return OpenAILike(
        model="tiny", api_base=url + "/v1", api_key="none", is_chat_model=True, is_function_calling_model=True,
        should_use_structured_outputs=structured, max_retries=0, context_window=100000, max_tokens=500)


def ask(text):
    return [ChatMessage(role="user", content=text)]


def weather(city: str) -> str:
    """The weather in a city."""
    return f"rain in {city}"


TOOL = FunctionTool.from_defaults(weather)


def test_text_and_stream():
    assert llm().chat(ask("Hello")).message.content == GREETING
    assert "".join(part.delta or "" for part in llm().stream_chat(ask("Hello"))) == GREETING


def test_structured():
    prompt = PromptTemplate("{ask}")
    assert llm().structured_predict(Person, prompt, ask=says(document())) == ANN
    assert llm(structured=False).structured_predict(Person, prompt, ask=says(call("Person", name="ann", age=5))) == ANN
    assert llm().as_structured_llm(Person).chat(ask(says(document()))).raw == ANN
    assert isinstance(llm(RANDOM).structured_predict(Bounded, prompt, ask="A person."), Bounded)


def test_tools():
    got = llm().chat_with_tools([TOOL], user_msg=says(call("weather", city="Oslo")))
    assert [(one.tool_name, one.tool_kwargs) for one in llm().get_tool_calls_from_response(got)] == [("weather", {"city": "Oslo"})]
    got = llm().predict_and_call([TOOL], user_msg=says(call("weather", city="Oslo")))
    assert got.response == "rain in Oslo", got


async def test_function_agent():
    agent = FunctionAgent(tools=[TOOL], llm=llm())
    got = await agent.run(says(call("weather", city="Oslo"), "It rains."))
    assert str(got) == "It rains." and got.tool_calls[0].tool_output.content == "rain in Oslo", got


async def test_react_agent():
    agent = ReActAgent(tools=[TOOL], llm=llm())
    got = await agent.run(says(
        'Thought: I ask.\nAction: weather\nAction Input: {"city": "Oslo"}',
        "Thought: I can answer without using any more tools.\nAnswer: It rains."))
    assert str(got) == "It rains." and got.tool_calls[0].tool_output.content == "rain in Oslo", got


run(globals())
