"""What the reconciler cannot repair: a change without its message, an inbox row without an effect."""

from collections.abc import Iterator

from baton_messaging.diagnosis.doctor.lines import Line, judged
from baton_messaging.diagnosis.doctor.register import DATABASE, examines
from baton_messaging.recovery import findings

WHAT, WANTED = "rows and their messages", "none that contradict each other"


@examines(WHAT, needs=(DATABASE,))
def examine_rows() -> Iterator[Line]:
    """Run the checks that apps have registered with the reconciler."""
    found = findings()
    for one in found:
        examples = ", ".join(one.examples)
        yield judged(
            False,
            WHAT,
            found=f"{one.what}: {one.count} (as {examples})",
            wanted=WANTED,
            remedy=one.remedy,
            owner=one.owner,
        )
    if not found:
        yield judged(True, WHAT, found="no contradiction", wanted=WANTED, remedy="")
