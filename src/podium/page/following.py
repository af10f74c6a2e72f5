"""What is known of a run while it goes on: events in, the state of the plan and of every step out.

Pure; knows nothing of a browser.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from podium.errors import Cancelled, UpstreamFailed
from podium.events import (
    Answered,
    Event,
    PlanStarted,
    PlanToken,
    StepFinished,
    StepStarted,
    StepToken,
    ToolCalled,
    WorkflowWritten,
)
from podium.types import Failure, Generation, StepResult, Transcript, Usage, Workflow
from podium.workflow.draw import said, unasked, used

State = Literal["waits", "runs", "done", "skipped", "failed", "stopped", "cut", "never"]
"""``stopped``: nobody needed it any more. ``cut``: the run was stopped while it worked. ``never``: it was not begun."""
OVER = frozenset({"done", "skipped", "failed", "stopped", "cut", "never"})
NO_TIME = 1e-4
"""Seconds. What is recorded for a step that was not begun is the time between two looks at the clock."""
MOST_KEPT = 20_000
"""Characters of a running step's text that are kept to be shown; the result brings the whole text."""


@dataclass(slots=True, kw_only=True)
class PlanView:
    """What the policy writes, as it stands. Example: ``view.state == "runs"`` and ``view.said`` grows."""

    state: State = "runs"
    said: str = ""
    started: float = 0.0
    ended: float = 0.0
    generation: Generation | None = None

    @property
    def seconds(self) -> float:
        """How long writing takes or took."""
        if self.generation is not None:
            return self.generation.seconds
        return (self.ended or time.perf_counter()) - self.started

    @property
    def usage(self) -> Usage | None:
        """What writing cost; None before it is known."""
        return None if self.generation is None else self.generation.usage

    def finish(self, generation: Generation, state: State) -> None:
        """Take in what was written."""
        self.generation, self.said, self.state = generation, generation.text or self.said, state


@dataclass(slots=True, kw_only=True)
class StepView:
    """One step as it stands. Example: ``view.state == "runs"`` and ``view.said`` grows."""

    worker: str
    state: State = "waits"
    said: str = ""
    started: float = 0.0
    result: StepResult | None = None

    @property
    def seconds(self) -> float | None:
        """How long it has taken or takes; of a simulated worker, which answers at once, the time it stands for."""
        if self.state in ("skipped", "never"):
            return None
        if self.result is not None:
            stands_for = 0.0 if self.result.completion is None else self.result.completion.seconds
            return max(self.result.seconds, stands_for)
        return time.perf_counter() - self.started if self.state == "runs" else None

    @property
    def usage(self) -> Usage | None:
        """What it cost; None before it is done, where nobody was asked, and where nothing is known of what it used."""
        return None if self.result is None or unasked(self.result) else self.result.usage

    @property
    def waits_for_client(self) -> bool:
        """Whether its worker asked for tools that the client has to run."""
        return self.result is not None and self.result.completion is not None and bool(self.result.completion.tool_calls)

    def finish(self, result: StepResult) -> None:
        """Take its result in."""
        self.result, self.worker, self.said = result, result.worker, said(result)
        self.state = ended_as(result, began=self.started > 0)


@dataclass(slots=True, kw_only=True)
class RoundView:
    """One plan and the steps of its workflow.

    ``workflow`` None means that there is none (yet): it is being written, or the policy kept the last answer. ``plan`` None:
    nobody wrote one, because a worker was asked by its own name.
    """

    number: int
    plan: PlanView | None
    workflow: Workflow | None = None
    steps: list[StepView] = field(default_factory=list)

    @property
    def is_over(self) -> bool:
        """Whether nothing of it changes any more."""
        is_written = self.workflow is not None if self.plan is None else self.plan.state != "runs"
        return is_written and all(each.state in OVER for each in self.steps)


class Following:
    """Follows one run. ``changes`` grows with every event, so that a page knows when to look again.

    Example::

        following = Following()
        await conductor.conduct(call, following.on_event)
        print(following.rounds[0].steps[0].said)
    """

    def __init__(self) -> None:
        self.rounds: list[RoundView] = []
        self.answered: Answered | None = None
        self.changes = 0

    @staticmethod
    def of(transcripts: Sequence[Transcript]) -> "Following":
        """A run that is over, as it is kept."""
        following = Following()
        for number, transcript in enumerate(transcripts, 1):
            shown = RoundView(
                number=number, plan=None if nobody_planned(transcript) else PlanView(), workflow=transcript.workflow
            )
            shown.steps = [StepView(worker=result.worker) for result in transcript.results]
            _finish(shown, transcript)
            following.rounds.append(shown)
        return following

    def on_event(self, event: Event) -> None:
        """Take one event in."""
        self.changes += 1
        match event:
            case PlanStarted(attempt=1):
                self.rounds.append(RoundView(number=event.round, plan=PlanView(started=time.perf_counter())))
            case PlanStarted():
                if (plan := self.rounds[-1].plan) is not None:
                    plan.said = ""
            case PlanToken():
                if (plan := self.rounds[-1].plan) is not None:
                    plan.said = (plan.said + event.text)[-MOST_KEPT:]
            case WorkflowWritten():
                self._written(event)
            case StepStarted():
                view = self.rounds[-1].steps[event.index]
                view.state, view.said, view.started = "runs", "", time.perf_counter()
            case StepToken():
                view = self.rounds[-1].steps[event.index]
                view.said = (view.said + event.text)[-MOST_KEPT:]
            case ToolCalled():
                view = self.rounds[-1].steps[event.index]
                view.said = (view.said + f"calls {used(event.use)}\n")[-MOST_KEPT:]
            case StepFinished():
                self.rounds[-1].steps[event.index].finish(event.result)
            case Answered():
                self.answered = event
                for shown, transcript in zip(self.rounds, event.transcripts, strict=False):
                    _finish(shown, transcript)
                for shown in self.rounds[len(event.transcripts) :]:  # it was stopped while it was being planned
                    if shown.plan is not None and shown.plan.state == "runs":
                        shown.plan.state, shown.plan.ended = _state_of(event.failure), time.perf_counter()

    def _written(self, event: WorkflowWritten) -> None:
        if not self.rounds or self.rounds[-1].number != event.round:  # nobody planned
            self.rounds.append(RoundView(number=event.round, plan=None))
        shown = self.rounds[-1]
        if shown.plan is not None:
            shown.plan.finish(event.generation, "done")
        shown.workflow = event.workflow
        steps = () if event.workflow is None else event.workflow.steps
        shown.steps = [StepView(worker=event.workers[step.worker]) for step in steps]

    @property
    def running(self) -> bool:
        """Whether the plan is being written or a step is under way."""
        return any(
            (shown.plan is not None and shown.plan.state == "runs") or any(step.state == "runs" for step in shown.steps)
            for shown in self.rounds
        )


def run_seconds(answered: Answered) -> float:
    """How long a run took; a simulated one as long as it stands for."""
    return max(answered.seconds, sum(transcript.critical_seconds for transcript in answered.transcripts))


def is_stopped(failure: Failure | None) -> bool:
    """Whether it ended because somebody stopped it, and nothing is wrong."""
    return failure is not None and failure.kind == Cancelled.__name__


def _finish(shown: RoundView, transcript: Transcript) -> None:
    """Bring what was interrupted to its end."""
    plan = shown.plan
    if plan is not None and (plan.generation is None or plan.state == "runs"):
        failed = transcript.workflow is None and transcript.failure is not None
        plan.finish(transcript.generation, _state_of(transcript.failure) if failed else "done")
    for view, result in zip(shown.steps, transcript.results, strict=False):
        if view.result is None:
            view.finish(result)


def _state_of(failure: Failure | None) -> State:
    return "cut" if is_stopped(failure) else "failed"


def ended_as(result: StepResult, *, began: bool = False) -> State:
    """The state of a step that is over; ``began`` where somebody saw it begin."""
    began = began or result.seconds >= NO_TIME
    if result.skipped is not None:
        return "skipped"
    if result.failure is None:
        return "done"
    if result.failure.kind == UpstreamFailed.__name__:
        return "never"
    if is_stopped(result.failure):
        return "cut" if began else "never"
    if not result.was_needed:
        return "stopped" if began else "never"
    return "failed"


def nobody_planned(transcript: Transcript) -> bool:
    """Whether there was no workflow to write: a worker was asked by its own name, or all workflows are the same."""
    return transcript.workflow is not None and not transcript.generation.text
