"""LlamaIndex: a structured LLM."""

import os

from llama_index.core.llms import ChatMessage
from llama_index.llms.openai_like import OpenAILike
from pydantic import BaseModel


class Person(BaseModel):
    name: str
    age: int


url = os.environ.get("STENCIL_URL", "http://127.0.0.1:8080")
llm = OpenAILike(model="stencil", api_base=url + "/v1", api_key="none", temperature=0, is_chat_model=True,
                 should_use_structured_outputs=True, is_function_calling_model=False)
answer = llm.as_structured_llm(Person).chat([ChatMessage(role="user", content="Maria Lopez, 34, lives in Bergen.")])
print(repr(answer.raw))
