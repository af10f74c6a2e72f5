"""What can be tried: workflows put together of roles, workers and access, and the plans that a search begins with.

A role is a part of the work with one fixed wording. A candidate says who takes which role and what each step sees; it holds no
question, so that one candidate can be tried on every problem.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from podium.policies.tuned_record import QUESTION
from podium.types import Step, Workflow

ROLES: dict[str, str] = {
    "solve": "Solve the task and give the final answer.",
    "plan": "Write a plan for the task as one expression or a list of steps. Do not compute it.",
    "recall": "Recall the facts that are needed. Do not answer yet.",
    "nature": "Recall the facts about the natural world that are needed. Do not answer yet.",
    "made": "Recall the facts about man-made things that are needed. Do not answer yet.",
    "compute": "Carry out the plan: compute its result and give the final answer.",
    "write": "Write the program that the task asks for.",
    "review": "Check the work so far, correct every mistake in the answer, and write it out in full.",
    "compare": "Weigh the answers so far against each other, and write out the right one in full.",
}
"""Role -> how it is asked for."""
ANSWERING = frozenset({"solve", "compute", "write", "review", "compare"})
"""Roles whose response is an answer, so that a workflow can end there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One step of a candidate. Example: ``Part(role="compute", worker=2, access=(0,))``."""

    role: str
    worker: int
    access: tuple[int, ...] = ()
    about: str = ""
    """What the worker is told that the task is about; "": nothing."""


Candidate = tuple[Part, ...]
"""The steps of a workflow without a question; the last one answers."""

Plan = tuple[tuple[str, tuple[int, ...]], ...]
"""Roles and what each sees."""

PLANS: tuple[Plan, ...] = (
    (("solve", ()),),
    (("write", ()),),
    (("plan", ()), ("compute", (0,))),
    (("recall", ()), ("solve", (0,))),
    (("solve", ()), ("review", (0,))),
    (("plan", ()), ("write", (0,))),
    (("write", ()), ("review", (0,))),
    (("recall", ()), ("plan", (0,)), ("compute", (0, 1))),
    (("recall", ()), ("plan", ()), ("compute", (0, 1))),
    (("plan", ()), ("recall", (0,)), ("compute", (0, 1))),
    (("plan", ()), ("compute", (0,)), ("review", (0, 1))),
    (("plan", ()), ("write", (0,)), ("review", (0, 1))),
    (("recall", ()), ("solve", (0,)), ("review", (0, 1))),
    (("solve", ()), ("solve", ()), ("compare", (0, 1))),
    (("recall", ()), ("plan", (0,)), ("compute", (0, 1)), ("review", (0, 1, 2))),
    (("plan", ()), ("nature", (0,)), ("made", (0,)), ("compute", (0, 1, 2))),
)
"""General ways to divide a task: the search starts here and changes them."""


def staffed(plan: Plan, workers: Sequence[int], about: str = "") -> Candidate:
    """``plan`` with ``workers``, one for each step. Example: ``staffed(PLANS[2], (0, 3))``."""
    steps = zip(plan, workers, strict=True)
    return tuple(Part(role=role, worker=worker, access=access, about=about) for (role, access), worker in steps)


def plan_of(candidate: Candidate) -> Plan:
    """Its roles and what each sees, without the workers."""
    return tuple((part.role, part.access) for part in candidate)


def solo(worker: int, about: str = "") -> Candidate:
    """One worker solves the task alone."""
    return staffed(PLANS[0], (worker,), about)


def told(part: Part) -> str:
    """What a worker is told to do."""
    return f"{ROLES[part.role]} (The task is about {part.about}.)" if part.about else ROLES[part.role]


def workflow(candidate: Candidate) -> Workflow:
    """Its workflow for any question, with a mark where a step would not know the question else."""
    return Workflow(
        steps=tuple(
            Step(
                worker=part.worker,
                subtask=told(part) if index == 0 or 0 in part.access else f"{QUESTION}\n\n{told(part)}",
                access=part.access,
            )
            for index, part in enumerate(candidate)
        )
    )


def ending_at(candidate: Candidate, last: int) -> Candidate:
    """The part of ``candidate`` that step ``last`` rests on, as a candidate of its own: what an earlier end would have been.

    Step 0 stays, because it carries the question.
    """
    needed = {0, last}
    for index in range(last, -1, -1):
        if index in needed:
            needed.update(candidate[index].access)
    kept = sorted(needed)
    place = {old: new for new, old in enumerate(kept)}
    return tuple(replace(candidate[i], access=tuple(place[seen] for seen in candidate[i].access)) for i in kept)


def prefixes(candidate: Candidate) -> list[object]:
    """What makes the call of each step: role, worker, and the same of the steps it sees. Equal ones are paid for once."""
    made: list[object] = []
    for index, part in enumerate(candidate):
        knows = index == 0 or 0 in part.access
        made.append((part.role, part.worker, part.about, knows, tuple(made[seen] for seen in part.access)))
    return made


def changed(candidate: Candidate, workers: Sequence[int], rng: random.Random, max_steps: int) -> Candidate:
    """``candidate`` with one random change: a worker, a role, what a step sees, a step more or one less."""
    options = [*neighbours(candidate, workers, max_steps, rng)]
    return rng.choice(options) if options else candidate


def neighbours(candidate: Candidate, workers: Sequence[int], max_steps: int, rng: random.Random) -> Iterator[Candidate]:
    """One change of each sort, its details drawn by ``rng``."""
    at = rng.randrange(len(candidate))
    part = candidate[at]
    if others := [worker for worker in workers if worker != part.worker]:
        other = rng.choice(others)
        yield _with(candidate, at, replace(part, worker=other))
    roles = [r for r in ROLES if r != part.role and (at < len(candidate) - 1 or r in ANSWERING)]
    yield _with(candidate, at, replace(part, role=rng.choice(roles)))
    if at:
        seen = rng.randrange(at)
        yield _with(candidate, at, replace(part, access=tuple(sorted({*part.access} ^ {seen}))))
    if len(candidate) > 1 and (at < len(candidate) - 1 or candidate[-2].role in ANSWERING):
        yield without(candidate, at)
    if len(candidate) < max_steps:
        place = rng.randrange(len(candidate) + 1)
        role = rng.choice([r for r in ROLES if place < len(candidate) or r in ANSWERING])
        yield inserted(candidate, place, role, rng.choice(workers))


def without(candidate: Candidate, at: int) -> Candidate:
    """``candidate`` without its step ``at``."""
    kept = [replace(p, access=tuple(seen - (seen > at) for seen in p.access if seen != at)) for p in candidate]
    return (*kept[:at], *kept[at + 1 :])


def inserted(candidate: Candidate, at: int, role: str, worker: int) -> Candidate:
    """``candidate`` with a step before position ``at`` that sees all before it and that all after it see."""
    later = [replace(p, access=tuple(sorted({at, *(seen + (seen >= at) for seen in p.access)}))) for p in candidate[at:]]
    return (*candidate[:at], Part(role=role, worker=worker, access=tuple(range(at)), about=candidate[0].about), *later)


def _with(candidate: Candidate, at: int, part: Part) -> Candidate:
    return (*candidate[:at], part, *candidate[at + 1 :])
