"""Instructor: a Pydantic object out of a text. Mode.JSON_SCHEMA sends the schema, and masks enforce it: nothing is retried."""

import os

import instructor
from openai import OpenAI
from pydantic import BaseModel


class Person(BaseModel):
    name: str
    age: int


url = os.environ.get("STENCIL_URL", "http://127.0.0.1:8080")
client = instructor.from_openai(OpenAI(base_url=url + "/v1", api_key="none"), mode=instructor.Mode.JSON_SCHEMA)
print(client.chat.completions.create(
    model="stencil", response_model=Person, temperature=0, max_retries=0,
    messages=[{"role": "user", "content": "Maria Lopez, 34, lives in Bergen."}]).__repr__())
