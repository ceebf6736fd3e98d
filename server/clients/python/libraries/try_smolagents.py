"""smolagents: a model with a schema, streams, an agent that calls tools and one that writes code."""

from shared import ANN, GREETING, OBEDIENT, RANDOM, Bounded, Person, call, document, run, says

from smolagents import CodeAgent, OpenAIServerModel, ToolCallingAgent, tool


@tool
def weather(city: str) -> str:
    """The weather in a city.

    Args:
        city: The city.
    """
    return f"rain in {city}"


def model(url=OBEDIENT):
    return OpenAIServerModel(model_id="tiny", api_base=url + "/v1", api_key="none", client_kwargs={"max_retries": 0})


def ask(text):
    return [{"role": "user", "content": [{"type": "text", "text": text}]}]


def schema(kind):
    return {"type": "json_schema", "json_schema": {"name": "person", "schema": kind.model_json_schema()}}


def test_structured():
    got = model().generate(ask(says(document())), response_format=schema(Person))
    assert Person.model_validate_json(got.content) == ANN, got
    got = model(RANDOM).generate(ask("A person."), response_format=schema(Bounded))
    Bounded.model_validate_json(got.content)


def test_stream():
    assert "".join(part.content or "" for part in model().generate_stream(ask("Hello"))) == GREETING


def test_tool_calling_agent():
    for stream in (False, True):
        agent = ToolCallingAgent(tools=[weather], model=model(), stream_outputs=stream, verbosity_level=0)
        got = agent.run(says(call("weather", city="Oslo"), call("final_answer", answer="It rains.")))
        assert got == "It rains.", got
        assert "rain in Oslo" in str(agent.memory.get_full_steps()), agent.memory.get_full_steps()


def test_code_agent():
    for stream in (False, True):
        agent = CodeAgent(tools=[weather], model=model(), stream_outputs=stream, verbosity_level=0)
        code = "Thought: I ask.\n<code>\nx = weather(city='Oslo')\nprint(x)\n</code>"
        got = agent.run(says(code, "Thought: I know.\n<code>\nfinal_answer(x + '!')\n</code>"))
        assert got == "rain in Oslo!", got


def test_structured_code_agent():
    """The agent's thought and code in a schema of its own."""
    agent = CodeAgent(tools=[weather], model=model(), use_structured_outputs_internally=True, verbosity_level=0)
    got = agent.run(says(document({"thought": "I ask.", "code": "final_answer(weather(city='Oslo'))"})))
    assert got == "rain in Oslo", got


run(globals())
