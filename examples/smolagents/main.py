"""smolagents: its OpenAI model, with a response format."""

import os

from pydantic import BaseModel
from smolagents import OpenAIServerModel


class Person(BaseModel):
    name: str
    age: int


url = os.environ.get("STENCIL_URL", "http://127.0.0.1:8080")
model = OpenAIServerModel(model_id="stencil", api_base=url + "/v1", api_key="none", temperature=0)
answer = model([{"role": "user", "content": [{"type": "text", "text": "Maria Lopez, 34, lives in Bergen."}]}],
               response_format={"type": "json_schema", "json_schema": {"name": "person", "schema": Person.model_json_schema()}})
print(repr(Person.model_validate_json(answer.content)))
