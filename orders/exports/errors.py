"""Why an export is not accepted, or ends early. Texts hold ids and figures, never data of a customer."""

from uuid import UUID


class ExportRefused(Exception):
    """Not now: a limit is reached. Nothing was written."""

    code: str


class TooManyExports(ExportRefused):
    """The person has as many exports waiting or running as allowed."""

    code = "too_many_exports"

    def __init__(self, limit: int) -> None:
        super().__init__(f"Expected at most {limit} exports at a time per person. Wait for one to finish or cancel it.")
        self.limit = limit


class QueueFull(ExportRefused):
    """All people together have as many exports waiting or running as the queue takes."""

    code = "queue_full"

    def __init__(self, limit: int) -> None:
        super().__init__(f"Expected at most {limit} exports waiting or running in all. Try again in some minutes.")
        self.limit = limit


class ExportForbidden(Exception):
    """The person lacks the right. Nothing was written."""

    def __init__(self, right: str) -> None:
        super().__init__(f"Expected the permission {right}. Ask an administrator for it.")


class ExportNotFound(Exception):
    """There is no such export, or it is not this person's to see; both look the same from outside."""

    def __init__(self, export_id: UUID) -> None:
        super().__init__(f"Expected the id of an export of yours, found none with {export_id}.")


class ExportNotActive(Exception):
    """It is finished already, so it cannot be cancelled."""

    def __init__(self, export_id: UUID, state: str) -> None:
        super().__init__(f"Only a queued or running export can be cancelled; export {export_id} is {state}.")


class ExportNotRepeatable(Exception):
    """It is still wanted as it is, so there is nothing to do again."""

    def __init__(self, export_id: UUID, state: str) -> None:
        super().__init__(f"Only a failed, cancelled or expired export can be asked for again; {export_id} is {state}.")


class HoldLost(Exception):
    """Stop building: the export was cancelled, or its lease ran out and another worker has it."""


class FileIncomplete(Exception):
    """The file does not hold what the snapshot held; it is thrown away."""

    def __init__(self, *, expected: int, got: int, what: str) -> None:
        super().__init__(f"Expected a file of {expected} {what}, got {got}.")
        self.expected = expected


class StorageFailed(Exception):
    """The storage refused, or did not answer; libraries of storages have errors of their own, so the cause tells."""


class UnsupportedFilter(ValueError):
    """A list was narrowed down by something that an export cannot repeat."""

    def __init__(self, name: str) -> None:
        super().__init__(f"Expected filters that an export knows, got {name}. Remove that filter.")
        self.name = name
