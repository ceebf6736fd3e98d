"""AutoGen: an answer as a Pydantic object from its OpenAI client."""

import asyncio
import os

from autogen_core.models import UserMessage
from autogen_ext.models.openai import OpenAIChatCompletionClient
from pydantic import BaseModel


class Person(BaseModel):
    name: str
    age: int


async def main() -> None:
    url = os.environ.get("STENCIL_URL", "http://127.0.0.1:8080")
    client = OpenAIChatCompletionClient(
        model="stencil", base_url=url + "/v1", api_key="none", temperature=0,
        model_info={"vision": False, "function_calling": True, "json_output": True, "structured_output": True, "family": "unknown"})
    result = await client.create([UserMessage(content="Maria Lopez, 34, lives in Bergen.", source="user")], json_output=Person)
    print(repr(Person.model_validate_json(result.content)))
    await client.close()


asyncio.run(main())
