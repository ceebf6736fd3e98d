"""DSPy: a signature with a Pydantic field. lm_studio is the route of LiteLLM's for which DSPy sends the schema."""

import os

import dspy
from pydantic import BaseModel


class Person(BaseModel):
    name: str
    age: int


class Extract(dspy.Signature):
    """Extract the person."""

    text: str = dspy.InputField()
    person: Person = dspy.OutputField()


url = os.environ.get("STENCIL_URL", "http://127.0.0.1:8080")
lm = dspy.LM("lm_studio/stencil", api_base=url + "/v1", api_key="none", temperature=0, max_tokens=200, cache=False)
with dspy.context(lm=lm, adapter=dspy.JSONAdapter()):
    print(repr(dspy.Predict(Extract)(text="Maria Lopez, 34, lives in Bergen.").person))
