"""What can be tried: workflows put together of the roles of a catalogue, workers and access.

A candidate says who takes which role and what each step sees; it holds no question, so that one candidate can be tried on every
problem.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from podium.policies.tuned_record import QUESTION
from podium.tuning.catalogue import GENERAL, SOLVE, Catalogue, Plan
from podium.types import Step, Workflow


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


def staffed(plan: Plan, workers: Sequence[int], about: str = "") -> Candidate:
    """``plan`` with ``workers``, one for each step. Example: ``staffed(GENERAL.plans[2], (0, 3))``."""
    steps = zip(plan, workers, strict=True)
    return tuple(Part(role=role, worker=worker, access=access, about=about) for (role, access), worker in steps)


def plan_of(candidate: Candidate) -> Plan:
    """Its roles and what each sees, without the workers."""
    return tuple((part.role, part.access) for part in candidate)


def solo(worker: int, about: str = "") -> Candidate:
    """One worker solves the task alone."""
    return (Part(role=SOLVE, worker=worker, about=about),)


def told(part: Part, catalogue: Catalogue = GENERAL) -> str:
    """What a worker is told to do."""
    words = catalogue.roles[part.role]
    return f"{words} (The task is about {part.about}.)" if part.about else words


def workflow(candidate: Candidate, catalogue: Catalogue = GENERAL) -> Workflow:
    """Its workflow for any question, with a mark where a step would not know the question else."""
    return Workflow(
        steps=tuple(
            Step(
                worker=part.worker,
                subtask=f"{QUESTION}\n\n" * (index > 0 and 0 not in part.access) + told(part, catalogue),
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


def changed(
    candidate: Candidate, workers: Sequence[int], rng: random.Random, max_steps: int, catalogue: Catalogue = GENERAL
) -> Candidate:
    """``candidate`` with one random change: a worker, a role, what a step sees, a step more or one less."""
    options = [*neighbours(candidate, workers, max_steps, rng, catalogue)]
    return rng.choice(options) if options else candidate


def neighbours(
    candidate: Candidate, workers: Sequence[int], max_steps: int, rng: random.Random, catalogue: Catalogue = GENERAL
) -> Iterator[Candidate]:
    """One change of each sort, its details drawn by ``rng``."""
    at, answering = rng.randrange(len(candidate)), catalogue.answering
    part = candidate[at]
    if others := [worker for worker in workers if worker != part.worker]:
        other = rng.choice(others)
        yield _with(candidate, at, replace(part, worker=other))
    roles = [r for r in catalogue.roles if r != part.role and (at < len(candidate) - 1 or r in answering)]
    yield _with(candidate, at, replace(part, role=rng.choice(roles)))
    if at:
        seen = rng.randrange(at)
        yield _with(candidate, at, replace(part, access=tuple(sorted({*part.access} ^ {seen}))))
    if len(candidate) > 1 and (at < len(candidate) - 1 or candidate[-2].role in answering):
        yield without(candidate, at)
    if len(candidate) < max_steps:
        place = rng.randrange(len(candidate) + 1)
        role = rng.choice([r for r in catalogue.roles if place < len(candidate) or r in answering])
        yield inserted(candidate, place, role, rng.choice(workers))


def told_about(candidate: Candidate, about: str) -> Candidate:
    """``candidate`` with every worker told that the task is ``about`` that."""
    return tuple(replace(part, about=about) for part in candidate)


def without(candidate: Candidate, at: int) -> Candidate:
    """``candidate`` without its step ``at``."""
    kept = [replace(p, access=tuple(seen - (seen > at) for seen in p.access if seen != at)) for p in candidate]
    return (*kept[:at], *kept[at + 1 :])


def inserted(candidate: Candidate, at: int, role: str, worker: int) -> Candidate:
    """``candidate`` with a step before position ``at`` that sees all before it and that all after it see."""
    later = [replace(p, access=tuple(sorted({at, *(seen + (seen >= at) for seen in p.access)}))) for p in candidate[at:]]
    return (*candidate[:at], Part(role=role, worker=worker, access=tuple(range(at)), about=candidate[0].about), *later)


def beside(candidate: Candidate, role: str, worker: int) -> Candidate:
    """``candidate`` with a step more before its last one, which sees the first step and is seen by the last."""
    at = len(candidate) - 1
    *before, last = candidate
    part = Part(role=role, worker=worker, access=(0,) if at else (), about=last.about)
    return (*before, part, replace(last, access=tuple(sorted({*last.access, at}))))


def _with(candidate: Candidate, at: int, part: Part) -> Candidate:
    return (*candidate[:at], part, *candidate[at + 1 :])


def team_of(steps: Sequence[tuple[str, int]], last: Part) -> Candidate:
    """``steps`` (role, worker) side by side behind the first, and ``last``, who sees them all."""
    made = [
        Part(role=role, worker=worker, access=(0,) if at and steps[0][0] == "plan" else (), about=last.about)
        for at, (role, worker) in enumerate(steps)
    ]
    return (*made, replace(last, access=tuple(range(len(made)))))
