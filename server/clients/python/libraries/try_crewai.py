"""CrewAI: a crew with tools whose task has a Pydantic model, a model alone."""

from shared import ANN, GREETING, OBEDIENT, RANDOM, Bounded, Person, call, document, run, says

from crewai import LLM, Agent, Crew, Task
from crewai.tools import tool


@tool("weather")
def weather(city: str) -> str:
    """The weather in a city."""
    return f"rain in {city}"


def llm(url=OBEDIENT):
    return LLM(model="openai/tiny", base_url=url + "/v1", api_key="none")


def crew(model, ask, **more):
    agent = Agent(role="Clerk", goal="Answers.", backstory="A clerk.", llm=model, tools=[weather], verbose=False)
    return Crew(agents=[agent], tasks=[Task(description=ask, expected_output="An answer.", agent=agent, **more)], verbose=False)


def test_text():
    assert llm().call("Hello") == GREETING


def test_structured():
    got = llm().call(says(document()), response_model=Person)
    assert (got if isinstance(got, Person) else Person.model_validate_json(got)) == ANN, got
    got = llm(RANDOM).call("A person.", response_model=Bounded)
    assert isinstance(got, Bounded) or Bounded.model_validate_json(got)


def test_crew():
    got = crew(llm(), says(call("weather", city="Oslo"), "It rains.")).kickoff()
    assert got.raw == "It rains.", got


def test_crew_structured():
    got = crew(llm(), says(call("weather", city="Oslo"), document()), output_pydantic=Person).kickoff()
    assert got.pydantic == ANN, got


run(globals())
