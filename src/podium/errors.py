"""Every failure Podium knows, and whose fault it is.

    PodiumError
    ├── ConfigError            user     a pool file, a flag, a question that can not be asked
    ├── CheckpointError        user     a model or a run's folder that can not be used
    ├── TrainingCollapsed      user     a run that no longer learns was stopped
    ├── BudgetExceeded         user     a cap was reached; a clean stop, nothing is lost
    │   └── QuotaExceeded               what a server's key may use per minute or per month is used up
    │       └── KeyBusy                 as many requests of a server's key are under way as it may have at once
    ├── AccessDenied           user     a server's key is missing, wrong, revoked, or may not do this
    ├── Cancelled              user     the run was stopped from outside
    ├── WorkflowError          policy   the text a policy wrote is no workflow
    │   ├── MalformedWorkflow           the three lists are not there or are not lists
    │   ├── InvalidWorkflow             the lists are there and break a rule
    │   └── UnworkableStep              the lists are sound, and a step of theirs can not be done, whatever the world does
    ├── WorkerError            world    a worker gave no answer
    │   ├── WorkerUnavailable           429, 5xx, timeout, cut connection: worth another try
    │   │   └── WorkerUnreachable       no connection was made, so nothing was sent and nothing is paid
    │   ├── WorkerRefused               the provider will not answer this call: another try is no use
    │   ├── ContextOverflow    policy   the call is larger than the context of the worker that was chosen for it
    │   ├── UpstreamFailed              a step this step needed gave no answer
    │   └── NotNeeded                   this step's answer was of no use any more: another failed, or was skipped
    │       └── NotYet                  this step comes after one that waits for the client's tools
    ├── StoreUnavailable       world    a server's database does not answer
    └── VerifierError          world    the grader broke; never "wrong"
        └── SandboxError                the sandbox could not isolate, start, or finish a program

Blame decides what happens next, everywhere the same way: a *policy* failure is a lesson (reward 0, counted as wrong), a
*world* failure is void (never scored as an answer), a *user* failure stops the command before money is spent. Anything
that is not a ``PodiumError`` is a bug and propagates.

To add an error: give it a parent above, or a ``blame`` of its own; ``tests/test_architecture.py`` checks that every
class has one. Errors cross process borders, so constructors must accept their own ``args`` (picklable).
"""

from enum import StrEnum
from typing import Any


class Blame(StrEnum):
    """Whose fault a failure is."""

    USER = "user"
    POLICY = "policy"
    WORLD = "world"


class PodiumError(Exception):
    """Base of every failure that is not a bug. The message says what happened and what to do.

    ``transcripts`` holds the rounds (``podium.types.Transcript``) that were done when a Conductor raised the error: what
    was paid for is accounted for, also where no answer came of it.
    """

    blame: Blame
    transcripts: tuple[Any, ...] = ()

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""  # what else an error carries is not for people to read


class ConfigError(PodiumError):
    """Something the user wrote can not be used: a pool file, a flag, a question, a recipe."""

    blame = Blame.USER


class CheckpointError(PodiumError):
    """A model's or a run's folder is missing, damaged, or belongs to another recipe."""

    blame = Blame.USER


class TrainingCollapsed(PodiumError):
    """A training run no longer learns; it was stopped before it cost more. Its folder stays as it is."""

    blame = Blame.USER


class BudgetExceeded(PodiumError):
    """The next call could pass a cap in dollars, tokens or seconds, so it was not made."""

    blame = Blame.USER


class QuotaExceeded(BudgetExceeded):
    """What a key of the server may use per minute or per month is used up.

    ``retry_after`` is the number of seconds until some of it is free again.
    """

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message, retry_after)
        self.retry_after = retry_after


class KeyBusy(QuotaExceeded):
    """As many requests of a server's key are under way, over all replicas, as it may have at once."""


class AccessDenied(PodiumError):
    """A key of the server is missing, wrong or revoked (``known`` False), or may not do this (``known`` True)."""

    blame = Blame.USER

    def __init__(self, message: str, known: bool = False) -> None:
        super().__init__(message, known)
        self.known = known


class Cancelled(PodiumError):
    """The run was stopped from outside. Only ever a record: the exception that travels is ``asyncio.CancelledError``."""

    blame = Blame.USER


class WorkflowError(PodiumError):
    """What the policy wrote can not be carried out."""

    blame = Blame.POLICY


class MalformedWorkflow(WorkflowError):
    """The three lists are missing, incomplete, or not literals."""


class InvalidWorkflow(WorkflowError):
    """The three lists are there and break a rule: lengths, an unknown worker, a look forward, too many steps."""


class UnworkableStep(WorkflowError):
    """A step of a valid workflow can not be done, whatever the world does: a vote that may see no step, a nesting too deep."""


class WorkerError(PodiumError):
    """A worker gave no answer. Never scored as a wrong answer, but for :class:`ContextOverflow`."""

    blame = Blame.WORLD


class WorkerUnavailable(WorkerError):
    """A passing fault (429, 5xx, timeout, cut connection, unreadable reply): the same call may succeed later.

    ``retry_after`` is the number of seconds the provider asked us to wait, or None where it named none.
    """

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message, retry_after)
        self.retry_after = retry_after


class WorkerUnreachable(WorkerUnavailable):
    """No connection could be made (refused, unknown name, no TLS): nothing was sent, so nothing is on the bill."""


class WorkerRefused(WorkerError):
    """The provider will not answer this call (4xx, content filter, wrong key): repeating it is no use."""


class ContextOverflow(WorkerError):
    """The call does not fit into the worker's context window.

    The policy's: it chose the worker and what the step sees, and the same call fails every time. That also holds for a question
    that is too long by itself, because another worker could have been asked; of a bare worker it says what it can not do.
    """

    blame = Blame.POLICY


class UpstreamFailed(WorkerError):
    """A step that this step was to see gave no answer, so this one was not started."""


class NotNeeded(WorkerError):
    """Nobody could use this step's answer any more, so it was stopped, or not started. Only ever a record."""


class NotYet(NotNeeded):
    """A step before this one waits for the client's tools; this one comes after it. Only ever a record."""


class StoreUnavailable(PodiumError):
    """The database of a server does not answer; nothing was asked of anybody, or it was and is booked later."""

    blame = Blame.WORLD


class VerifierError(PodiumError):
    """The check itself broke; the answer is neither right nor wrong."""

    blame = Blame.WORLD


class SandboxError(VerifierError):
    """The sandbox failed, not the program in it: it could not isolate, start, or report."""


def error_named(kind: str) -> type[PodiumError]:
    """The error class called ``kind``, e.g. as recorded in a transcript. Raises KeyError where there is none."""
    found: list[type[PodiumError]] = [PodiumError]
    for error_class in found:
        if error_class.__name__ == kind:
            return error_class
        found.extend(error_class.__subclasses__())
    raise KeyError(kind)
