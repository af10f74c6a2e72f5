"""The seams: what every worker, policy and verifier is, and nothing more.

Composition returns the same kind: a wrapped Worker is a Worker, and so is a whole Conductor.
"""

from typing import Protocol, runtime_checkable

from podium.events import Listener
from podium.types import Brief, Call, Completion, Generation, Problem, ResponseOptions, Verdict


class Worker(Protocol):
    """Carries out one call: a chat endpoint, a rule-based specialist, a recording, a human, or a whole Conductor.

    Raises :class:`podium.errors.WorkerError` where it can give no answer, and
    :class:`podium.errors.BudgetExceeded` where a cap forbids the call. Cancelling the task cancels the call.
    """

    async def __call__(self, call: Call) -> Completion:
        """Answer ``call``."""
        ...


@runtime_checkable
class ChecksResponseOptions(Protocol):
    """A worker that can say, before it is asked, whether it can honour the response options of a call."""

    def check(self, response_options: ResponseOptions) -> None:
        """Raises :class:`podium.errors.ConfigError` where it could not. Makes no call and costs nothing."""
        ...


@runtime_checkable
class ChecksCalls(Protocol):
    """A worker that can say, before anybody is asked, whether the policy gave it what it needs."""

    def check_call(self, call: Call) -> None:
        """Raises :class:`podium.errors.UnworkableStep` where it did not. Makes no call and costs nothing."""
        ...


class Policy(Protocol):
    """Writes workflows: a trained model, a prompted model, a hand-written baseline, a human.

    Whether what it wrote is a workflow is for the parser to say; a policy returns text and never raises
    :class:`podium.errors.WorkflowError`.
    """

    async def write(self, brief: Brief, n: int = 1) -> list[Generation]:
        """Write ``n`` independent workflows for ``brief``; the list has length ``n``."""
        ...


class Verifier(Protocol):
    """Judges one answer to one problem.

    Raises :class:`podium.errors.VerifierError` where the check itself broke: that is never a wrong answer.
    """

    async def __call__(self, problem: Problem, answer: str) -> Verdict:
        """Judge ``answer`` against ``problem.target``."""
        ...


class ServedModel(Protocol):
    """Anything that can be served as a model: a Conductor, or one worker by its own name."""

    async def conduct(self, call: Call, on_event: Listener | None = None) -> Completion:
        """Answer ``call`` and report every event (:class:`podium.conduct.Conductor`)."""
        ...
