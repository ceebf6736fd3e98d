"""LangChain: a Pydantic object out of a text, enforced by masks."""

import os

from langchain_openai import ChatOpenAI
from pydantic import BaseModel


class Person(BaseModel):
    name: str
    age: int


url = os.environ.get("STENCIL_URL", "http://127.0.0.1:8080")
model = ChatOpenAI(base_url=url + "/v1", api_key="none", model="stencil", temperature=0)
print(model.with_structured_output(Person, method="json_schema").invoke("Maria Lopez, 34, lives in Bergen."))
