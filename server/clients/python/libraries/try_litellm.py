"""LiteLLM: its routes to such a server, each with a schema, tools and a stream; errors."""

import os

from shared import ANN, GREETING, OBEDIENT, RANDOM, Bounded, Person, call, document, run, says

import litellm

litellm.suppress_debug_info = True

ROUTES = {  # by prefix: the base's path
    "openai": "/v1", "hosted_vllm": "/v1", "lm_studio": "/v1", "llamafile": "/v1", "anthropic": "", "ollama_chat": "",
    "openai/responses": "/v1",
}
TOOLS = [{"type": "function", "function": {
    "name": "weather", "description": "The weather in a city.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}]


def ask(route, text, url=OBEDIENT, **more):
    return litellm.completion(
        model=route + "/tiny", api_base=url + ROUTES[route], api_key="none", max_tokens=300, num_retries=0,
        messages=[{"role": "user", "content": text}], **more)


def test_text_and_stream():
    for route in ROUTES:
        assert ask(route, "Hello").choices[0].message.content == GREETING, route
        parts = [chunk.choices[0].delta.content or "" for chunk in ask(route, "Hello", stream=True) if chunk.choices]
        assert "".join(parts) == GREETING, (route, parts)


def test_structured():
    for route in ROUTES:
        if route == "anthropic":  # a tool is what LiteLLM makes of a schema for a model whose name it doesn't know
            told = call("json_tool_call", name="ann", age=5)
        else:
            told = document()
        got = ask(route, says(told), response_format=Person).choices[0].message.content
        assert Person.model_validate_json(got) == ANN, (route, got)
        Bounded.model_validate_json(ask(route, "A person.", RANDOM, response_format=Bounded).choices[0].message.content)


def test_tools():
    for route in ROUTES:
        got = ask(route, says(call("weather", city="Oslo")), tools=TOOLS).choices[0]
        assert [one.function.arguments for one in got.message.tool_calls] in (['{"city": "Oslo"}'], ['{"city":"Oslo"}']), (route, got)
        assert got.finish_reason == "tool_calls", (route, got)


def test_overflow():
    for route in ("openai", "hosted_vllm", "anthropic"):
        try:
            ask(route, "word " * 5000, RANDOM)
        except litellm.ContextWindowExceededError as error:
            assert "4096 tokens" in str(error), error
        else:
            raise AssertionError("no error")


def test_embeddings():
    for route in ("openai", "hosted_vllm", "lm_studio"):
        got = litellm.embedding(model=route + "/tiny", input=["one", "two"], api_base=os.environ["STENCIL_VECTORS"] + "/v1", api_key="none", num_retries=0)
        assert [len(one["embedding"]) for one in got.data] == [8, 8], (route, got)


def test_completion():
    got = litellm.text_completion(model="text-completion-openai/tiny", prompt="<<ok then>>", api_base=OBEDIENT + "/v1", api_key="none", max_tokens=20, num_retries=0)
    assert got.choices[0].text == "ok then", got


async def test_async():
    got = await litellm.acompletion(
        model="openai/tiny", api_base=OBEDIENT + "/v1", api_key="none", messages=[{"role": "user", "content": says(document())}], response_format=Person)
    assert Person.model_validate_json(got.choices[0].message.content) == ANN


run(globals())
