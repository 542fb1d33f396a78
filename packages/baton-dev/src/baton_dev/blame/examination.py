"""An examination asks as an operator does, with the command, and compares the answer with the truth."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from baton_dev.blame.catalogue import Fault, Question
from baton_dev.blame.stack import Stack
from baton_dev.blame.triage_client import TriageClient

MAX_SECONDS = 5.0


@dataclass(frozen=True)
class Result:
    """What was answered to one fault, and what is wrong with that ("" if nothing)."""

    fault: Fault
    expected: str
    answered: str
    owner: str
    seconds: float
    wrong: str

    def row(self) -> tuple[str, ...]:
        verdict = "right" if not self.wrong else f"WRONG: {self.wrong}"
        return (self.fault.name, self.expected, self.answered, self.owner, f"{self.seconds:.1f}", verdict)


def examine(fault: Fault, stack: Stack, client: TriageClient) -> Result:
    """Inject the fault, ask once, heal it."""
    expected = f"{fault.expected(stack)} · {fault.owner}"
    try:
        with fault.inject(stack) as question:
            seconds, report = client.ask(question.id)
            verdict = _verdict_on(question, report)
    except Exception as error:  # of the injection: one fault must not hide the others
        return Result(fault, expected, "", "", 0, f"{type(error).__name__}: {str(error)[:300]}")
    answered, owner = verdict.get("state_text", "no verdict"), verdict.get("owner_name", "")
    return Result(fault, expected, answered, owner, seconds, _what_is_wrong(fault, stack, verdict, seconds))


def _verdict_on(question: Question, report: dict[str, Any]) -> dict[str, Any]:
    """Return the verdict on the consumer that was asked about."""
    verdicts: list[dict[str, Any]] = report["verdicts"]
    return next((found for found in verdicts if found["consumer"] == question.consumer), {})


def _what_is_wrong(fault: Fault, stack: Stack, verdict: dict[str, Any], seconds: float) -> str:
    texts = " ".join([verdict.get("state_text", ""), *verdict.get("evidence", []), *verdict.get("open_questions", [])])
    if verdict.get("state") != str(fault.expected(stack)):
        return f"the state ({texts})"
    if verdict.get("owner_name") != fault.owner:
        return f"the owner ({texts})"
    if fault.says not in texts:
        return f"nothing about {fault.says!r} ({texts})"
    return "too late" if seconds > MAX_SECONDS else ""


def table(results: Iterable[Result]) -> str:
    """Return the results as a table."""
    rows = [("fault", "expected", "answered", "owner", "s", ""), *(result.row() for result in results)]
    widths = [min(60, max(len(row[column]) for row in rows)) for column in range(5)]
    return "\n".join("  ".join([*map(_fit, row[:5], widths), row[5]]).rstrip() for row in rows)


def _fit(text: str, width: int) -> str:
    return text[: width - 1] + "…" if len(text) > width else text.ljust(width)
