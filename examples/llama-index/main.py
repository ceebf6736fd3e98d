"""LlamaIndex: a Pydantic object out of a text, by OpenAILike with the schema as response format."""

import os

from llama_index.core.prompts import PromptTemplate
from llama_index.llms.openai_like import OpenAILike
from pydantic import BaseModel


class Person(BaseModel):
    name: str
    age: int


url = os.environ.get("STENCIL_URL", "http://127.0.0.1:8080")
llm = OpenAILike(
    model="stencil", api_base=url + "/v1", api_key="none", temperature=0, max_tokens=100,
    is_chat_model=True, should_use_structured_outputs=True)
print(repr(llm.structured_predict(Person, PromptTemplate("{text}"), text="Maria Lopez, 34, lives in Bergen.")))
