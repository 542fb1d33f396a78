"""An examination asks all views while a fault is there, and compares their answers with the truth."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from baton_dev.blame.catalogue import Fault, Question
from baton_dev.blame.client import Client, Said
from baton_dev.blame.comparison import (
    Mark,
    Opinion,
    in_time,
    of_dead_letters,
    of_findings,
    of_life,
    of_progress,
    of_reconciler,
    of_stuck_list,
    of_triage,
)
from baton_dev.blame.stack import Stack

COLUMNS = ("triage", "stuck", "progress", "doctor", "board", "desk", "alert", "reconciler", "alive")


@dataclass(frozen=True)
class Result:
    """What the views said of one fault. ``broke``: it could not be injected, so that none was asked."""

    fault: Fault
    expected: str
    opinions: tuple[Opinion, ...] = ()
    broke: str = ""

    @property
    def wrong(self) -> str:
        """Return what is wrong with the answers; empty if nothing is."""
        return self.broke or "; ".join(str(opinion) for opinion in self.opinions if not opinion.is_right)

    def row(self) -> tuple[str, ...]:
        """Return the fault's row of the table."""
        answered = next((opinion.said for opinion in self.opinions if opinion.view == "triage"), "")
        slowest = max((opinion.seconds for opinion in self.opinions), default=0.0)
        marks = [self._mark_of(column) for column in COLUMNS]
        return (self.fault.name, self.expected, answered, *marks, f"{slowest:.1f}", self.wrong)

    def _mark_of(self, column: str) -> str:
        """Return the worst mark of a view: `alive` is asked about several processes."""
        marks = [opinion.mark for opinion in self.opinions if opinion.view.partition(" ")[0] == column]
        return next((str(mark) for mark in (Mark.WRONG, Mark.PARTLY, Mark.RIGHT) if mark in marks), str(Mark.SILENT))


def examine(fault: Fault, stack: Stack, client: Client, *, patience: float = 1.0) -> Result:
    """Inject the fault, ask each view once, heal it. ``patience``: of a busy machine, a factor of all limits."""
    expected = f"{' or '.join(fault.truth.states_on(stack))} · {fault.truth.owner}"
    try:
        with fault.inject(stack) as question:
            return Result(fault, expected, tuple(_opinions(fault, question, stack, client, patience)))
    except Exception as error:  # of the injection: one fault must not hide the others
        return Result(fault, expected, broke=f"{type(error).__name__}: {str(error)[:300]}")


def _opinions(fault: Fault, question: Question, stack: Stack, client: Client, patience: float) -> Iterator[Opinion]:
    """Ask triage first: what the others ask takes seconds, in which a message goes on."""
    truth = fault.truth
    said = client.ask("triage", question.id)
    yield in_time(of_triage(said, question, truth, stack), said.seconds, patience=patience)
    said = client.ask("stuck")
    yield in_time(of_stuck_list(said, question, truth), said.seconds, patience=patience)
    said = client.ask("progress", question.id)
    yield _of_rows(of_progress(said, question, truth, stack), said, patience)
    for view in ("board", "doctor"):
        said = client.ask(view)
        yield in_time(of_findings(view, said, truth, stack), said.seconds, patience=patience)
    for view in ("desk", "alert"):
        said = client.ask(view, question.id)
        yield _of_rows(of_dead_letters(view, said, question, truth), said, patience)
    said = client.ask("reconciler")
    yield in_time(of_reconciler(said, question, truth, stack), said.seconds, patience=patience)
    for name in dict.fromkeys((*truth.alive, *truth.victims_in(stack))):
        if stack.parts[name].beats:
            said = client.ask("alive", *stack.words_of_alive(name))
            yield in_time(of_life(name, said, truth, stack), said.seconds, patience=patience)


def _of_rows(opinion: Opinion, said: Said, patience: float) -> Opinion:
    """Return what a page of rows says: without its database it waits as long as connect_timeout says, and fails."""
    return opinion if said.error else in_time(opinion, said.seconds, patience=patience)


def table(results: Iterable[Result]) -> str:
    """Return the results as a table."""
    rows = [("fault", "expected", "answered", *COLUMNS, "s", ""), *(result.row() for result in results)]
    widths = [min(60, max(len(row[column]) for row in rows)) for column in range(len(rows[0]) - 1)]
    return "\n".join("  ".join([*map(_fit, row[:-1], widths), row[-1]]).rstrip() for row in rows)


def _fit(text: str, width: int) -> str:
    return text[: width - 1] + "…" if len(text) > width else text.ljust(width)
