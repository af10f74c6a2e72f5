"""What would make the claim false: constant workflows, the same for every question, searched for as hard as can be.

Two sorts of starts: whatever comes to mind (each worker alone, plans of random steps), and what an adversary would try who
knows the best workflow of every kind: several of them side by side in one, each with the question in its subtasks, and a last
step that makes one answer of theirs. From the best starts the search climbs with all moves. Every workflow that was ever
scored is remembered, so that the best for each number of steps and of workers comes out of one search; finalists are compared
on other problems.
"""

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from podium.gym.gauge import Gauge
from podium.gym.search import ASKED, Climber, Target, chain, joined
from podium.gym.specialists import Specialist
from podium.gym.wordings import PLAIN, wordings_for
from podium.gym.world import World
from podium.types import Workflow

MAX_STEPS = 7
SEARCH, CHOICE = 25, 120
"""Training problems per kind to search on, and to choose among the finalists on."""
_FINALISTS = 12
_REFINE = 60
"""Training problems per kind that the best are climbed from once more on, where the search overfits less."""


@dataclass(slots=True)
class Remembered:
    """The best workflows scored so far, by a label: ``steps 3``, ``workers 2``, ``any``, ``cheap``."""

    best: dict[str, dict[Workflow, float]] = field(default_factory=dict)

    def add(self, workflow: Workflow, score: float, *, cheap: bool = False) -> None:
        """Take in a workflow."""
        workers = len({step.worker for step in workflow.steps})
        labels = ["any", f"steps {len(workflow.steps)}", f"workers {workers}", *(["cheap"] if cheap else [])]
        for label in labels:
            kept = self.best.setdefault(label, {})
            kept[workflow] = max(score, kept.get(workflow, score))
            if len(kept) > 4 * _FINALISTS:
                self.best[label] = dict(sorted(kept.items(), key=lambda item: -item[1])[:_FINALISTS])

    def top(self, label: str, n: int) -> list[Workflow]:
        """The ``n`` best of a label."""
        kept = self.best.get(label, {})
        return sorted(kept, key=lambda workflow: -kept[workflow])[:n]


@dataclass(frozen=True, slots=True, kw_only=True)
class Constants:
    """The best constant workflows found, chosen on problems that the search did not see."""

    best: Workflow
    cheap: Workflow
    """At no more dollars a problem than the limit."""
    catalogue: Mapping[str, Workflow]
    """By label: the best for each number of steps and of workers."""
    calls: int


def find_constants(
    world: World,
    workers: Sequence[Specialist],
    optima: Mapping[str, Workflow],
    limit_usd: float,
    *,
    calls: int,
    over: float = 1.0,
    seed: int = 0,
) -> Constants:
    """Search with at least ``calls`` calls; ``optima`` are the best workflows by kind, which the adversary knows: of these kinds.

    Single climbs get shares of ``over`` times the calls, which make more than the whole: some end early.
    """
    rng = random.Random(f"constants {seed}")
    remembered = Remembered()
    spent = 0
    ends: list[Workflow] = []
    words = tuple(wordings_for(None).values())

    def target(n: int, number: int, limit: float | None = None) -> Target:
        gauges = {kind: Gauge(workers, world.problems(kinds=(kind,), n=n, seed=3000 + number)) for kind in optima}
        return Target(gauges, limit_usd=limit)

    def climbed(start: Workflow, searched: Target, share: float, *, at_most: int | None = None) -> Workflow:
        nonlocal spent
        before = searched.calls
        climber = Climber(
            len(workers),
            words,
            MAX_STEPS,
            rng,
            seen=lambda workflow, score: remembered.add(workflow, score, cheap=searched.limit_usd is not None and score >= 0),
            allowed=lambda w: at_most is None or len({step.worker for step in w.steps}) <= at_most,
        )
        _, found = climber.climb(searched, start, calls=max(1, round(share * over * calls)))
        spent += searched.calls - before
        ends.append(found)
        return found

    first = target(SEARCH, 0)
    starts = [*_side_by_side(optima, len(workers)), *_layers(len(workers)), *_plain(len(workers), rng)]
    scored = sorted(starts, key=first.score, reverse=True)
    cheap_starts = [workflow for workflow in scored if first.cost(workflow) <= limit_usd]
    for workflow in scored[:200]:
        remembered.add(workflow, first.score(workflow))
    spent += first.calls
    layered = _different(sorted(_layers(len(workers)), key=first.score, reverse=True), 3)
    chosen = [*_different(scored, 5), *layered, *rng.sample(starts[-12:], 2)]
    for number, start in enumerate(chosen):
        climbed(start, target(SEARCH, number), 0.06)
    for count in range(1, min(len(workers), MAX_STEPS)):
        [start] = remembered.top(f"workers {count}", 1) or [chain([(0, PLAIN["answer"])])]
        climbed(start, target(SEARCH, 20 + count), 0.02, at_most=count)
    for number, start in enumerate(_different(cheap_starts, 4)):
        climbed(start, target(SEARCH, 50 + number, limit_usd), 0.04)
    # A search on few problems ends with what is lucky on them, so its ends are compared, and climbed from, on more.
    refined = target(_REFINE, 60)
    for start in sorted(dict.fromkeys([*ends, *layered, *remembered.top("any", 6)]), key=refined.score)[-3:]:
        climbed(start, refined, 0.15)
    cheaply = target(_REFINE, 61, limit_usd)
    for start in sorted(dict.fromkeys([*ends, *remembered.top("cheap", 6)]), key=cheaply.score)[-1:]:
        climbed(start, cheaply, 0.1)
    number = 80
    while spent < calls:  # climbs that found nothing more have left some
        climbed(rng.choice(scored[:60]), target(SEARCH, number), 0.1)
        number += 1
    choice, choice_cheap = target(CHOICE, 70), target(CHOICE, 70, limit_usd)
    catalogue = {
        label: max(remembered.top(label, _FINALISTS), key=(choice_cheap if label == "cheap" else choice).score)
        for label in sorted(remembered.best)
    }
    best = max((*catalogue.values(), *ends), key=choice.score)
    # What is not dear may be found by the search without a limit, too.
    cheap = max((*catalogue.values(), *ends), key=choice_cheap.score)
    catalogue |= {"any": best, "cheap": cheap}
    spent += choice.calls + choice_cheap.calls
    return Constants(best=best, cheap=cheap, catalogue=catalogue, calls=spent)


def _side_by_side(optima: Mapping[str, Workflow], workers: int) -> Iterator[Workflow]:
    """The best workflows of some kinds in one, with every worker as the last step in every sensible role."""
    for count in range(1, len(optima) + 1):
        for kinds in itertools.permutations(optima, count):
            parts = [optima[kind] for kind in kinds]
            # The last answer counts where answers differ, so the order matters; of many orders a few do.
            if sum(len(part.steps) for part in parts) >= MAX_STEPS or (count > 2 and list(kinds) != sorted(kinds)):
                continue
            yield joined(parts)
            for worker in range(workers):
                for verb in ("report", "answer", "verify"):
                    yield joined(parts, (worker, PLAIN[verb]))


def _layers(workers: int) -> Iterator[Workflow]:
    """Mixtures of as many workers as there are steps for, and consensus of one with itself, with a last step in every role."""
    asking = (PLAIN["answer"], "Write a plan, recall the facts, and compute the answer.")
    for layer in (range(min(workers, MAX_STEPS - 1)), range(max(0, workers - MAX_STEPS + 1), workers)):
        for judge in range(workers):
            for answer in asking:
                for verb in ("report", "answer", "verify", "compute"):
                    yield joined([chain([(worker, answer)]) for worker in layer], (judge, PLAIN[verb]))
    for worker in range(workers):
        for judge in range(workers):
            yield joined([chain([(worker, PLAIN["answer"])])] * 5, (judge, PLAIN["compute"]))


def _plain(workers: int, rng: random.Random) -> Iterator[Workflow]:
    """Each worker alone, planner-recaller-computer chains of two workers, and random plans."""
    for worker in range(workers):
        yield chain([(worker, PLAIN["answer"])])
        for other in range(workers):
            yield chain([(worker, PLAIN["plan"]), (other, PLAIN["recall"]), (worker, PLAIN["answer"])])
            yield chain([(worker, PLAIN["answer"]), (other, PLAIN["verify"])])
    words = list(PLAIN.values())
    for _ in range(12):
        yield chain(
            [(rng.randrange(workers), rng.choice((ASKED, "")) + rng.choice(words)) for _ in range(rng.randint(3, MAX_STEPS))]
        )


def _different(scored: Sequence[Workflow], n: int) -> list[Workflow]:
    """The best ones, no two of which differ in their last worker only."""
    kept: dict[object, Workflow] = {}
    for workflow in scored:
        kept.setdefault(workflow.steps[:-1] or workflow.steps, workflow)
        if len(kept) == n:
            break
    return list(kept.values())


def accuracy_by_kind(gauges: Mapping[str, Gauge], workflow: Workflow) -> dict[str, float]:
    """Kind -> share right."""
    return {kind: gauge.accuracy(workflow) for kind, gauge in gauges.items()}
