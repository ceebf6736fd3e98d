"""What the server answers, as Pydantic models. Fields that are not known here are kept (model_extra)."""

from __future__ import annotations

from typing import Any, Generic, Optional, TypedDict, TypeVar

from pydantic import BaseModel, ConfigDict
from pydantic import Field as _Field

T = TypeVar("T")


class Message(TypedDict):
    """A turn of a conversation."""

    role: str
    content: Any


class _Model(BaseModel):
    model_config = ConfigDict(extra="allow", protected_namespaces=())


class Detail(_Model):
    """One thing that is wrong with a schema, a grammar or a document, or that was not enforced."""

    pointer: str = ""
    keyword: str = ""
    reason: str = ""
    hint: str = ""
    line: int = 0
    column: int = 0


class Pressure(_Model):
    """The share of probability, 0 to 1, that masks took from the model."""

    mean: float = 0
    max: float = 0
    at: str = ""


class Receipt(_Model):
    """What of a constraint was enforced, and how."""

    type: str
    hash: str
    enforced: list[str] = []
    checked: list[Detail] = []
    ignored: list[Detail] = []
    validated: bool
    forced_tokens: int = 0
    tokens_saved: int = 0
    budget_closed: bool = False
    shortened: list[str] = []
    tries: int = 1
    pressure: Pressure = Pressure()


class Field(_Model):
    """What is known of a value in a document: the model's confidence and, of enums and booleans, all probabilities."""

    confidence: float
    alternatives: Optional[dict[str, float]] = None


class Usage(_Model):
    """Tokens."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_tokens: int = 0


class Answer(_Model, Generic[T]):
    """A generated text; value is the document in it, as the type that was asked for."""

    value: T
    model: str
    text: str
    finish_reason: str
    seed: int = 0
    receipt: Optional[Receipt] = _Field(default=None)
    fields: dict[str, Field] = {}
    usage: Usage = Usage()
    warnings: list[str] = []


class Event(_Model, Generic[T]):
    """A part of a streamed answer. One of token, pointer and answer is set."""

    token: Optional[str] = None
    pointer: Optional[str] = None  # of a field that is complete; "": the whole document
    value: Any = None
    confidence: Optional[float] = None
    answer: Optional[Answer[T]] = None


class Check(_Model):
    """What the server makes of a schema or grammar."""

    ok: bool
    errors: list[Detail] = []
    warnings: list[Any] = []
    enforced: list[str] = []
    checked: list[Detail] = []
    shortest: Any = None


class Validation(_Model):
    """Whether a text fits a schema; incomplete: it is the beginning of one that could."""

    valid: bool
    errors: list[Detail] = []
    incomplete: bool = False


class StencilError(Exception):
    """A refusal by the server. code is one of docs/reference/errors.md."""

    def __init__(self, message: str, code: str = "unknown", status: int = 0, param: Optional[str] = None,
                 details: Optional[list[Detail]] = None, minimum: int = 0):
        super().__init__(f"{code}: {message}")
        self.message, self.code, self.status, self.param = message, code, status, param
        self.details, self.minimum = details or [], minimum
