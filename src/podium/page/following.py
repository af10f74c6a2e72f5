"""What is known of a run while it goes on: events in, the state of every step out. Pure; knows nothing of a browser."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from podium.events import Answered, Event, StepFinished, StepStarted, StepToken, ToolCalled, WorkflowWritten
from podium.types import Generation, StepResult, Transcript, Usage, Workflow
from podium.workflow.draw import said, used

State = Literal["waits", "runs", "done", "skipped", "failed", "stopped"]
MOST_KEPT = 20_000
"""Characters of a running step's text that are kept to be shown; the result brings the whole text."""


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
        if self.state == "skipped":
            return None
        if self.result is not None:
            stands_for = 0.0 if self.result.completion is None else self.result.completion.seconds
            return max(self.result.seconds, stands_for)
        return time.perf_counter() - self.started if self.state == "runs" else None

    @property
    def usage(self) -> Usage | None:
        """What it cost; None before it is done, where nobody was asked, and where nothing is known of what it used."""
        return None if self.result is None or self.result.skipped is not None else self.result.usage

    def finish(self, result: StepResult) -> None:
        """Take its result in."""
        self.result, self.worker, self.said = result, result.worker, said(result)
        done: State = "done" if result.skipped is None else "skipped"
        self.state = done if result.failure is None else "failed" if result.was_needed else "stopped"


@dataclass(slots=True, kw_only=True)
class RoundView:
    """One workflow and its steps; ``workflow`` None means that the policy kept the last answer or wrote none."""

    number: int
    workflow: Workflow | None
    generation: Generation
    steps: list[StepView] = field(default_factory=list)


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
            steps = [StepView(worker=result.worker) for result in transcript.results]
            for view, result in zip(steps, transcript.results, strict=True):
                view.finish(result)
            following.rounds.append(
                RoundView(number=number, workflow=transcript.workflow, generation=transcript.generation, steps=steps)
            )
        return following

    def on_event(self, event: Event) -> None:
        """Take one event in."""
        self.changes += 1
        match event:
            case WorkflowWritten():
                steps = () if event.workflow is None else event.workflow.steps
                views = [StepView(worker=event.workers[step.worker]) for step in steps]
                self.rounds.append(
                    RoundView(number=event.round, workflow=event.workflow, generation=event.generation, steps=views)
                )
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
                    for view, result in zip(shown.steps, transcript.results, strict=False):
                        if view.result is None:  # it was interrupted
                            view.finish(result)

    @property
    def running(self) -> bool:
        """Whether a step is under way."""
        return any(step.state == "runs" for shown in self.rounds for step in shown.steps)


def run_seconds(answered: Answered) -> float:
    """How long a run took; a simulated one as long as it stands for."""
    return max(answered.seconds, sum(transcript.critical_seconds for transcript in answered.transcripts))
