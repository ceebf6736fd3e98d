"""Official Python clients against the server, whose address is in the environment. Each function that begins with test is one
test. The clients' own types judge the answers."""

import os
import sys
import time
import traceback

import anthropic
import ollama
import openai
from anthropic import beta_tool
from anthropic.types.beta import BetaMemoryTool20250818Command
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.responses import Response
from pydantic import BaseModel, Field, TypeAdapter

HELLO, RANDOM, ANSWERING, THINKER = (os.environ["STENCIL_" + name] for name in ("HELLO", "RANDOM", "ANSWERING", "THINKER"))
GREETING = "hello wörld"
ASK = [{"role": "user", "content": "Make up a person."}]


class Person(BaseModel):
    name: str = Field(pattern="^[a-z]*$", max_length=8)
    age: int = Field(ge=1, le=120)


class Plain(BaseModel):
    """Anthropic's client leaves bounds out of what it sends, and checks them afterwards."""

    name: str
    age: int


def gpt(url):
    return openai.OpenAI(base_url=url + "/v1", api_key="none", max_retries=0)


def claude(url):
    return anthropic.Anthropic(base_url=url, api_key="none", max_retries=0)


def strictly(kind, answer):
    """Validates an answer by the client's own type, as nothing in the client does."""
    kind.model_validate(answer.model_dump(), strict=True)


def test_chat_types():
    got = gpt(HELLO).chat.completions.create(model="tiny", messages=ASK, temperature=0, logprobs=True)
    strictly(ChatCompletion, got)
    assert got.choices[0].message.content == GREETING
    assert all(token.top_logprobs == [] for token in got.choices[0].logprobs.content)
    text = ""
    for chunk in gpt(HELLO).chat.completions.create(model="tiny", messages=ASK, temperature=0, stream=True, logprobs=True):
        strictly(ChatCompletionChunk, chunk)
        text += chunk.choices[0].delta.content or ""
    assert text == GREETING


def test_parse():
    got = gpt(RANDOM).chat.completions.parse(model="tiny", messages=ASK, response_format=Person, max_tokens=200)
    assert isinstance(got.choices[0].message.parsed, Person)
    answer = gpt(RANDOM).responses.parse(model="tiny", input="Make up a person.", text_format=Person, max_output_tokens=200)
    assert isinstance(answer.output_parsed, Person)


def test_responses():
    c = gpt(HELLO)
    first = c.responses.create(model="tiny", input="a", temperature=0)
    strictly(Response, first)
    second = c.responses.create(model="tiny", input="b", temperature=0, previous_response_id=first.id, truncation="auto")
    assert second.output_text == GREETING
    assert c.responses.retrieve(first.id).output_text == GREETING
    assert [item.role for item in c.responses.input_items.list(second.id, order="asc")] == ["user", "assistant", "user"]
    count = c.responses.input_tokens.count(model="tiny", input="b", previous_response_id=first.id)
    assert count.input_tokens == second.usage.input_tokens
    assert second.usage.input_tokens_details.cache_write_tokens == 0
    c.responses.delete(first.id)
    try:
        c.responses.retrieve(first.id)
    except openai.NotFoundError:
        return
    raise AssertionError("a response that was deleted is there")


def test_fields_without_effect():
    c, scores = gpt(HELLO), {"model": "omni-moderation-latest"}
    got = c.chat.completions.create(model="tiny", messages=ASK, temperature=0, extra_body={"moderation": scores, "thinking": {"type": "disabled"}, "guided_decoding_backend": "auto"})
    assert got.choices[0].message.content == GREETING and "moderation" in got.warnings[0]
    compact = [{"type": "compaction", "compact_threshold": 1000}]
    got = c.responses.create(model="tiny", input="a", temperature=0, context_management=compact, extra_body={"moderation": scores})
    assert got.output_text == GREETING
    text = c.completions.create(model="tiny", prompt="a", max_tokens=40, extra_body={"min_tokens": 20, "skip_special_tokens": True})
    assert text.usage.completion_tokens >= 20, text
    try:
        c.responses.compact(model="tiny", input="a")
    except openai.NotFoundError as e:
        assert "not compacted" in str(e)
    else:
        raise AssertionError("a conversation was compacted")
    got = claude(HELLO).beta.messages.create(
        model="tiny", max_tokens=60, messages=ASK, fallbacks=[{"model": "other"}], container="c", mcp_servers=[], output_config={"task_budget": {"type": "tokens", "total": 20000}},
        context_management={"edits": [{"type": "compact_20260112"}]},
    )
    assert got.content[0].text == GREETING and got.context_management.applied_edits == []


def ended(c, response):
    """Asks for a response in the background until it has ended, as OpenAI's guide does."""
    while response.status in ("queued", "in_progress"):
        time.sleep(0.01)
        response = c.responses.retrieve(response.id)
        strictly(Response, response)
    return response


def test_background():
    c = gpt(HELLO)
    begun = c.responses.create(model="tiny", input="a", temperature=0, background=True)
    strictly(Response, begun)
    assert begun.status == "queued" and begun.background
    got = ended(c, begun)
    assert got.status == "completed" and got.output_text == GREETING, got
    assert c.responses.cancel(begun.id).status == "completed"
    c.responses.delete(begun.id)

    events = list(c.responses.create(model="tiny", input="a", temperature=0, background=True, stream=True))
    for event in events:
        strictly(type(event), event)
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert [event.type for event in events][:3] == ["response.created", "response.queued", "response.in_progress"]
    assert events[-1].response.output_text == GREETING
    again = list(c.responses.retrieve(events[0].response.id, stream=True, starting_after=4))
    assert [event.sequence_number for event in again] == list(range(5, len(events)))
    with c.responses.stream(response_id=events[0].response.id) as stream:
        assert stream.get_final_response().output_text == GREETING
    with c.responses.stream(model="tiny", input="a", temperature=0, background=True) as stream:
        assert stream.get_final_response().output_text == GREETING

    # Texts at random, without end: a schema that needs many.
    long = {"format": {"type": "json_schema", "name": "x", "schema": {"type": "string", "minLength": 3000}}}
    begun = gpt(RANDOM).responses.create(model="tiny", input="a", background=True, text=long, max_output_tokens=3500)
    got = gpt(RANDOM).responses.cancel(begun.id)
    assert got.status == "cancelled", got.status
    assert gpt(RANDOM).responses.retrieve(begun.id).status == "cancelled"
    for mistake in (lambda: c.responses.create(model="tiny", input="a", background=True, store=False), lambda: c.responses.cancel("resp_none")):
        try:
            mistake()
        except (openai.BadRequestError, openai.NotFoundError):
            continue
        raise AssertionError("no error")


def test_conversations():
    c = gpt(HELLO)
    talk = c.conversations.create(metadata={"topic": "tea"}, items=[{"type": "message", "role": "user", "content": "a"}, {"role": "assistant", "content": "b"}])
    strictly(type(talk), talk)
    assert c.conversations.retrieve(talk.id).metadata == {"topic": "tea"}
    assert c.conversations.update(talk.id, metadata={"mood": "calm"}).metadata == {"mood": "calm"}
    first = c.responses.create(model="tiny", input="c", temperature=0, conversation=talk.id)
    strictly(Response, first)
    assert first.conversation.id == talk.id
    ended(c, c.responses.create(model="tiny", input="d", temperature=0, conversation={"id": talk.id}, background=True))
    items = list(c.conversations.items.list(talk.id, order="asc", limit=2))
    for item in items:
        strictly(type(item), item)
    assert [item.content[0].text for item in items] == ["a", "b", "c", GREETING, "d", GREETING], items
    added = c.conversations.items.create(talk.id, items=[{"role": "user", "content": "e"}])
    strictly(type(added), added)
    one = c.conversations.items.retrieve(added.first_id, conversation_id=talk.id)
    assert one.content[0].text == "e"
    c.conversations.items.delete(one.id, conversation_id=talk.id)
    assert len(list(c.conversations.items.list(talk.id))) == 6
    assert c.conversations.delete(talk.id).deleted
    assert c.conversations.create().id
    for mistake in (lambda: c.conversations.retrieve(talk.id), lambda: c.responses.create(model="tiny", input="a", conversation=talk.id)):
        try:
            mistake()
        except openai.NotFoundError:
            continue
        raise AssertionError("no error")


def test_client_tools():
    c = claude(RANDOM)
    for kind, name in (("bash_20250124", "bash"), ("text_editor_20250728", "str_replace_based_edit_tool"), ("memory_20250818", "memory")):
        got = c.beta.messages.create(model="tiny", max_tokens=400, messages=ASK, tools=[{"type": kind, "name": name}], tool_choice={"type": "tool", "name": name})
        call = got.content[0]
        strictly(type(got), got)
        assert call.type == "tool_use" and call.name == name and call.input, call
        if name == "memory":
            TypeAdapter(BetaMemoryTool20250818Command).validate_python(call.input)
        result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call.id, "content": "done"}]}
        c.beta.messages.create(model="tiny", max_tokens=5, messages=[*ASK, {"role": "assistant", "content": got.content}, result], tools=[{"type": kind, "name": name}])


def test_functions():
    functions = [{"name": "save", "parameters": Person.model_json_schema()}]
    got = gpt(RANDOM).chat.completions.create(model="tiny", messages=ASK, functions=functions, function_call={"name": "save"}, max_tokens=200)
    Person.model_validate_json(got.choices[0].message.function_call.arguments)
    assert got.choices[0].finish_reason == "function_call"


def test_prompt_too_long():
    for call in (
        lambda: gpt(HELLO).chat.completions.create(model="tiny", messages=[{"role": "user", "content": "word " * 5000}]),
        lambda: claude(HELLO).messages.create(model="tiny", max_tokens=5, messages=[{"role": "user", "content": "word " * 5000}]),
    ):
        try:
            call()
        except (openai.BadRequestError, anthropic.BadRequestError) as error:
            assert "prompt is too long: this model's maximum context length is 4096 tokens" in str(error), str(error)
        else:
            raise AssertionError("no error")


def test_tool_runner():
    saved = []

    @beta_tool
    def save(name: str, age: int, plan: str) -> str:
        """Saves a person."""
        saved.append(name)
        return "saved"

    runner = claude(ANSWERING).beta.messages.tool_runner(model="tiny", max_tokens=200, messages=ASK, tools=[save], max_iterations=3)
    final = runner.until_done()
    assert saved == ["ann"], saved
    assert final.content[-1].text == "done: saved", final


def test_anthropic():
    c = claude(HELLO)
    edits = {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]}
    got = c.beta.messages.create(model="tiny", max_tokens=60, messages=ASK, context_management=edits, betas=["context-management-2025-06-27"])
    assert got.context_management.applied_edits == []
    assert got._request_id
    again = c.messages.create(model="tiny", max_tokens=60, messages=ASK)
    assert again.usage.cache_read_input_tokens > 0
    assert c.models.list().data[0].lifecycle == "active"
    model = c.models.retrieve("tiny")
    strictly(type(model), model)
    assert model.capabilities.structured_outputs.supported and not model.capabilities.image_input.supported
    assert model.capabilities.context_management.supported and not model.capabilities.server_tools.web_search.supported
    assert model.max_input_tokens == model.max_tokens > 0, model
    parsed = claude(RANDOM).messages.parse(model="tiny", max_tokens=200, messages=ASK, output_format=Plain)
    assert isinstance(parsed.parsed_output, Plain)


def test_ollama():
    c = ollama.Client(host=HELLO)
    assert c.chat(model="tiny", messages=ASK, options={"temperature": 0, "tfs_z": 1.0}).message.content == GREETING
    assert [part.status for part in c.pull("tiny", stream=True)][-1] == "success"
    for url, call in ((HELLO, lambda c: c.chat(model="tiny", messages=ASK, think=True)), (HELLO, lambda c: c.pull("none"))):
        try:
            call(ollama.Client(host=url))
        except ollama.ResponseError as error:
            assert error.status_code in (400, 404) and ("does not support thinking" in str(error) or "not found" in str(error)), error
        else:
            raise AssertionError("no error")
    assert ollama.Client(host=THINKER).chat(model="tiny", messages=ASK, think=True, options={"temperature": 0}).message.thinking == "hmm"
    got = ollama.Client(host=RANDOM).chat(model="tiny", messages=ASK, format=Person.model_json_schema(), options={"num_predict": 200})
    Person.model_validate_json(got.message.content)


failed = 0
for name, test in list(globals().items()):
    if name.startswith("test_"):
        try:
            test()
            print("ok", name)
        except Exception:
            failed += 1
            print("FAILED", name)
            traceback.print_exc(file=sys.stdout)
sys.exit(failed > 0)
