"""Measures workflows on problems of the gym, quickly: every distinct step is worked once per problem.

Two workflows that begin alike share the work: a step's response depends only on who is asked what and on the responses it
sees (:mod:`podium.access` builds the call, as in a real run), so it is remembered by exactly that.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from podium.access import call_for
from podium.gym.verify import judge
from podium.types import Call, Completion, Problem, Workflow, ask

QUESTION = "{question}"
"""In a subtask: the question in its own words stands here."""


class Ready(Protocol):
    """A worker that completes a call at once."""

    def complete(self, call: Call) -> Completion:
        """Carry out the call."""
        ...


class Gauge:
    """The accuracy of workflows over ``workers`` on ``problems``. Example: ``Gauge(workers, problems).accuracy(workflow)``."""

    def __init__(self, workers: Sequence[Ready], problems: Sequence[Problem]) -> None:
        self.calls = 0
        """How many calls were made."""
        self._workers = workers
        self._problems = problems
        self._questions = [ask(problem.question) for problem in problems]
        self._numbers: dict[object, int] = {}
        self._responses: dict[int, list[str]] = {}
        self._costs: dict[int, float] = {}
        self._correct: dict[int, tuple[bool, ...]] = {}

    def accuracy(self, workflow: Workflow) -> float:
        """The share of problems that the workflow's last response gets right."""
        return sum(self.correct(workflow)) / len(self._problems)

    def cost(self, workflow: Workflow) -> float:
        """Dollars per problem."""
        numbers: list[int] = []
        for i in range(len(workflow.steps)):
            numbers.append(self._number(workflow, i, numbers))
        return sum(self._costs[number] for number in numbers) / len(self._problems)

    def correct(self, workflow: Workflow) -> tuple[bool, ...]:
        """For each problem, whether the workflow's last response is right."""
        numbers: list[int] = []
        for i in range(len(workflow.steps)):
            numbers.append(self._number(workflow, i, numbers))
        last = numbers[-1]
        if last not in self._correct:
            answers = self._responses[last]
            self._correct[last] = tuple(judge(p, a).correct for p, a in zip(self._problems, answers, strict=True))
        return self._correct[last]

    def _number(self, workflow: Workflow, index: int, numbers: Sequence[int]) -> int:
        """The number under which a step's responses are kept; a new step is worked on every problem first."""
        step = workflow.steps[index]
        # What determines a response: the worker, the words, what is seen, whether the question is, which repeat it is.
        seen = tuple(numbers[i] for i in step.access)
        key = (step.worker, step.subtask, seen, index == 0, 0 in step.access, workflow.steps[:index].count(step))
        number = self._numbers.setdefault(key, len(self._numbers))
        if number not in self._responses:
            worker = self._workers[step.worker]
            visible = {i: self._responses[numbers[i]] for i in step.access}
            done = []
            for n, question in enumerate(self._questions):
                call = call_for(workflow, index, question, {i: texts[n] for i, texts in visible.items()})
                done.append(worker.complete(worded(call, question[-1].content)))
            self._responses[number] = [sys.intern(each.text) for each in done]
            self._costs[number] = sum(each.usage.cost_usd or 0.0 for each in done)
            self.calls += len(done)
        return number


def worded(call: Call, question: str) -> Call:
    """``call`` with the question in the place of :data:`QUESTION`."""
    if QUESTION not in call.subtask and not any(QUESTION in step.subtask for step in call.visible):
        return call
    visible = tuple(replace(step, subtask=step.subtask.replace(QUESTION, question)) for step in call.visible)
    return replace(call, subtask=call.subtask.replace(QUESTION, question), visible=visible)
