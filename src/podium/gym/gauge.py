"""Measures workflows on problems of the gym, quickly: every distinct step is worked once per problem.

Two workflows that begin alike share the work: a step's response depends only on who is asked what and on the responses it
sees (:mod:`podium.access` builds the call, as in a real run), so it is remembered by exactly that. What a specialist of the gym
is told and shown is put together here without a call (:class:`_Read`), which is twice as fast; a test holds both ways together.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from podium.access import call_for
from podium.gym.questions import ParsedQuestion, find_question
from podium.gym.reading import notes_of
from podium.gym.scene import Scene, told
from podium.gym.specialists import Specialist
from podium.gym.verify import judge
from podium.types import Call, Completion, Problem, Workflow, ask

QUESTION = "{question}"
"""In a subtask: the question in its own words stands here."""


_Told = tuple[frozenset[str], frozenset[str], str, bool]
"""What a subtask asks for, as :func:`podium.gym.scene.told` says it."""


class Ready(Protocol):
    """A worker that completes a call at once."""

    def complete(self, call: Call) -> Completion:
        """Carry out the call."""
        ...


class _Read:
    """Situations put together from what is known of their parts, and what each worker wrote in them."""

    def __init__(self, questions: Sequence[str]) -> None:
        self._questions = questions
        self._asked = [find_question(question) for question in questions]
        self._told: dict[tuple[str, bool, int], tuple[int, _Told]] = {}
        self._sorts: dict[_Told, int] = {}
        self._written: dict[object, str] = {}

    def carried_out(
        self, worker: Specialist, workflow: Workflow, index: int, visible: Mapping[int, Sequence[str]]
    ) -> list[tuple[str, float]]:
        """For each problem the text and its dollars of a step over which ``visible`` responses are seen."""
        step = workflow.steps[index]
        shown = [step.subtask, *(workflow.steps[i].subtask for i in step.access)]
        placed = sum(subtask.count(QUESTION) for subtask in shown)
        first = index == 0 or 0 in step.access
        bare = sum(map(len, shown)) - placed * len(QUESTION)
        copies = placed + first
        sample = (workflow.steps[:index].count(step),)
        done = []
        for n, question in enumerate(self._questions):
            responses = [visible[i][n] for i in step.access]
            characters = bare + copies * len(question) + sum(map(len, responses))
            asked = self._asked[n] if copies else None
            number, said = self._heard(step.subtask, asked, n)
            # Length tells only beyond the first thousand characters.
            key = (step.worker, n, number, copies > 0, *responses, max(1_000, characters), sample)
            text = self._written.get(key)
            if text is None:
                notes = tuple(map(notes_of, responses))
                text = self._written[key] = worker.response(Scene(asked, *said, notes, characters), sample)
            done.append((text, worker.cost_usd(characters, len(text))))
        return done

    def _heard(self, subtask: str, asked: ParsedQuestion | None, n: int) -> tuple[int, _Told]:
        """What a subtask asks for, with a number that is the same for all that ask for the same."""
        key = (subtask, asked is not None, n)
        if key not in self._told:
            said = told(subtask.replace(QUESTION, self._questions[n]), asked)
            self._told[key] = self._sorts.setdefault(said, len(self._sorts)), said
        return self._told[key]


class Gauge:
    """The accuracy of workflows over ``workers`` on ``problems``. Example: ``Gauge(workers, problems).accuracy(workflow)``."""

    def __init__(self, workers: Sequence[Ready], problems: Sequence[Problem]) -> None:
        self.calls = 0
        """How many calls were made."""
        self._workers = workers
        self._problems = problems
        self._questions = [ask(problem.question) for problem in problems]
        self._read = _Read([problem.question for problem in problems])
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
            if isinstance(worker, Specialist) and step.subtask:
                done = self._read.carried_out(worker, workflow, index, visible)
            else:
                done = self._called(worker, workflow, index, visible)
            self._responses[number] = [sys.intern(text) for text, _ in done]
            self._costs[number] = sum(cost for _, cost in done)
            self.calls += len(done)
        return number

    def _called(
        self, worker: Ready, workflow: Workflow, index: int, visible: Mapping[int, Sequence[str]]
    ) -> list[tuple[str, float]]:
        done = []
        for n, question in enumerate(self._questions):
            call = call_for(workflow, index, question, {i: texts[n] for i, texts in visible.items()})
            completion = worker.complete(worded(call, question[-1].content))
            done.append((completion.text, completion.usage.cost_usd or 0.0))
        return done


def worded(call: Call, question: str) -> Call:
    """``call`` with the question in the place of :data:`QUESTION`."""
    if QUESTION not in call.subtask and not any(QUESTION in step.subtask for step in call.visible):
        return call
    visible = tuple(replace(step, subtask=step.subtask.replace(QUESTION, question)) for step in call.visible)
    return replace(call, subtask=call.subtask.replace(QUESTION, question), visible=visible)
