r"""The log writes one line per event, in every process: what came from outside neither ends a line nor moves a cursor.

Each value is written with its control characters spelled out (CR as ``\r``, ESC as ``\x1b``, the separators U+2028 and
U+2029, C1, the marks that turn the reading direction around, lone surrogates): whatever logger it came through, since
all end in the one formatter of ``LOGGING``. gunicorn, whose master runs without Django, has it by
``config.web.server_log``.

*Source*: CWE-117; Unicode Technical Report 36, on bidirectional text.
"""

from typing import Any, Final

import structlog
from structlog.typing import EventDict, WrappedLogger

from config.env import env

_TRACEBACK: Final = ("exception", "stack")
_PLAIN: Final = (bool, int, float, type(None))

#: What each event gets, whoever logs it.
SHARED: Final[list[Any]] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]


def spelled_out(text: str) -> str:
    r"""Return the text with everything that is not printable written as an escape.

    >>> spelled_out("GET /x\r\nlevel=error \x1b[2J\u2028\u202e東京")
    'GET /x\\r\\nlevel=error \\x1b[2J\\u2028\\u202e東京'
    """
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode() for character in text
    )


def spell_out(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Spell out each value. A traceback keeps its line ends: in debug it is laid out, else the renderer quotes them."""
    return {name: _spelled_value(name, value) for name, value in event.items()}


def _spelled_value(name: str, value: Any) -> Any:
    if isinstance(value, _PLAIN):
        return value
    if name in _TRACEBACK:
        return "\n".join(spelled_out(line) for line in str(value).split("\n"))
    return spelled_out(str(value))


def _renderer() -> Any:
    if env.DJANGO_DEBUG:
        return structlog.dev.ConsoleRenderer(colors=False, pad_event_to=20)
    return structlog.processors.LogfmtRenderer(
        key_order=["timestamp", "level", "logger", "event"], drop_missing=True, bool_as_flag=False
    )


def _processors() -> list[Any]:
    return [
        structlog.stdlib.ProcessorFormatter.remove_processors_meta,
        structlog.processors.StackInfoRenderer(),
        structlog.processors.format_exc_info,  # the standard one: it prints no local variables
        spell_out,
        _renderer(),
    ]


LOGGING: Final[dict[str, Any]] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "structured": {
            "()": structlog.stdlib.ProcessorFormatter,
            "foreign_pre_chain": SHARED,
            "processors": _processors(),
        },
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "structured"}},
    "root": {"handlers": ["stderr"], "level": "INFO"},
    "loggers": {
        # Django gives these handlers of their own, which would print each line of theirs a second time in debug.
        "django": {"handlers": [], "level": "INFO", "propagate": True},
        "django.server": {"handlers": [], "level": "INFO", "propagate": True},
        "axes": {"level": "WARNING"},  # a failed login is one line, not three
        # One line per task would drown the others; the consumer's own event says more, and no arguments.
        "celery.worker.strategy": {"level": "WARNING"},
        "celery.app.trace": {"level": "WARNING"},
    },
}


def formatter() -> structlog.stdlib.ProcessorFormatter:
    """Return the one formatter, for loggers that insist on handlers of their own."""
    return structlog.stdlib.ProcessorFormatter(foreign_pre_chain=SHARED, processors=_processors())


def configure_structlog() -> None:
    """Send structlog's events through the standard library's loggers, to the one formatter."""
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *SHARED,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
