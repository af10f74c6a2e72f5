"""Other ways to find a workflow of a kind of question by paid calls, to stand beside ``podium tune``.

Each is given what the tune is given: the kind of every question, what it is about, the same problems, the same roles and plans,
and equal calls once. Each gives back, after everything it tried, what it would hand in then, so that one run is a whole curve.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from benchmarks.paid_once import PaidOnce
from podium.gym.specialists import Specialist
from podium.policies.tuned_record import LONGEST
from podium.tuning.candidates import Candidate, changed, solo, staffed, workflow
from podium.tuning.catalogue import GENERAL
from podium.types import Problem

MEASURED = 20
"""Problems that whatever may be the best is measured on."""
LOOKS = ((3, 0.34), (8, 0.15))
"""After so many problems, whoever is further below the best than this is not tried further."""
BRACKET, ROUNDS = 32, (2, 4, 8, 16)
"""Workflows that a halving begins with, and the problems that each of its rounds has seen."""
FRONT, GLANCE = 16, 3
"""Problems of the front of the evolution, and those that a child is first compared with its parent on."""
CROSSED, TWICE = 0.25, 0.3
"""Share of the children that have two parents, and of those that are changed (once more)."""
FRESH = 0.3
"""Share of a climb's tries that begin anew."""


class Asked:
    """The learning problems of one kind. ``Asked(workers, problems, "story").right(solo(0, "story"), 3)``: the fourth one."""

    def __init__(self, workers: Sequence[Specialist], problems: Sequence[Problem], about: str) -> None:
        self.workers = range(len(workers))
        self.about = about
        self._benches = [PaidOnce(workers, problem) for problem in problems]
        self._known: dict[tuple[Candidate, int], bool] = {}
        self.calls = 0
        """Paid so far; equal ones once."""

    def __len__(self) -> int:
        """How many problems there are."""
        return len(self._benches)

    def right(self, candidate: Candidate, problem: int) -> bool:
        """Whether it is right on problem number ``problem``."""
        key = candidate, problem
        if key not in self._known:
            bench = self._benches[problem]
            before = bench.calls
            self._known[key] = bench.right(workflow(candidate))
            self.calls += bench.calls - before
        return self._known[key]

    def share(self, candidate: Candidate, count: int) -> float:
        """Share right of the first ``count`` problems."""
        count = min(count, len(self))
        return sum(self.right(candidate, number) for number in range(count)) / count

    def drawn(self, rng: random.Random) -> Candidate:
        """Any plan of the catalogue with any workers, changed in up to two places."""
        plan = rng.choice(GENERAL.plans)
        one = staffed(plan, rng.choices(self.workers, k=len(plan)), self.about)
        for _ in range(rng.choice((0, 0, 1, 2))):
            one = changed(one, self.workers, rng, LONGEST)
        return one


Rival = Callable[[Asked, random.Random], Iterator[Candidate]]


def course(rival: Rival, asked: Asked, rng: random.Random, allowed: Sequence[int]) -> list[Candidate]:
    """What ``rival`` hands in after each number of calls in ``allowed`` (ascending), before it has paid more."""
    found: list[Candidate] = []
    best = solo(0, asked.about)
    for then in rival(asked, rng):
        while len(found) < len(allowed) and asked.calls > allowed[len(found)]:
            found.append(best)
        if len(found) == len(allowed):
            return found
        best = then
    return found + [best] * (len(allowed) - len(found))


def random_search(asked: Asked, rng: random.Random) -> Iterator[Candidate]:
    """Draws; whoever keeps up with the best on a few problems is measured."""
    best, worth = solo(0, asked.about), 0.0
    tried: set[Candidate] = set()
    while True:
        one = asked.drawn(rng)
        if one not in tried:
            tried.add(one)
            if all(asked.share(one, count) >= worth - less for count, less in LOOKS):
                share = asked.share(one, MEASURED)
                if share > worth:
                    best, worth = one, share
        yield best


def climbing(asked: Asked, rng: random.Random) -> Iterator[Candidate]:
    """As random search, but most of what is drawn is the best so far with one change."""
    best, worth = solo(0, asked.about), 0.0
    tried: set[Candidate] = set()
    while True:
        one = asked.drawn(rng) if worth == 0 or rng.random() < FRESH else changed(best, asked.workers, rng, LONGEST)
        if one not in tried:
            tried.add(one)
            if all(asked.share(one, count) >= worth - less for count, less in LOOKS):
                share = asked.share(one, MEASURED)
                if share > worth or (share == worth and rng.random() < 0.5):
                    best, worth = one, share
        yield best


def halving(asked: Asked, rng: random.Random) -> Iterator[Candidate]:
    """Brackets of drawn workflows, half of which go on after each round; the winner is held against the best so far."""
    best, worth = solo(0, asked.about), 0.0
    while True:
        bracket = list(dict.fromkeys(asked.drawn(rng) for _ in range(BRACKET)))
        for count in ROUNDS:
            shares = {}
            for one in bracket:
                shares[one] = asked.share(one, count)
                yield best if worth else max(shares, key=lambda one: shares[one])
            bracket = sorted(bracket, key=lambda one: -shares[one])[: (len(bracket) + 1) // 2]
        for one in bracket:
            share = asked.share(one, MEASURED)
            if share > worth:
                best, worth = one, share
            yield best


def evolution(asked: Asked, rng: random.Random) -> Iterator[Candidate]:
    """After GEPA (arXiv 2507.19457), changes drawn instead of reflected on: a child that does no worse than its parent on a few
    problems is measured on all; parents are drawn by how many they have right, which did better here than by where they lead."""
    front = range(min(FRONT, len(asked)))
    scored: dict[Candidate, list[bool]] = {}
    best = solo(0, asked.about)
    for worker in asked.workers:
        one = solo(worker, asked.about)
        scored[one] = [asked.right(one, number) for number in front]
        best = max(scored, key=lambda one: sum(scored[one]))
        yield best
    while True:
        top = sum(scored[best])
        parent, other = rng.choices(list(scored), weights=[4.0 ** (sum(row) - top) for row in scored.values()], k=2)
        child = _crossed(parent, other, rng) if rng.random() < CROSSED else changed(parent, asked.workers, rng, LONGEST)
        if rng.random() < TWICE:
            child = changed(child, asked.workers, rng, LONGEST)
        if child not in scored:
            glance = rng.sample(front, min(GLANCE, len(front)))
            gain = sum(asked.right(child, number) - scored[parent][number] for number in glance)
            # A parent that has none of them right tells nothing: a child as bad as that is not worth measuring.
            if gain > 0 or (gain == 0 and any(scored[parent][number] for number in glance)):
                scored[child] = [asked.right(child, number) for number in front]
                best = max(scored, key=lambda one: sum(scored[one]))
        yield best


def router(asked: Asked, rng: random.Random) -> Iterator[Candidate]:
    """One worker for the kind, the one that is right most often: what routing can reach where it knows every kind."""
    solos = [solo(worker, asked.about) for worker in asked.workers]
    right = dict.fromkeys(solos, 0)
    for number in range(len(asked)):
        for one in solos:
            right[one] += asked.right(one, number)
        yield max(right, key=lambda one: right[one])


RIVALS: dict[str, Rival] = {
    "random": random_search,
    "climbing": climbing,
    "halving": halving,
    "evolution": evolution,
    "router": router,
}


def _crossed(one: Candidate, other: Candidate, rng: random.Random) -> Candidate:
    """``one`` with workers that take the same role in ``other``, each with even odds."""
    staff = {part.role: part.worker for part in other}
    return tuple(replace(p, worker=staff[p.role]) if p.role in staff and rng.random() < 0.5 else p for p in one)
