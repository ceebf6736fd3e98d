"""Models as programs have them, for TestPydantic.

models.py schemas   prints a line for each model: {"name", "schema"}, the schema from model_json_schema()
models.py validate  reads lines {"name", "text"} and has the model validate each text; prints what it refuses
"""

import dataclasses
import datetime as dt
import decimal
import enum
import ipaddress
import json
import sys
import uuid
from typing import Annotated, Any, Generic, Literal, NamedTuple, Optional, TypeVar, Union

from pydantic import (
    UUID4,
    AliasChoices,
    AnyUrl,
    AwareDatetime,
    Base64Bytes,
    Base64UrlBytes,
    BaseModel,
    ConfigDict,
    Discriminator,
    EmailStr,
    Field,
    HttpUrl,
    NaiveDatetime,
    NonNegativeFloat,
    PositiveInt,
    RootModel,
    SecretStr,
    StrictBool,
    StrictInt,
    StringConstraints,
    Tag,
    TypeAdapter,
    WithJsonSchema,
    conint,
    conlist,
    constr,
)
from pydantic.alias_generators import to_camel
from pydantic.dataclasses import dataclass as pydantic_dataclass
from typing_extensions import NotRequired, TypeAliasType, TypedDict

T = TypeVar("T")
K = TypeVar("K")


# Where Pydantic's own schema says less than it validates, these say more: a decimal is "a number or any string" there, an
# address of the web any URI, and a mail address one that needs no dot. docs/schemas-from-types.md has the list.
Amount = Annotated[decimal.Decimal, WithJsonSchema({"type": "number"})]
Mail = Annotated[EmailStr, WithJsonSchema({"type": "string", "pattern": r"^[a-z0-9]{1,20}(\.[a-z0-9]{1,20})?@[a-z]{1,20}\.(com|org)$"})]
Link = Annotated[HttpUrl, WithJsonSchema({"type": "string", "pattern": r"^https://[a-z]{1,20}\.(com|org)(/[a-z0-9-]{0,20}){0,4}$"})]
Local = Annotated[
    NaiveDatetime,
    WithJsonSchema({"type": "string", "pattern": r"^20\d\d-(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d$"}),
]


def priced(digits: int, pattern: str):
    return Annotated[decimal.Decimal, Field(max_digits=digits, decimal_places=2), WithJsonSchema({"type": "string", "pattern": pattern})]


class Color(enum.Enum):
    RED = "red"
    GREEN = "green"
    DARK_BLUE = "dark blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 3


class Mixed(enum.Enum):
    ONE = 1
    TWO = "two"
    NO = False


class Person(BaseModel):
    name: str = Field(min_length=1, max_length=40, description="full name")
    age: Annotated[int, Field(ge=0, le=150)]
    email: Mail | None = None


class Address(BaseModel):
    model_config = ConfigDict(extra="forbid")
    street: str
    city: str
    postcode: Annotated[str, StringConstraints(pattern=r"^[A-Z]{1,2}\d{1,2} \d[A-Z]{2}$")]
    country: Literal["GB", "IE"] = "GB"


class Customer(Person):
    model_config = ConfigDict(extra="forbid", title="A customer")
    addresses: list[Address] = Field(default_factory=list, max_length=3)
    favourite: Color = Color.RED
    level: Level


class Money(BaseModel):
    amount: priced(8, r"^-?\d{1,6}\.\d{2}$")
    currency: Literal["EUR", "USD"]


class Ledger(BaseModel):
    balance: Amount
    limit: Annotated[decimal.Decimal, Field(ge=0, le=1000), WithJsonSchema({"type": "number", "minimum": 0, "maximum": 1000})]
    rates: dict[str, Amount] = {}


class Event(BaseModel):
    day: dt.date
    start: dt.time
    created: dt.datetime
    length: dt.timedelta


class Stamps(BaseModel):
    local: Local
    world: AwareDatetime
    days: list[dt.date] = []


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: conint(ge=0, le=9)


class Dog(BaseModel):
    kind: Literal["dog", "puppy"]
    tricks: set[str] = set()


class Bird(BaseModel):
    kind: Literal["bird"]
    wingspan: NonNegativeFloat


class Owner(BaseModel):
    pet: Annotated[Union[Cat, Dog, Bird], Field(discriminator="kind")]
    others: list[Annotated[Union[Cat, Dog], Field(discriminator="kind")]] = []


class Nested(BaseModel):
    inner: Annotated[Union[Annotated[Union[Cat, Dog], Field(discriminator="kind")], Bird], Field(discriminator="kind")]


def shape_of(v: Any) -> str:
    return v.get("shape", "circle") if isinstance(v, dict) else v.shape


class Circle(BaseModel):
    shape: Literal["circle"] = "circle"
    radius: float


class Square(BaseModel):
    shape: Literal["square"]
    side: float


class Drawing(BaseModel):
    shape: Annotated[Union[Annotated[Circle, Tag("circle")], Annotated[Square, Tag("square")]], Discriminator(shape_of)]


class Loose(BaseModel):
    value: int | str | list[int] | None
    either: Union[Person, Address]
    number: Union[StrictInt, float, StrictBool]


class LeftToRight(BaseModel):
    id: Annotated[Union[int, uuid.UUID, str], Field(union_mode="left_to_right")]


class Node(BaseModel):
    value: int
    left: Optional["Node"] = None
    right: Optional["Node"] = None


class Folder(BaseModel):
    name: str
    entries: list[Union["Folder", "File"]] = []


class File(BaseModel):
    name: str
    size: int = Field(ge=0)
    in_: Folder | None = Field(default=None, alias="in")


class Page(BaseModel, Generic[T]):
    items: list[T]
    total: PositiveInt
    next: str | None = None


class Pair(BaseModel, Generic[K, T]):
    key: K
    value: T


class Response(BaseModel, Generic[T]):
    data: T | None = None
    error: str | None = None


class Camel(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=False, extra="forbid")
    first_name: str
    last_name: str
    date_of_birth: dt.date | None = None


class Aliased(BaseModel):
    identifier: int = Field(validation_alias="@id")
    kind: str = Field(validation_alias=AliasChoices("@type", "kind"))
    from_: str = Field(alias="from", serialization_alias="sender")


class Network(BaseModel):
    v4: ipaddress.IPv4Address
    v6: ipaddress.IPv6Address
    net: ipaddress.IPv4Network | None = None
    host: ipaddress.IPv4Interface | None = None
    id: uuid.UUID
    four: UUID4


class Web(BaseModel):
    home: Link
    any: Annotated[AnyUrl, WithJsonSchema({"type": "string", "pattern": "^(urn:[a-z]{1,9}:[a-z0-9]{1,9}|mailto:[a-z]{1,9})$"})] | None = None
    mail: Mail
    password: SecretStr


class Blob(BaseModel):
    data: bytes
    encoded: Base64Bytes
    url: Base64UrlBytes | None = None


class Limits(BaseModel):
    a: int = Field(gt=3, lt=30, multiple_of=3)
    b: float = Field(gt=0, le=1)
    c: float = Field(multiple_of=0.5, ge=-2, le=2)
    d: conlist(int, min_length=2, max_length=4)
    e: constr(strip_whitespace=True, to_lower=True, max_length=5)
    f: Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=1)]


class Tuples(BaseModel):
    pair: tuple[int, str]
    many: tuple[int, ...]
    empty: tuple[()] = ()
    nested: tuple[tuple[float, float], Color]


class Point(NamedTuple):
    x: float
    y: float
    label: str = ""


class Path(BaseModel):
    points: list[Point]
    closed: bool = False


class Sets(BaseModel):
    tags: frozenset[str] = Field(max_length=3)
    ids: set[int] = Field(min_length=1)
    colors: set[Color] = set()


class Maps(BaseModel):
    by_name: dict[str, int]
    by_number: dict[int, bool] = {}
    by_color: dict[Color, list[int]] = {}
    by_pattern: dict[Annotated[str, StringConstraints(pattern="^[a-z]{2}$")], float] = {}
    free: dict[str, Any] = {}


class Movie(TypedDict):
    title: str
    year: NotRequired[int]


class Library(BaseModel):
    movies: list[Movie]


@dataclasses.dataclass
class Plain:
    x: int
    y: int = 3


@pydantic_dataclass
class Checked:
    name: str
    plain: Plain


class WithDataclasses(BaseModel):
    plain: Plain
    checked: Checked | None = None


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, int] = Field(init=False)
    id: int


class AnyOpen(BaseModel):
    model_config = ConfigDict(extra="allow")
    id: int


class Enums(BaseModel):
    color: Color
    level: Level
    mixed: Mixed
    literal: Literal[1, "two", True, None]


class Numbers(RootModel[list[float]]):
    pass


class Tree(RootModel[dict[str, "Tree"]]):
    pass


JsonValue = TypeAliasType("JsonValue", "Union[list[JsonValue], dict[str, JsonValue], str, bool, int, float, None]")


class Anything(BaseModel):
    value: JsonValue
    whatever: Any = None


class Employee(BaseModel):
    name: str
    boss: Optional["Employee"] = None
    team: Optional["Team"] = None


class Team(BaseModel):
    members: list[Employee] = []
    lead: Employee | None = None


class Described(BaseModel):
    """A model with all that may stand beside a type."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"id": 1, "name": "Ann"}]})
    id: int = Field(title="Identifier", description="Unique.", examples=[1, 2], deprecated=True)
    name: str = Field(default="Ann", json_schema_extra={"x-order": 2})
    secret: Optional[str] = Field(default=None, repr=False, exclude=True)


class Expression(BaseModel):
    op: Literal["+", "-", "neg"]
    args: list[Union["Expression", float]] = Field(min_length=1, max_length=2)


class Message(BaseModel):
    role: Literal["user", "assistant", "tool"]
    content: Union[str, list[Annotated[Union["TextPart", "ImagePart"], Field(discriminator="type")]]]


class TextPart(BaseModel):
    type: Literal["text"]
    text: str


class ImagePart(BaseModel):
    type: Literal["image"]
    url: Link
    detail: Literal["low", "high"] | None = None


class Invoice(BaseModel):
    model_config = ConfigDict(extra="forbid")
    number: Annotated[str, StringConstraints(pattern=r"^INV-\d{4}-\d{3,5}$")]
    issued: dt.date
    due: dt.date | None = None
    customer: Customer
    lines: Annotated[list["Line"], Field(min_length=1)]
    total: Money


class Line(BaseModel):
    model_config = ConfigDict(extra="forbid")
    sku: Annotated[str, StringConstraints(min_length=3, max_length=8, pattern="^[A-Z0-9]+$")]
    quantity: PositiveInt
    price: priced(8, r"^[1-9]\d{0,5}\.\d{2}$")
    discount: Annotated[float, Field(ge=0, lt=1)] | None = None


class Ticket(BaseModel):
    id: uuid.UUID
    status: Literal["open", "closed"] = "open"
    priority: Level = Level.LOW
    reporter: Person
    watchers: list[Mail] = []
    history: list["Change"] = []


class Change(BaseModel):
    at: AwareDatetime
    field: str
    before: str | int | None
    after: str | int | None


MODELS = [
    Person, Address, Customer, Money, Ledger, Event, Stamps, Owner, Nested, Drawing, Loose, LeftToRight, Node, Folder, File,
    Page[Person], Page[Union[int, Color]], Pair[str, list[Money]], Response[Page[Address]], Camel, Aliased, Network, Web, Blob,
    Limits, Tuples, Path, Sets, Maps, Library, WithDataclasses, Open, AnyOpen, Enums, Numbers, Tree, Anything, Employee, Team,
    Described, Expression, Message, Invoice, Line, Ticket,
]
ADAPTERS = {"list[Owner]": TypeAdapter(list[Owner]), "Movie": TypeAdapter(Movie), "Checked": TypeAdapter(Checked)}


def adapters():
    for model in MODELS:
        yield model.__name__, model.model_json_schema(), model.model_validate_json
    for name, adapter in ADAPTERS.items():
        yield name, adapter.json_schema(), adapter.validate_json


def main() -> None:
    if sys.argv[1] == "schemas":
        for name, schema, _ in adapters():
            print(json.dumps({"name": name, "schema": schema}))
        return
    validators = {name: validate for name, _, validate in adapters()}
    for line in sys.stdin:
        case = json.loads(line)
        try:
            validators[case["name"]](case["text"])
        except Exception as e:  # every reason counts, those of libraries below Pydantic among them
            print(json.dumps({"name": case["name"], "text": case["text"], "error": str(e)}))


if __name__ == "__main__":
    main()
