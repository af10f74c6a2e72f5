"""What happens while a question is conducted: one stream feeds the command line, the server and the page.

Steps and rounds are numbered as in a transcript, and wherever a person reads of them: steps from 0, as the workflow language
counts them, rounds from 1.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from podium.errors import Cancelled
from podium.types import Failure, Generation, StepResult, ToolUse, Transcript, Usage, Workflow


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanStarted:
    """The policy begins to write; ``attempt`` above 1 voids the tokens of the attempts before."""

    round: int
    attempt: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanToken:
    """A piece of what the policy writes, where it tells as it goes."""

    round: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowWritten:
    """The policy wrote a workflow (None: it kept the last answer). ``workers`` are the names its numbers stand for."""

    round: int
    workflow: Workflow | None
    generation: Generation
    workers: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepStarted:
    """A step's call went out; ``attempt`` above 1 voids the tokens of the attempts before."""

    round: int
    index: int
    worker: str
    attempt: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class StepToken:
    """A piece of a step's text."""

    round: int
    index: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCalled:
    """A step's worker called a tool by itself, and has its result."""

    round: int
    index: int
    use: ToolUse


@dataclass(frozen=True, slots=True, kw_only=True)
class StepFinished:
    """A step has its result."""

    round: int
    index: int
    result: StepResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The run is over: an answer, or the failure that ended it, and everything that was finished until then."""

    answer: str | None
    failure: Failure | None
    transcripts: tuple[Transcript, ...]
    usage: Usage
    seconds: float
    """Wall time of the whole run."""


Event = PlanStarted | PlanToken | WorkflowWritten | StepStarted | StepToken | ToolCalled | StepFinished | Answered
Listener = Callable[[Event], None]


def interrupted_by(end: BaseException) -> Failure:
    """What stands in the record of a run that ``end`` ended, which travels on: a cancellation, or a bug."""
    if isinstance(end, asyncio.CancelledError):
        return Failure.of(Cancelled("stopped before there was an answer"), "")
    return Failure.of(Cancelled(f"stopped by a bug ({type(end).__name__}) before there was an answer"), "")
