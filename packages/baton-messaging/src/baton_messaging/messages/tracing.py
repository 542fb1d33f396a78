"""A trace by OpenTelemetry leads from the request through the outbox to the last consumer, however long it waits.

The extra ``otel`` of baton-messaging, off unless OTEL_EXPORTER_OTLP_ENDPOINT is set; without it each function here
costs one comparison. ``start()`` is called in each process after it was forked: the thread that sends spans would not
survive a fork. The trace travels in the envelope (``traceparent``, *Source*: W3C Trace Context), so a message that
waits for an hour, is retried or replayed goes on in the trace it came from.

Spans hold names and ids, never payloads, and of an error its class only.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Final

import structlog
from django.conf import settings

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from baton_messaging.messages.envelope import Envelope

log = structlog.get_logger(__name__)

NAME: Final = "baton"
_provider: Any = None


def start(role: str) -> None:
    """Begin to trace in this process, if an endpoint is set and the packages are there."""
    global _provider  # noqa: PLW0603 - one per process
    endpoint = getattr(settings, "TRACING_ENDPOINT", "")  # a project without traces has no such setting
    if not endpoint or _provider is not None:
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415 - an extra
        from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
    except ImportError:
        log.warning("tracing_not_installed", remedy="Install the extra `otel` of baton-messaging.")
        return
    _provider = TracerProvider(resource=Resource.create({"service.name": f"{NAME}-{role}"}))
    exporter = OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces")
    _provider.add_span_processor(BatchSpanProcessor(exporter))


def stop() -> None:
    """Send what is left, and trace no more."""
    global _provider  # noqa: PLW0603 - as above
    if _provider is not None:
        _provider.shutdown()
        _provider = None


def request_span(method: str, path: str, *, traceparent: str) -> "AbstractContextManager[None]":
    """Cover a request of the web, as a part of the caller's trace if it sent one."""
    if _provider is None:
        return nullcontext()
    return _span(method, kind="SERVER", parent=traceparent, attributes={"url.path": path})


def publishing(name: str, *, cause: str) -> str:
    """Note that an event is published; return the ``traceparent`` that it travels with.

    ``cause`` is that of the message it follows from: it wins over what runs now, which may be a list of messages.
    """
    if _provider is None:
        return cause
    with _span(f"publish {name}", kind="PRODUCER", parent=_parent(cause)):
        return _current()


def relayed(envelopes: Iterable["Envelope"]) -> None:
    """Note that the broker has these messages: a span as long as they waited in the outbox."""
    if _provider is None:
        return
    for envelope in envelopes:
        if envelope.traceparent:
            tracer, began = _provider.get_tracer(NAME), int(envelope.occurred_at.timestamp() * 1e9)
            attributes = {"messaging.message.id": str(envelope.message_id)}
            parent = _context(envelope.traceparent)
            tracer.start_span(f"relay {envelope.name}", context=parent, start_time=began, attributes=attributes).end()


def handling(consumer: str, envelopes: Sequence["Envelope"]) -> "AbstractContextManager[None]":
    """Cover the handler's work on messages: one continues its trace, a list is a trace of its own with links."""
    if _provider is None:
        return nullcontext()
    ids = [str(envelope.message_id) for envelope in envelopes]
    traces = [envelope.traceparent for envelope in envelopes if envelope.traceparent]
    if len(envelopes) == 1:
        attributes = {"messaging.message.id": ids[0]}
        return _span(f"process {consumer}", kind="CONSUMER", parent="".join(traces), attributes=attributes)
    return _span(f"process {consumer}", kind="CONSUMER", links=traces, attributes={"messaging.message.ids": ids})


@contextmanager
def _span(name: str, *, kind: str, parent: str = "", links: Sequence[str] = (), **options: Any) -> Iterator[None]:
    from opentelemetry.trace import Link, SpanKind, Status, StatusCode, get_current_span  # noqa: PLC0415 - an extra

    linked = [Link(get_current_span(_context(link)).get_span_context()) for link in links]
    with _provider.get_tracer(NAME).start_as_current_span(
        name,
        context=_context(parent),
        kind=SpanKind[kind],
        links=linked,
        record_exception=False,
        set_status_on_exception=False,
        **options,
    ) as span:
        try:
            yield
        except BaseException as error:
            span.set_status(Status(StatusCode.ERROR, type(error).__name__))
            raise


def _parent(cause: str) -> str:
    """Return the running span if it belongs to the cause's trace, or if there is no cause; else the cause."""
    running = _current()
    return running if not cause or running[:35] == cause[:35] else cause


def _current() -> str:
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator  # noqa: PLC0415 - an extra

    carrier: dict[str, str] = {}
    TraceContextTextMapPropagator().inject(carrier)
    return carrier.get("traceparent", "")


def _context(traceparent: str) -> Any:
    from opentelemetry.context import Context  # noqa: PLC0415 - an extra
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator  # noqa: PLC0415

    return TraceContextTextMapPropagator().extract({"traceparent": traceparent}, context=Context())
