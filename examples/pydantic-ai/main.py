"""pydantic-ai: an agent with a typed output, by the server's JSON Schema mode."""

import os

from pydantic import BaseModel
from pydantic_ai import Agent, NativeOutput
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider


class Person(BaseModel):
    name: str
    age: int


url = os.environ.get("STENCIL_URL", "http://127.0.0.1:8080")
model = OpenAIChatModel("stencil", provider=OpenAIProvider(base_url=url + "/v1", api_key="none"))
agent = Agent(model, output_type=NativeOutput(Person), model_settings={"temperature": 0}, retries=0)
print(repr(agent.run_sync("Maria Lopez, 34, lives in Bergen.").output))
