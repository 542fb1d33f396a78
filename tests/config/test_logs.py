"""What comes from outside ends no line of a log and moves no cursor, whatever logger it goes through."""

import io
import logging
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import structlog
from django.test import Client

from config.logs import LOGGING, formatter, spelled_out

HOSTILE = "x\r\n\x1b]0;\x07\x9b2J\u2028\u2029\x85\u202eforged\u2066\x00"
LOGGERS = [
    "",
    "django.request",
    "django.security",
    "django.server",
    "celery.worker",
    "kombu",
    "gunicorn.error",
    "tornado",
]


@pytest.fixture
def output() -> Iterator[io.StringIO]:
    """What the formatter writes, of all that reaches the root."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(formatter())
    logging.getLogger().addHandler(handler)
    yield stream
    logging.getLogger().removeHandler(handler)


def lines(output: io.StringIO) -> list[str]:
    written = output.getvalue()
    assert written.endswith("\n")
    return written[:-1].split("\n")


@pytest.mark.parametrize("name", LOGGERS)
def test_a_line_of_any_logger_stays_one_printable_line(output: io.StringIO, name: str) -> None:
    logging.getLogger(name).error("Not Found: %s", HOSTILE)

    (line,) = lines(output)
    assert line.isprintable()
    assert r"\x1b]0;" in line.replace("\\\\", "\\")


def test_a_lone_surrogate_is_spelled_out() -> None:
    # Formatted past the loggers: pytest would hand it to its main process, which takes no such text.
    record = logging.makeLogRecord({"msg": "Not Found: %s", "args": ("x\ud800",), "levelname": "ERROR"})
    line = formatter().format(record)
    assert line.isprintable()
    assert r"\ud800" in line.replace("\\\\", "\\")


def test_every_field_of_an_event_is_spelled_out(output: io.StringIO) -> None:
    structlog.get_logger("a").error(HOSTILE, path=HOSTILE, parts=[HOSTILE], error=ValueError(HOSTILE), count=7)

    (line,) = lines(output)
    assert line.isprintable()
    assert "count=7" in line


def test_a_traceback_is_there_and_its_message_spelled_out(output: io.StringIO) -> None:
    try:
        int(HOSTILE)
    except ValueError:
        logging.getLogger("django.request").exception("broken: %s", HOSTILE)

    assert all(line.isprintable() for line in lines(output))
    assert "Traceback (most recent call last)" in output.getvalue()
    assert "test_logs.py" in output.getvalue()


PRODUCTION = """
import logging, logging.config
from config.logs import LOGGING, configure_structlog
import structlog
logging.config.dictConfig(LOGGING)
configure_structlog()
secret = "jane@example.com"
for log in (logging.getLogger("django.request"), logging.getLogger("celery.x"), structlog.get_logger("own")):
    try:
        raise ValueError("one\\ntwo\\x1b[2J")
    except ValueError:
        log.exception("broken")
"""


def test_in_production_a_traceback_is_one_field_of_one_line() -> None:
    environment = {"DJANGO_DEBUG": "", "DJANGO_SECRET_KEY": "0123456789" * 6, "PATH": ""}

    shown = subprocess.run(
        [sys.executable, "-c", PRODUCTION], env=environment, capture_output=True, text=True, check=True
    )

    written = shown.stderr.splitlines()
    assert len(written) == 3
    for line in written:
        assert line.isprintable()
        assert 'exception="Traceback (most recent call last):\\n' in line
        assert "jane@example.com" not in line


def test_django_prints_nothing_twice() -> None:
    handlers: dict[str, Any] = LOGGING["loggers"]
    assert handlers["django"]["handlers"] == handlers["django.server"]["handlers"] == []


def test_no_logger_has_a_handler_beside_the_roots(db: None) -> None:
    Client().get("/nowhere\x1b")
    named = [logging.getLogger(name) for name in logging.root.manager.loggerDict]
    with_handlers = {
        logger.name
        for logger in named
        if [handler for handler in logger.handlers if not isinstance(handler, logging.NullHandler)]
    }
    assert with_handlers <= {"gunicorn.error", "gunicorn.access"}  # config/web/server_log.py


@pytest.mark.parametrize("text", ["", "plain", "東京 Łódź", 'quotes " and \\'])
def test_what_is_printable_stays_as_it_is(text: str) -> None:
    assert spelled_out(text) == text
