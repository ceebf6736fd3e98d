"""Client of stencil, a local inference server whose answers fit a schema.

    from pydantic import BaseModel
    from stencil_client import Client

    class Person(BaseModel):
        name: str
        age: int

    with Client("http://127.0.0.1:8080") as client:
        answer = client.generate_json(Person, "Maria Lopez, 34.\\n", temperature=0)
        print(answer.value, answer.receipt.enforced)

AsyncClient has the same methods, to be awaited.
"""

from ._client import AsyncClient, Client
from ._types import Answer, Check, Detail, Event, Field, Message, Pressure, Receipt, StencilError, Usage, Validation

__all__ = [
    "Answer", "AsyncClient", "Check", "Client", "Detail", "Event", "Field", "Message", "Pressure", "Receipt", "StencilError",
    "Usage", "Validation",
]
