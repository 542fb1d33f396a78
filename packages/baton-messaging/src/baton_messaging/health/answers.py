"""Answers of several servers are waited for together, none longer than the deadline.

Each question is asked in a thread of its own. A thread that still waits when time is up is left behind and ends by
itself, because what it waits with has time-outs of its own; a question under the same ``key`` is not asked again while
an earlier one waits, so that a server which hangs for a night holds one thread and not thousands.

Hazard: a process that forks takes no thread along. What a thread had open then, the child must not use.
"""

import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Final, Generic, TypeVar

from django.db import connections

from baton_messaging.database.deadline import Deadline
from baton_messaging.errors import MessagingError

T = TypeVar("T")
Question = Callable[[Deadline], T]

#: What an asked function leaves of the deadline, so that what it has found arrives in time.
HAND_OVER_SECONDS: Final = 0.1
#: Waiting longer than the deadline by this is the asking machine's doing: it stood still, or had no processor to give.
STANDSTILL_SECONDS: Final = 1.0


class NoAnswer(MessagingError, TimeoutError):
    """A server has not answered in time."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"no answer within {seconds:.3g} s")


class StoodStill(MessagingError):
    """The asking process had no time of its own to hear an answer: nothing is known of the server."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"this machine or process stood still for {seconds:.3g} s")


@dataclass(frozen=True)
class Answer(Generic[T]):
    """What came back: a value or an error, and after how many seconds."""

    seconds: float
    value: T | None = None
    error: Exception | None = None


def answers_within(
    seconds: float | Mapping[str, float], questions: Mapping[str, Question[T]], *, key: str = ""
) -> dict[str, Answer[T]]:
    """Ask all questions at the same time; return an answer to each, in their order, after so many seconds at most.

    ``seconds`` may differ by question: then one that answers while another is waited for has answered.
    With a ``key`` the questions are the same whoever asks them: one that still waits is joined, not repeated.
    """
    limits = seconds if isinstance(seconds, Mapping) else dict.fromkeys(questions, seconds)
    now = monotonic()
    deadlines = {name: Deadline(now + limits[name]) for name in questions}
    threads = {
        name: _thread(f"{key}:{name}" if key else "", name, ask, deadlines[name]) for name, ask in questions.items()
    }
    overdue = {}
    for name in sorted(questions, key=limits.__getitem__):
        if threads[name].ident is not None:
            threads[name].join(deadlines[name].seconds_left)
        overdue[name] = monotonic() - deadlines[name].at
    return {name: thread.answer or _none(thread, overdue[name], limits[name]) for name, thread in threads.items()}


class _Thread(threading.Thread, Generic[T]):
    def __init__(self, name: str, ask: Question[T], deadline: Deadline) -> None:
        super().__init__(name=f"health-{name}", daemon=True)
        self._ask, self._deadline = ask, deadline
        self.started_at = monotonic()
        self.answer: Answer[T] | None = None

    def run(self) -> None:
        try:
            value = self._ask(self._deadline.earlier(HAND_OVER_SECONDS))
            self.answer = Answer(monotonic() - self.started_at, value)
        except Exception as error:  # whatever it is, who asked is told, and all other questions are answered
            self.answer = Answer(monotonic() - self.started_at, error=error)
        finally:
            connections.close_all()  # this thread's


_shared: dict[str, "_Thread[object]"] = {}
_sharing = threading.Lock()


def _forget() -> None:
    """Begin anew in a child: the threads are not there, and the lock may be held by one of them for ever."""
    global _sharing  # noqa: PLW0603 - a lock cannot be emptied
    _shared.clear()
    _sharing = threading.Lock()


os.register_at_fork(after_in_child=_forget)


def _thread(key: str, name: str, ask: Question[T], deadline: Deadline) -> _Thread[T]:
    if not key:
        return _started(_Thread(name, ask, deadline))
    with _sharing:
        waiting = _shared.get(key)
        # One that has answered and only closes its connections has nothing new to say.
        if waiting is not None and waiting.is_alive() and waiting.answer is None:
            return waiting  # type: ignore[return-value]  # a key stands for one question
        thread = _Thread(name, ask, deadline)
        _shared[key] = thread  # type: ignore[assignment]
        return _started(thread)


def _started(thread: _Thread[T]) -> _Thread[T]:
    try:
        thread.start()
    except RuntimeError as error:  # the machine lets this process have no more threads
        thread.answer = Answer(0.0, error=error)
    return thread


def _none(thread: _Thread[T], overdue: float, seconds: float) -> Answer[T]:
    waited = monotonic() - thread.started_at
    if overdue > STANDSTILL_SECONDS:
        return Answer(waited, error=StoodStill(overdue))
    return Answer(waited, error=NoAnswer(max(waited, seconds)))
