"""CrewAI: a crew of one whose task has a Pydantic model as its result."""

import os

os.environ.setdefault("CREWAI_DISABLE_TELEMETRY", "true")
os.environ.setdefault("CREWAI_TRACING_ENABLED", "false")

from crewai import LLM, Agent, Crew, Task
from pydantic import BaseModel


class Person(BaseModel):
    name: str
    age: int


url = os.environ.get("STENCIL_URL", "http://127.0.0.1:8080")
llm = LLM(model="openai/stencil", base_url=url + "/v1", api_key="none", temperature=0, max_tokens=200)
clerk = Agent(role="Clerk", goal="Note who is spoken of.", backstory="A clerk at a registry.", llm=llm, max_iter=3)
task = Task(
    description="Maria Lopez, 34, lives in Bergen.", expected_output="The person's name and age.",
    agent=clerk, output_pydantic=Person)
print(repr(Crew(agents=[clerk], tasks=[task]).kickoff().pydantic))
