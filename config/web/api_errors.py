"""The JSON API refuses everything in one shape: unreadable bodies, wrong fields, unknown addresses.

A refusal is ``{"detail": sentence, "errors": [{"field", "code", "message"}, …]}``; ``errors`` is empty when no single
field is to blame. Texts name the field and the rule, never the value that was sent.
"""

import json
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any, NoReturn

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from ninja import NinjaAPI, Router
from ninja.errors import HttpError, ValidationError
from ninja.parser import Parser

MAX_SHOWN_ERRORS = 20  # a request with a thousand faults needs no megabyte of answer
MAX_FIELD_LENGTH = 100  # characters; the names of unknown fields are the sender's, so they can be any length
RETRY_SECONDS = 30  # after which asking again makes sense, where "not now" is the answer
_LATER = {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE}


class UnsupportedContentType(ValueError):
    """The body is announced as something else than JSON."""

    def __init__(self, content_type: str) -> None:
        super().__init__(f"Expected Content-Type: application/json, got {content_type[:100] or 'none'}.")


class JSONParser(Parser):
    """Reads JSON as its standard has it: announced as JSON, without NaN and Infinity."""

    def parse_body(self, request: HttpRequest) -> Any:
        """Return the decoded body. ninja turns whatever is raised here into an HttpError that names it as its cause."""
        if request.content_type != "application/json":
            raise UnsupportedContentType(request.content_type or "")
        return json.loads(request.body, parse_constant=_refuse_constant)


def refuse_in_one_shape(api: NinjaAPI) -> None:
    """Let the API answer its refusals in the shape above, also those of addresses that no other router has.

    To be called when all routers are added: the last one takes every address that is left.
    """
    api.exception_handler(ValidationError)(refuse_invalid)
    api.exception_handler(HttpError)(refuse)
    api.exception_handler(Http404)(refuse_unknown)
    nowhere = Router()
    methods = ["GET", "POST", "PUT", "PATCH", "DELETE"]
    nowhere.api_operation(methods, "/{path:address}", include_in_schema=False)(unknown_address)
    api.add_router("", nowhere)


def unknown_address(request: HttpRequest, address: str) -> HttpResponse:
    """Answer 404 in JSON; Django's own page would be HTML, and in debug a list of all routes."""
    raise Http404


def refuse_invalid(request: HttpRequest, error: ValidationError) -> HttpResponse:
    """Answer 422 and name each field that is wrong."""
    errors = [
        {"field": _field(item["loc"]), "code": item["type"], "message": item["msg"]}
        for item in error.errors[:MAX_SHOWN_ERRORS]
    ]
    return _refusal(422, "The request is not valid; errors names the fields.", errors)


def refuse(request: HttpRequest, error: HttpError) -> HttpResponse:
    """Answer with the error's own status; a body that could not be read says why."""
    cause = error.__cause__
    if isinstance(cause, UnsupportedContentType):
        return _refusal(415, str(cause))
    if error.status_code == HTTPStatus.BAD_REQUEST and cause is not None:
        return _refusal(400, _why_unreadable(cause))
    response = _refusal(error.status_code, error.message)
    if error.status_code in _LATER:
        response["Retry-After"] = str(getattr(error, "retry_seconds", RETRY_SECONDS))
    return response


def refuse_unknown(request: HttpRequest, error: Http404) -> HttpResponse:
    """Answer 404."""
    return _refusal(404, "There is nothing at this address.")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _why_unreadable(cause: BaseException) -> str:
    if isinstance(cause, json.JSONDecodeError):
        return f"Expected a JSON body, got a fault at line {cause.lineno}, column {cause.colno}: {cause.msg}."
    if isinstance(cause, UnicodeDecodeError):
        return f"Expected a JSON body in UTF-8, got a byte that is none at position {cause.start}."
    return "Expected a JSON body, got one that cannot be read: a constant, number or depth that JSON does not have."


def _field(location: Sequence[Any]) -> str:
    """Return the path within the request: ("body", "body", "lines", 0, "sku") is "lines.0.sku".

    ninja puts first where it looked (body, path, header …), then the parameter's name; a parameter that takes the whole
    body is called ``body`` in every operation, so that its name can be told from a field's.
    """
    source, *path = (str(part) for part in location)
    if source == "body" and path[:1] == ["body"]:
        path = path[1:]
    return (".".join(path) or source)[:MAX_FIELD_LENGTH]


def _refusal(status: int, detail: str, errors: Sequence[Any] = ()) -> HttpResponse:
    return JsonResponse({"detail": detail, "errors": list(errors)}, status=status)
