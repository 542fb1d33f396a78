"""Give out the file of an export that is ready: as a download, whole or in part.

Whether the person may have it has been decided before (``visible_to``). The path is the row's own, the name that the
person sees is made of the export's dates: nothing of either comes from the request.

*Source*: RFC 9110, section 14 (Range, If-Range, 206, 416); RFC 6266 (Content-Disposition).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from http import HTTPStatus
from typing import IO, Any
from urllib.parse import quote

import structlog
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils import translation
from django.utils.translation import gettext as _

from orders.exports.files import open_file
from orders.exports.formats import format_of
from orders.exports.models import Export
from orders.exports.selection import Selection

log = structlog.get_logger(__name__)

BLOCK_BYTES = 256 * 1024  # read and sent at a time
_ONE_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII)


@dataclass(frozen=True)
class Part:
    """Bytes ``first`` to ``last`` of a file, both included."""

    first: int
    last: int

    @property
    def length(self) -> int:
        """Return the number of bytes."""
        return self.last - self.first + 1


class NotSatisfiable(Exception):
    """The range begins after the end of the file."""


def download_response(request: HttpRequest, export: Export) -> HttpResponseBase:
    """Answer with the file: 200, 206 for one range, 416. Raises Http404 when the storage has lost it, StorageFailed."""
    size = export.size_bytes or 0
    try:
        part = requested_part(request, size=size, etag=_etag(export))
    except NotSatisfiable:
        response: HttpResponseBase = HttpResponse(status=HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE)
        response["Content-Range"] = f"bytes */{size}"
        return response
    response = _stream(request, export, part or Part(0, size - 1))
    if part is not None:
        response.status_code = HTTPStatus.PARTIAL_CONTENT
        response["Content-Range"] = f"bytes {part.first}-{part.last}/{size}"
    return response


def requested_part(request: HttpRequest, *, size: int, etag: str) -> Part | None:
    """Return the range asked for, or None for the whole file: also for several ranges, or of another file."""
    match = _ONE_RANGE.fullmatch(request.headers.get("Range", "").strip())
    if match is None or match[1] == match[2] == "" or request.headers.get("If-Range", etag) != etag:
        return None
    if match[1] == "":  # the last so many bytes
        if int(match[2]) == 0:
            raise NotSatisfiable
        return Part(max(0, size - int(match[2])), size - 1)
    first, last = int(match[1]), int(match[2]) if match[2] else size - 1
    if match[2] and last < first:
        return None
    if first >= size:
        raise NotSatisfiable
    return Part(first, min(last, size - 1))


def download_name(export: Export) -> str:
    """Return what the file is called on the person's disk, in the export's language."""
    selection = Selection.model_validate(export.selection)
    with translation.override(export.language):
        name = _("orders")
    days = [str(day) for day in (selection.from_day, selection.to_day) if day]
    made_on = [] if days else [f"{export.created_at:%Y-%m-%d}"]
    return "_".join([name, *days, *made_on, export.reference]) + f".{export.format}"


def _stream(request: HttpRequest, export: Export, part: Part) -> HttpResponseBase:
    try:
        file = open_file(export)
    except FileNotFoundError as error:
        log.exception("export_file_lost", export_id=str(export.pk), file_name=export.file_name)
        raise Http404 from error
    if request.method == "HEAD":
        file.close()
        response: HttpResponseBase = HttpResponse()
    else:
        response = StreamingHttpResponse(_blocks(file, part))
        response._resource_closers.append(file.close)  # type: ignore[attr-defined]  # as FileResponse does
    response["Content-Type"] = format_of(export.format).content_type
    response["Content-Length"] = str(part.length)
    response["Content-Disposition"] = _disposition(export)
    response["Accept-Ranges"] = "bytes"
    response["ETag"] = _etag(export)
    response["Cache-Control"] = "private, no-store"
    response["X-Content-Type-Options"] = "nosniff"
    return response


def _blocks(file: IO[Any], part: Part) -> Iterator[bytes]:
    file.seek(part.first)
    left = part.length
    while left and (block := file.read(min(BLOCK_BYTES, left))):
        left -= len(block)
        yield block


def _disposition(export: Export) -> str:
    """Return both names: plain ASCII for old programs, and the real one in UTF-8."""
    plain = f"orders_{export.reference}.{export.format}"
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(download_name(export), safe='')}"


def _etag(export: Export) -> str:
    return f'"{export.pk}-{export.attempt_count}"'
