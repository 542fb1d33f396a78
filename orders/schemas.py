"""The JSON of orders, as the OpenAPI document shows it. A stable public surface: scripts hold on to these names.

Input is strict: no number is read from a string or a float, no unknown field is ignored, no text may hold control
characters. Output holds no personal data, because an order's address is all that it takes to read it.
"""

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Literal
from uuid import UUID

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError

from orders import requests
from orders.plain_text import is_plain_line, names_an_address
from orders.requests import OrderRequest, RequestedLine

_EXAMPLE_LINES = [{"sku": "MUG-STONE", "quantity": 2}]


def _plain_line(text: str) -> str:
    if not is_plain_line(text):
        raise PydanticCustomError("control_characters", "Expected one line without control characters.")
    return text.strip()


def _not_blank(text: str) -> str:
    if not text:
        raise PydanticCustomError("blank", "Expected some text, got only blanks.")
    return text


def _no_address(text: str) -> str:
    if names_an_address(text):
        raise PydanticCustomError("address", "Expected a name, got the address of a page (://).")
    return text


def _email_address(text: str) -> str:
    try:
        validate_email(text)
    except ValidationError:
        raise PydanticCustomError("email", "Expected an e-mail address such as ann@example.com.") from None
    return text


def _ascii_printable(key: str) -> str:
    if not (key.isascii() and key.isprintable()):
        raise PydanticCustomError("key_characters", "Expected printable ASCII characters.")
    return key


def _each_sku_once(lines: "list[LineIn]") -> "list[LineIn]":
    if len({line.sku for line in lines}) != len(lines):
        raise PydanticCustomError("sku_twice", "Expected each sku once, got one twice. Add the quantities up.")
    return lines


Line = Annotated[str, AfterValidator(_plain_line)]
Text = Annotated[Line, AfterValidator(_not_blank)]
IdempotencyKey = Annotated[
    str, Field(min_length=1, max_length=requests.MAX_IDEMPOTENCY_KEY_LENGTH), AfterValidator(_ascii_printable)
]


class _Input(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class LineIn(_Input):
    """One product and how many of it."""

    sku: Annotated[Text, Field(max_length=requests.MAX_SKU_LENGTH)]
    quantity: Annotated[int, Field(strict=True, ge=1, le=requests.MAX_QUANTITY)]


class OrderIn(_Input):
    """An order to place."""

    customer_name: Annotated[
        Text, Field(max_length=requests.MAX_NAME_LENGTH, examples=["Ann Example"]), AfterValidator(_no_address)
    ]
    customer_email: Annotated[
        Text,
        Field(
            max_length=requests.MAX_EMAIL_LENGTH, examples=["ann@example.com"], json_schema_extra={"format": "email"}
        ),
        AfterValidator(_email_address),
    ]
    language: Annotated[Literal["en", "ja"], Field(description="The language of the mails.")] = "en"
    note: Annotated[Line, Field(max_length=requests.MAX_NOTE_LENGTH)] = ""
    lines: Annotated[
        list[LineIn],
        Field(min_length=1, max_length=requests.MAX_LINES, examples=[_EXAMPLE_LINES]),
        AfterValidator(_each_sku_once),
    ]

    def to_request(self) -> OrderRequest:
        """Return the request as the service takes it."""
        return OrderRequest(
            customer_name=self.customer_name,
            customer_email=self.customer_email,
            language=self.language,
            note=self.note,
            lines=tuple(RequestedLine(line.sku, line.quantity) for line in self.lines),
        )


Status = Literal["accepted", "confirmed", "rejected", "cancelled"]


class OrderAnswer(BaseModel):
    """What a command answers: where to look for what comes of it."""

    order_id: UUID
    status: Status
    status_url: str


class PlacedAnswer(OrderAnswer):
    """What placing answers, and nothing else does: also how to cancel. Whoever has the token may."""

    cancel_token: str
    cancel_url: str


class ProductOut(BaseModel):
    """A product on sale."""

    model_config = ConfigDict(from_attributes=True)

    sku: str
    name: str
    name_ja: str
    price: Decimal
    currency: str


class LineOut(BaseModel):
    """One product of an order, at the price of then."""

    sku: str
    quantity: int
    unit_price: Decimal
    currency: str


class ConsumerOut(BaseModel):
    """What one consumer has done with the order so far, and who answers for it."""

    model_config = ConfigDict(from_attributes=True)

    consumer: str
    state: Literal["waiting", "queued", "retrying", "done", "dead"]
    attempts: int
    owner: str
    updated_at: datetime
    next_attempt_at: datetime | None
    error: str | None


class OrderOut(BaseModel):
    """How far an order got."""

    order_id: UUID
    status: Status
    needs_attention: bool
    placed_at: datetime
    lines: list[LineOut]
    consumers: list[ConsumerOut]


class FieldError(BaseModel):
    """One thing that is wrong with a request. ``field`` is a path such as ``lines.0.quantity``."""

    field: str
    code: str
    message: str


class Problem(BaseModel):
    """Why a request was refused. Nothing was written. ``errors`` is empty when no single field is to blame."""

    detail: str
    errors: list[FieldError]
