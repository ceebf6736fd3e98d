from __future__ import annotations

import asyncio
import json
import time
from typing import Any, AsyncIterator, Iterator, Optional, TypeVar, Union

import httpx
from pydantic import TypeAdapter

from ._types import Answer, Check, Detail, Event, Message, StencilError, Validation

T = TypeVar("T")
Prompt = Union[str, list[Message]]


def _body(prompt: Prompt, options: dict[str, Any], model: Optional[str]) -> dict[str, Any]:
    """The fields of a request. A text is a raw prompt, a list is a conversation."""
    body: dict[str, Any] = {"prompt": prompt} if isinstance(prompt, str) else {"messages": prompt}
    if model:
        body["model"] = model
    return {**body, **{name: value for name, value in options.items() if value is not None}}


def _adapter(kind: Any) -> tuple[Optional[TypeAdapter], Any]:
    """How documents are validated, and the schema that is asked for. A dict is a schema and its documents stay as they are."""
    if kind is None or isinstance(kind, (dict, bool)):
        return None, kind
    adapter = TypeAdapter(kind)
    return adapter, adapter.json_schema()


def _answer(body: dict[str, Any], adapter: Optional[TypeAdapter]) -> Answer[Any]:
    body = dict(body)
    document = body.pop("json", None)
    value = document if adapter is None else adapter.validate_json(body["text"])
    return Answer[Any](value=value, receipt=body.pop("constraint", None), **body)


def _error(status: int, text: str) -> StencilError:
    try:
        error = json.loads(text)["error"]
        return StencilError(error["message"], error.get("code") or "unknown", status, error.get("param"),
                            [Detail(**detail) for detail in error.get("details", [])], error.get("minimum", 0))
    except (ValueError, KeyError, TypeError):
        return StencilError(text or f"status {status}", status=status)


def _wait(answer: httpx.Response) -> Optional[float]:
    """Seconds after which a refused request may be sent again; None: not at all."""
    if answer.status_code not in (429, 503) or answer.headers.get("x-should-retry") == "false":
        return None
    try:
        return min(max(float(answer.headers.get("retry-after", "1")), 0), 60)
    except ValueError:
        return 1


class _Events:
    """Reads server-sent events from lines."""

    def __init__(self, adapter: Optional[TypeAdapter]):
        self.kind, self.done, self.adapter = "", False, adapter

    def line(self, line: str) -> Optional[Event[Any]]:
        if line.startswith("event: "):
            self.kind = line[7:]
        if not line.startswith("data: "):
            return None
        data = line[6:]
        if self.kind == "error":
            raise _error(0, data)
        body = json.loads(data)
        if self.kind == "token":
            return Event[Any](token=body["text"])
        if self.kind == "field":
            return Event[Any](pointer=body["pointer"], value=body["value"], confidence=body.get("confidence"))
        if self.kind == "done":
            self.done = True
            return Event[Any](answer=_answer(body, self.adapter))
        return None

    def end(self) -> None:
        if not self.done:
            raise StencilError("the stream ended before the answer did")


def _probabilities(body: dict[str, Any]) -> dict[str, float]:
    return {one["value"]: one["probability"] for one in body["answers"][0]["probabilities"]}


def _question(text: Any, question: str, choices: list[str], model: Optional[str]) -> dict[str, Any]:
    body: dict[str, Any] = {"input": text, "questions": [
        {"type": "choice", "name": "choice", "instructions": question, "choices": [{"value": choice} for choice in choices]}]}
    if model:
        body["model"] = model
    return body


def _settings(url: str, api_key: Optional[str], timeout: Optional[float]) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    return {"base_url": url.rstrip("/"), "headers": headers, "timeout": timeout}


class Client:
    """A server. url is its address without a path, model the name that requests carry (default: the server's first),
    timeout the seconds that a request may take, retries how often one is sent again that the server could not take.
    It may be shared by threads."""

    def __init__(self, url: str = "http://127.0.0.1:8080", *, model: Optional[str] = None, api_key: Optional[str] = None,
                 timeout: Optional[float] = 600, retries: int = 2):
        self.model, self.retries = model, retries
        self._http = httpx.Client(**_settings(url, api_key, timeout))

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        for left in range(self.retries, -1, -1):
            answer = self._http.post(path, json=body)
            if answer.status_code == 200:
                return answer.json()
            wait = _wait(answer)
            if wait is None or left == 0:
                raise _error(answer.status_code, answer.text)
            time.sleep(wait)
        raise AssertionError("unreachable")

    def generate(self, prompt: Prompt, *, max_tokens: Optional[int] = None, temperature: Optional[float] = None,
                 seed: Optional[int] = None, **options: Any) -> Answer[str]:
        """A text: free, or constrained by regex="…", choice=[…] or grammar="…". Further options are fields of POST /generate."""
        body = _body(prompt, {"max_tokens": max_tokens, "temperature": temperature, "seed": seed, **options}, self.model)
        reply = self._post("/generate", body)
        answer = _answer(reply, None)
        answer.value = answer.text
        return answer

    def generate_json(self, kind: type[T] | Any, prompt: Prompt, *, max_tokens: Optional[int] = None,
                      temperature: Optional[float] = None, seed: Optional[int] = None, **options: Any) -> Answer[T]:
        """A document: of a Pydantic model or any other type that Pydantic knows, or of a JSON Schema given as dict; None: any
        JSON. Further options are fields of POST /generate_json."""
        adapter, schema = _adapter(kind)
        body = _body(prompt, {"max_tokens": max_tokens, "temperature": temperature, "seed": seed, "schema": schema, **options}, self.model)
        return _answer(self._post("/generate_json", body), adapter)

    def stream_json(self, kind: type[T] | Any, prompt: Prompt, **options: Any) -> Iterator[Event[T]]:
        """generate_json in parts: tokens, fields as they are complete, and the answer at the end."""
        adapter, schema = _adapter(kind)
        body = _body(prompt, {"schema": schema, **options, "stream": True}, self.model)
        with self._http.stream("POST", "/generate_json", json=body) as answer:
            if answer.status_code != 200:
                answer.read()
                raise _error(answer.status_code, answer.text)
            events = _Events(adapter)
            for line in answer.iter_lines():
                event = events.line(line)
                if event is not None:
                    yield event
            events.end()

    def check(self, kind: Any) -> Check:
        """What is wrong with a schema or the schema of a type, or what would be enforced of it."""
        return Check(**self._post("/schema/check", {"schema": _adapter(kind)[1]}))

    def validate(self, kind: Any, text: str) -> Validation:
        """Whether a text is a document that fits a schema or the schema of a type."""
        return Validation(**self._post("/validate", {"schema": _adapter(kind)[1], "text": text}))

    def decide(self, text: str, question: str, choices: list[str]) -> dict[str, float]:
        """The probability of each choice as the answer to a question about a text. Nothing is generated."""
        return _probabilities(self._post("/decide", _question(text, question, choices, self.model)))


class AsyncClient:
    """Client for asyncio, with the same methods."""

    def __init__(self, url: str = "http://127.0.0.1:8080", *, model: Optional[str] = None, api_key: Optional[str] = None,
                 timeout: Optional[float] = 600, retries: int = 2):
        self.model, self.retries = model, retries
        self._http = httpx.AsyncClient(**_settings(url, api_key, timeout))

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        for left in range(self.retries, -1, -1):
            answer = await self._http.post(path, json=body)
            if answer.status_code == 200:
                return answer.json()
            wait = _wait(answer)
            if wait is None or left == 0:
                raise _error(answer.status_code, answer.text)
            await asyncio.sleep(wait)
        raise AssertionError("unreachable")

    async def generate(self, prompt: Prompt, *, max_tokens: Optional[int] = None, temperature: Optional[float] = None,
                       seed: Optional[int] = None, **options: Any) -> Answer[str]:
        """As Client.generate."""
        body = _body(prompt, {"max_tokens": max_tokens, "temperature": temperature, "seed": seed, **options}, self.model)
        reply = await self._post("/generate", body)
        answer = _answer(reply, None)
        answer.value = answer.text
        return answer

    async def generate_json(self, kind: type[T] | Any, prompt: Prompt, *, max_tokens: Optional[int] = None,
                            temperature: Optional[float] = None, seed: Optional[int] = None, **options: Any) -> Answer[T]:
        """As Client.generate_json."""
        adapter, schema = _adapter(kind)
        body = _body(prompt, {"max_tokens": max_tokens, "temperature": temperature, "seed": seed, "schema": schema, **options}, self.model)
        return _answer(await self._post("/generate_json", body), adapter)

    async def stream_json(self, kind: type[T] | Any, prompt: Prompt, **options: Any) -> AsyncIterator[Event[T]]:
        """As Client.stream_json."""
        adapter, schema = _adapter(kind)
        body = _body(prompt, {"schema": schema, **options, "stream": True}, self.model)
        async with self._http.stream("POST", "/generate_json", json=body) as answer:
            if answer.status_code != 200:
                await answer.aread()
                raise _error(answer.status_code, answer.text)
            events = _Events(adapter)
            async for line in answer.aiter_lines():
                event = events.line(line)
                if event is not None:
                    yield event
            events.end()

    async def check(self, kind: Any) -> Check:
        """As Client.check."""
        return Check(**await self._post("/schema/check", {"schema": _adapter(kind)[1]}))

    async def validate(self, kind: Any, text: str) -> Validation:
        """As Client.validate."""
        return Validation(**await self._post("/validate", {"schema": _adapter(kind)[1], "text": text}))

    async def decide(self, text: str, question: str, choices: list[str]) -> dict[str, float]:
        """As Client.decide."""
        return _probabilities(await self._post("/decide", _question(text, question, choices, self.model)))
