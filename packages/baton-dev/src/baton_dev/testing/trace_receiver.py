"""A trace receiver takes what a process exports by OTLP over HTTP, and keeps the spans."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@dataclass(frozen=True)
class Span:
    """A part of a trace: what one process did in one stretch."""

    name: str
    service: str
    trace_id: str
    span_id: str
    parent_id: str
    seconds: float
    links: tuple[str, ...]  # the traces that it is linked to
    error: str
    event_count: int


class TraceReceiver(ThreadingHTTPServer):
    """The server; ``url`` is what OTEL_EXPORTER_OTLP_ENDPOINT is to be."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def but_for_publishing(self) -> list[Span]:
        """Return the spans but for those that came of making the messages."""
        return [span for span in self.spans if not span.name.startswith("publish ")]

    def way_to(self, name: str) -> list[Span]:
        """Return the span of that name and what it came of, up to the first."""
        by_id = {span.span_id: span for span in self.spans}
        way = [next(span for span in self.spans if span.name == name)]
        while way[-1].parent_id:
            way.append(by_id[way[-1].parent_id])
        return way

    def names(self) -> set[str]:
        return {span.name for span in self.spans}

    def keep(self, body: bytes) -> None:
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            (service,) = [one.value.string_value for one in resource.resource.attributes if one.key == "service.name"]
            for scope in resource.scope_spans:
                self.spans += [
                    Span(
                        span.name,
                        service,
                        span.trace_id.hex(),
                        span.span_id.hex(),
                        span.parent_span_id.hex(),
                        (span.end_time_unix_nano - span.start_time_unix_nano) / 1e9,
                        tuple(link.trace_id.hex() for link in span.links),
                        span.status.message,
                        len(span.events),
                    )
                    for span in scope.spans
                ]


class Handler(BaseHTTPRequestHandler):
    """One request."""

    def do_POST(self) -> None:
        assert isinstance(self.server, TraceReceiver)
        assert self.path == "/v1/traces"
        self.server.keep(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_args: Any) -> None:
        pass


@contextmanager
def trace_receiver() -> Iterator[TraceReceiver]:
    """Run a receiver."""
    with TraceReceiver() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()
