"""A policy whose workflows are carried out differently from how it wrote them: what is each part of a workflow worth?

Replacing one part and leaving the others tells what of a gain is the choice of workers, the wording of subtasks, and who sees
what.
"""

import random
from collections.abc import Callable
from dataclasses import replace

from podium.conditions import ALWAYS, read_condition
from podium.errors import ConfigError, WorkflowError
from podium.protocols import Policy
from podium.types import Brief, Generation, Step, Workflow
from podium.workflow.parse import format_workflow, parse
from podium.workflow.syntax import FIXED_SUBTASK, WorkflowSyntax

Change = Callable[[Workflow, Brief, random.Random], Workflow]


class AblatedPolicy:
    """``policy`` with every valid workflow of round 1 changed.

    Example: ``AblatedPolicy(policy, WorkflowSyntax(), one_worker(1))``.

    The same question always gets the same change. What is not valid stays as it is, and later rounds say what they said. They
    are written in :attr:`syntax`, which the Conductor around it has to read: it can say all that the policy's own can, and more.
    """

    def __init__(self, policy: Policy, syntax: WorkflowSyntax, change: Change, *, seed: int = 0) -> None:
        self._policy = policy
        self._syntax = syntax
        self._change = change
        self._seed = seed
        self.syntax = replace(syntax, access="positions", subtasks=True)

    async def write(self, brief: Brief, n: int = 1) -> list[Generation]:
        """What the policy writes, changed."""
        return [self._altered(written, brief) for written in await self._policy.write(brief, n)]

    def _altered(self, written: Generation, brief: Brief) -> Generation:
        try:
            workflow = parse(written.text, brief, self._syntax)
        except WorkflowError:
            return written
        if workflow is not None and not brief.previous_rounds:
            workflow = self._change(workflow, brief, random.Random(f"{self._seed} {brief.question}"))
        text = format_workflow(workflow, self.syntax, round_number=1 + len(brief.previous_rounds))
        return replace(written, text=text, token_ids=(), logprobs=())


def one_worker(worker: int) -> Change:
    """Every step goes to ``worker``."""
    return lambda workflow, brief, rng: _each(workflow, lambda step, index: replace(step, worker=worker))


def any_worker(workflow: Workflow, brief: Brief, rng: random.Random) -> Workflow:
    """Every step goes to a worker drawn at random."""
    return _each(workflow, lambda step, index: replace(step, worker=rng.randrange(len(brief.cards))))


def plain_subtasks(workflow: Workflow, brief: Brief, rng: random.Random) -> Workflow:
    """Every worker is told to solve the question, which it is shown."""
    question = "\n\n".join(message.content for message in brief.question)
    return _each(
        workflow, lambda step, index: replace(step, subtask=FIXED_SUBTASK if index == 0 else f"{question}\n\n{FIXED_SUBTASK}")
    )


def random_access(workflow: Workflow, brief: Brief, rng: random.Random) -> Workflow:
    """Every step sees each earlier one with probability one half; one that sees too few for its condition is carried out."""

    def seeing(step: Step, index: int) -> Step:
        access = tuple(seen for seen in range(index) if rng.random() < 0.5)
        fits = not read_condition(step.condition).misfit(len(access))
        return replace(step, access=access, condition=step.condition if fits else ALWAYS)

    return _each(workflow, seeing)


def without_conditions(workflow: Workflow, brief: Brief, rng: random.Random) -> Workflow:
    """Every step is carried out, whatever those before it bring."""
    return _each(workflow, lambda step, index: replace(step, condition=ALWAYS))


CHANGES: dict[str, dict[str, Change]] = {
    "workers": {"random": any_worker},
    "subtasks": {"plain": plain_subtasks},
    "access": {"random": random_access},
    "conditions": {ALWAYS: without_conditions},
}
"""Part of a workflow -> what can stand in its place; ``workers`` also takes the name of a worker."""


def change_named(text: str, workers: tuple[str, ...]) -> Change:
    """The change called ``text``: ``workers=random``, ``workers=NAME``, ``subtasks=plain``, ``access=random`` or
    ``conditions=always``.

    Raises :class:`ConfigError`.
    """
    part, _, value = text.partition("=")
    if part == "workers" and value in workers:
        return one_worker(workers.index(value))
    if part not in CHANGES or value not in CHANGES[part]:
        known = [f"{name}={each}" for name, values in CHANGES.items() for each in values]
        raise ConfigError(f"there is no change {text!r}; there are {', '.join(known)} and workers=NAME")
    return CHANGES[part][value]


def _each(workflow: Workflow, change: Callable[[Step, int], Step]) -> Workflow:
    return Workflow(steps=tuple(change(step, index) for index, step in enumerate(workflow.steps)))
