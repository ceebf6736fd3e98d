"""DSPy: predictors and agents by its chat and JSON adapters, tools, streams."""

from shared import ANN, OBEDIENT, RANDOM, Bounded, Person, document, run, says

import dspy


def lm(route="openai", url=OBEDIENT):
    return dspy.LM(f"{route}/tiny", api_base=url + "/v1", api_key="none", cache=False, num_retries=0, max_tokens=1000)


class Extract(dspy.Signature):
    """Extracts a person."""

    text: str = dspy.InputField()
    person: Person = dspy.OutputField()


class ExtractBounded(dspy.Signature):
    """Extracts a person."""

    text: str = dspy.InputField()
    person: Bounded = dspy.OutputField()


def chat(**fields):
    return "\n\n".join(f"[[ ## {name} ## ]]\n{value}" for name, value in fields.items()) + "\n\n[[ ## completed ## ]]"


def test_chat_adapter():
    with dspy.context(lm=lm(), adapter=dspy.ChatAdapter()):
        assert dspy.Predict(Extract)(text=says(chat(person=document()))).person == ANN
        got = dspy.ChainOfThought(Extract)(text=says(chat(reasoning="Clear.", person=document())))
        assert got.person == ANN and got.reasoning == "Clear."


def test_json_adapter():
    """LiteLLM's lm_studio takes schemas for models that it doesn't know; its openai doesn't, and DSPy then sends none."""
    for route in ("openai", "lm_studio"):
        with dspy.context(lm=lm(route), adapter=dspy.JSONAdapter()):
            assert dspy.Predict(Extract)(text=says(document({"person": ANN.model_dump()}))).person == ANN, route


def test_bounds():
    with dspy.context(lm=lm("lm_studio", RANDOM), adapter=dspy.JSONAdapter()):
        assert isinstance(dspy.Predict(ExtractBounded)(text="A person.").person, Bounded)


def weather(city: str) -> str:
    """The weather in a city."""
    return f"rain in {city}"


def test_react():
    """Each step of ReAct is a conversation of its own, so that the model does the same in all until they are at their end."""
    with dspy.context(lm=lm(), adapter=dspy.JSONAdapter()):
        react = dspy.ReAct("question -> answer: str", tools=[weather], max_iters=2)
        told = {"next_thought": "I ask.", "next_tool_name": "weather", "next_tool_args": {"city": "Oslo"}, "reasoning": "Known.", "answer": "It rains."}
        got = react(question=says(document(told)))
        assert "rain in Oslo" in str(got.trajectory) and got.answer == "It rains.", got


async def test_stream():
    with dspy.context(lm=lm(), adapter=dspy.ChatAdapter()):
        program = dspy.streamify(dspy.Predict("question -> answer"))
        told, text, last = chat(answer="It rains in Oslo today."), "", None
        async for part in program(question=says(told)):
            if isinstance(part, dspy.Prediction):
                last = part
            else:
                text += part.choices[0].delta.content or ""
        assert text == told and last.answer == "It rains in Oslo today.", (text, last)


run(globals())
