"""A program on the package that openapi-python-client makes of docs/reference/openapi.json: run by make openapi-test."""

import sys
from stencil_api import Client
from stencil_api.api.native import post_generate_json
from stencil_api.models import Answer, Error, Generate

client = Client(base_url=sys.argv[1])
schema = {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}, "required": ["name", "age"], "additionalProperties": False}
answer = post_generate_json.sync(client=client, body=Generate.from_dict({"prompt": "Maria Lopez, 34, lives in Bergen.", "schema": schema, "max_tokens": 40, "temperature": 0}))
assert isinstance(answer, Answer), answer
print(answer.json, answer.constraint.validated)
bad = post_generate_json.sync(client=client, body=Generate.from_dict({"prompt": "x", "schema": {"type": "objct"}}))
assert isinstance(bad, Error), bad
print(bad.error.code, bad.error.details[0].pointer)
