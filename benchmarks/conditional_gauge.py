"""Measures workflows with conditions on problems of the gym: which steps run is decided by the code that decides it in a run.

Steps are carried out one after another, so that a step that nobody needs any more is not started. What a worker said to a call
is remembered, and so is what was read in it.
"""

from collections.abc import Sequence
from statistics import fmean

from podium.access import call_for
from podium.conditions import ALWAYS, Skipped, read_condition
from podium.errors import NotNeeded
from podium.gym.gauge import Gauge, Ready, worded
from podium.gym.verify import judge
from podium.tasks.agreement import Reading
from podium.types import Call, Completion, Failure, Problem, StepResult, Workflow, ask
from podium.workflow.deciding import Deciding


class Remembering(Reading):
    """Compares every choice of texts once."""

    def __init__(self, question: str) -> None:
        super().__init__(question)
        self._votes: dict[tuple[str, ...], list[str | None]] = {}

    def votes(self, answers: Sequence[str], *, at_once: bool = False) -> list[str | None]:
        """As of any reading."""
        key = tuple(answers)
        if key not in self._votes:
            self._votes[key] = super().votes(answers, at_once=at_once)
        return self._votes[key]


class ConditionalGauge(Gauge):
    """As :class:`Gauge`, of workflows with conditions too. Example: ``ConditionalGauge(workers, problems).cost(workflow)``."""

    def __init__(self, workers: Sequence[Ready], problems: Sequence[Problem]) -> None:
        super().__init__(workers, problems)
        self._readings = {problem.id: Remembering(problem.question) for problem in problems}
        self._done: dict[tuple[int, Call], Completion] = {}
        self._outcomes: dict[Workflow, tuple[tuple[bool, ...], float]] = {}

    def correct(self, workflow: Workflow) -> tuple[bool, ...]:
        """For each problem, whether the answer is right."""
        return self._outcome(workflow)[0] if _conditional(workflow) else super().correct(workflow)

    def cost(self, workflow: Workflow) -> float:
        """Dollars per problem, of the steps that are carried out."""
        return self._outcome(workflow)[1] if _conditional(workflow) else super().cost(workflow)

    def _outcome(self, workflow: Workflow) -> tuple[tuple[bool, ...], float]:
        if workflow not in self._outcomes:
            ran = [self._run(workflow, problem) for problem in self._problems]
            self._outcomes[workflow] = tuple(right for right, _ in ran), fmean(cost for _, cost in ran)
        return self._outcomes[workflow]

    def _run(self, workflow: Workflow, problem: Problem) -> tuple[bool, float]:
        question, results, cost = ask(problem.question), dict[int, StepResult](), 0.0
        deciding = Deciding(workflow, question, results, reading=self._readings[problem.id])
        for index, step in enumerate(workflow.steps):
            if index in results:
                continue
            if (skipped := _skipped(workflow, index, deciding)) is not None:
                said = results[skipped.passes_on].completion
                results[index] = StepResult(step=step, worker="", completion=said, skipped=skipped)
                continue
            responses = {at: each.completion.text for at, each in results.items() if each.completion is not None}
            call = worded(call_for(workflow, index, question, responses, hidden=deciding.hidden(step.access)), problem.question)
            completion = self._complete(step.worker, call)
            cost += completion.usage.cost_usd or 0.0
            results[index] = StepResult(step=step, worker="", completion=completion)
            _leave_out(workflow, deciding, results)
        last = results[len(workflow.steps) - 1].completion
        return last is not None and judge(problem, last.text).correct, cost

    def _complete(self, worker: int, call: Call) -> Completion:
        if (worker, call) not in self._done:
            self._done[worker, call] = self._workers[worker].complete(call)
            self.calls += 1
        return self._done[worker, call]


def _conditional(workflow: Workflow) -> bool:
    return any(step.condition != ALWAYS for step in workflow.steps)


def _skipped(workflow: Workflow, index: int, deciding: Deciding, known: int | None = None) -> Skipped | None:
    """Why step ``index`` is skipped, given the first ``known`` of the steps it sees; None where it runs."""
    step = workflow.steps[index]
    condition = read_condition(step.condition)
    if condition.agree is not None:
        for position in range(1, (len(step.access) if known is None else known) + 1):
            if (agreement := deciding.agreement(step.access[:position], condition.agree)) is not None:
                return agreement
    return deciding.all_well(step.access) if condition.if_failed and known is None else None


def _leave_out(workflow: Workflow, deciding: Deciding, results: dict[int, StepResult]) -> None:
    """Skip the steps whose condition is settled, and leave out what nobody needs any more."""
    for index, step in enumerate(workflow.steps):
        if index in results or step.condition == ALWAYS:
            continue
        known = next((at for at, seen in enumerate(step.access) if seen not in results), len(step.access))
        if (skipped := _skipped(workflow, index, deciding, known)) is not None:
            said = results[skipped.passes_on].completion
            results[index] = StepResult(step=step, worker="", completion=said, skipped=skipped)
            for unneeded in deciding.not_needed():
                why = Failure.of(NotNeeded("not started"), "")
                results[unneeded] = StepResult(step=workflow.steps[unneeded], worker="", failure=why)
