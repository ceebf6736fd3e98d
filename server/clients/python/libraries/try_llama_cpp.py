"""Packages made for llama-server: LangChain's ChatLlama and ChatLlamaServer, LlamaIndex's Llamafile and its embeddings."""

import os

from shared import ANN, GREETING, OBEDIENT, RANDOM, Bounded, Person, call, document, run, says

from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langchain_llama_cpp import ChatLlama
from langchain_llama_server import ChatLlamaServer
from llama_index.core.llms import ChatMessage
from llama_index.embeddings.openai_like import OpenAILikeEmbedding
from llama_index.llms.llamafile import Llamafile

VECTORS = os.environ["STENCIL_VECTORS"]


@tool
def weather(city: str) -> str:
    """The weather in a city."""
    return f"rain in {city}"


def models(url=OBEDIENT, **more):
    yield ChatLlama(model="tiny", base_url=url, max_retries=0, **more)
    yield ChatLlamaServer(model="tiny", base_url=url + "/v1", api_key="none", max_retries=0, **more)


def test_text_and_stream():
    for model in models():
        got = model.invoke("Hello")
        assert got.text == GREETING and got.usage_metadata["output_tokens"] > 0, got
        chunks = list(model.stream("Hello"))
        assert "".join(chunk.text for chunk in chunks) == GREETING, chunks
        whole = chunks[0]
        for chunk in chunks[1:]:
            whole += chunk
        assert whole.response_metadata["finish_reason"] == "stop", whole


def test_timings():
    """What both packages are there for: llama-server's timings, in an answer and at the end of a stream."""
    own, other = models()
    whole = None
    for chunk in own.stream("Hello"):
        whole = chunk if whole is None else whole + chunk
    for got in (own.invoke("Hello"), whole):
        timings = got.response_metadata["timings"]
        assert timings["predicted_n"] > 0 and timings["prompt_n"] + timings["cache_n"] > 0 and timings["predicted_per_second"] >= 0, timings
    assert other.invoke("Hello").debug.timings["predicted_n"] > 0
    last = [chunk for chunk in other.stream("Hello") if getattr(chunk, "debug", None)]
    assert len(last) == 1 and last[0].chunk_position == "last", last  # one chunk alone has them


async def test_async():
    for model in models():
        assert (await model.ainvoke("Hello")).text == GREETING
        assert "".join([chunk.text async for chunk in model.astream("Hello")]) == GREETING


def test_structured():
    for model in models():
        assert model.with_structured_output(Person, method="function_calling").invoke(says(call("Person", name="ann", age=5))) == ANN
    own, _ = models()  # ChatLlamaServer raises an error of its own where it has a schema
    assert own.with_structured_output(Person, method="json_schema").invoke(says(document())) == ANN
    own, _ = models(RANDOM, max_tokens=400)
    assert isinstance(own.with_structured_output(Bounded, method="json_schema").invoke("A person."), Bounded)
    own = ChatLlama(model="tiny", base_url=RANDOM, max_tokens=400, json_schema=Bounded.model_json_schema())
    Bounded.model_validate_json(own.invoke("A person.").text)
    own = ChatLlama(model="tiny", base_url=RANDOM, max_tokens=400, grammar='root ::= "yes" | "no"')
    assert own.invoke("Yes?").text in ("yes", "no")


def test_tools():
    for model in models():
        bound = model.bind_tools([weather])
        got = bound.invoke(says(call("weather", city="Oslo")))
        assert [(one["name"], one["args"]) for one in got.tool_calls] == [("weather", {"city": "Oslo"})], got
        whole = None
        for chunk in bound.stream(says(call("weather", city="Oslo"))):
            whole = chunk if whole is None else whole + chunk
        assert [(one["name"], one["args"]) for one in whole.tool_calls] == [("weather", {"city": "Oslo"})], whole
        forced = model.bind_tools([weather], tool_choice="weather").invoke(says(call("weather", city="Bergen")))
        assert forced.tool_calls[0]["args"] == {"city": "Bergen"}, forced


def test_fields():
    """Every field that ChatLlama has a parameter for and that has a meaning here, off or on."""
    own = ChatLlama(
        model="any name", base_url=OBEDIENT, max_tokens=-1, stop=["STOP"], ignore_eos=False, t_max_predict_ms=0, n_indent=0, n=1, temperature=0.5, dynatemp_range=0.0, dynatemp_exponent=1.0, top_k=40,
        top_p=0.9, min_p=0.05, typical_p=1.0, top_n_sigma=-1.0, xtc_probability=0.0, xtc_threshold=0.1, mirostat=0, mirostat_tau=5.0, mirostat_eta=0.1,
        adaptive_target=-1.0, adaptive_decay=0.9, min_keep=0, samplers=["top_k", "temperature"], seed=3, backend_sampling=False, repeat_penalty=1.0, repeat_last_n=64,
        frequency_penalty=0.0, presence_penalty=0.0, dry_multiplier=0.0, dry_base=1.75, dry_allowed_length=2, dry_penalty_last_n=-1, dry_sequence_breakers=["\n"],
        logit_bias=[[5, -1.0]], chat_template_kwargs={"enable_thinking": False}, reasoning_format="auto", reasoning_effort="low", reasoning_budget_tokens=-1, reasoning_control=False,
        cache_prompt=True, n_cache_reuse=0, n_keep=0, n_discard=0, id_slot=1, timings_per_token=False, return_tokens=False, post_sampling_probs=False)
    assert own.invoke("Hello").text == GREETING
    assert "".join(chunk.text for chunk in own.stream("Hello")) == GREETING
    own, _ = models(logprobs=True, top_logprobs=2)
    got = own.generate([[HumanMessage("Hello")]]).generations[0][0]
    assert len(got.generation_info["logprobs"]["content"][0]["top_logprobs"]) == 2, got


def test_errors():
    own, _ = models(RANDOM)
    try:
        own.invoke("word " * 5000)
    except Exception as error:
        assert "tokens" in str(error), error
    else:
        raise AssertionError("no error")


def test_llamafile():
    """LlamaIndex's class for llamafile, whose server is llama-server's; it does not read data: [DONE]."""
    llm = Llamafile(base_url=OBEDIENT)
    assert llm.chat([ChatMessage(role="user", content="Hello")]).message.content == GREETING
    assert llm.complete("Hello").text == GREETING
    assert "".join(part.delta for part in llm.stream_complete("Hello")) == GREETING
    llm = Llamafile(base_url=RANDOM, additional_kwargs={"json_schema": Bounded.model_json_schema(), "n_predict": 400})
    Bounded.model_validate_json(llm.complete("A person.").text)


def test_embeddings():
    embed = OpenAILikeEmbedding(model_name="tiny", api_base=VECTORS + "/v1", api_key="none", max_retries=0)
    one, two = embed.get_text_embedding_batch(["one", "two"])
    assert len(one) == len(two) == 8 and one != two and embed.get_query_embedding("one") == one, (one, two)


run(globals())
