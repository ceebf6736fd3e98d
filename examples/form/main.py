"""A form that fills itself: each field appears as soon as the model has written it, with how sure it is."""

import os
import sys
from typing import Optional

from pydantic import BaseModel
from stencil_client import Client


class Form(BaseModel):
    name: str
    age: Optional[int]
    email: Optional[str]


text = sys.argv[1] if len(sys.argv) > 1 else "Maria Lopez, 34, from Bergen. Write to maria.lopez@example.com."
with Client(os.environ.get("STENCIL_URL", "http://127.0.0.1:8080")) as client:
    for event in client.stream_json(Form, text + "\n", temperature=0, max_tokens=80):
        if event.pointer:
            print(f"{event.pointer[1:]:>8}  {event.value}  ({event.confidence:.0%})", flush=True)
        if event.answer:
            print(f"complete: {event.answer.value!r}, valid: {event.answer.receipt.validated}")
