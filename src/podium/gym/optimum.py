"""The best workflow of every kind, found by search over any pool of workers, whatever they are called.

For each shape of plan the workers are chosen, all pairs tried where it has two steps; the best shapes are then climbed from
with all moves (:mod:`podium.gym.search`). Nothing of the workers' profiles is looked at: the search only asks them.
"""

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass

from podium.gym.gauge import Gauge
from podium.gym.kinds import KINDS, UNTRAINED_KINDS, home
from podium.gym.search import Climber, Seen, Target, chain
from podium.gym.specialists import Specialist
from podium.gym.wordings import NAMED, PLAIN, wordings_for
from podium.gym.world import World
from podium.types import Workflow

_SHAPES: tuple[tuple[tuple[str, tuple[int, ...]], ...], ...] = (
    (("answer", ()),),
    (("write", ()),),
    (("plan", ()), ("compute", (0,))),
    (("recall", ()), ("answer", (0,))),
    (("answer", ()), ("verify", (0,))),
    (("write", ()), ("verify", (0,))),
    (("plan", ()), ("recall", (0,)), ("compute", (0, 1))),
    (("plan", ()), ("nature", (0,)), ("made", (0,)), ("compute", (0, 1, 2))),
)
"""Plans with what each step sees."""
_SWEEPS = 4
SEARCH, CHOICE = 40, 120
"""Training problems per kind to search on, and to choose among what was found on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a search found. Example: ``find_optimum(world, workers)["choice"].workflow.steps[0].worker``."""

    workflow: Workflow
    calls: int
    """How many calls of workers the search took."""


def find_optimum(world: World, workers: Sequence[Specialist], *, seed: int = 0, light: bool = False) -> dict[str, Found]:
    """The best workflow of each kind, the untrained ones included, found on training problems; ``light``: on half as many."""
    return {kind: best_for(kind, world, workers, seed=seed, light=light) for kind in (*KINDS, *UNTRAINED_KINDS)}


def best_for(
    kind: str, world: World, workers: Sequence[Specialist], *, seed: int = 0, max_steps: int = 5, light: bool = False
) -> Found:
    """The best workflow of ``kind``."""
    rng = random.Random(f"optimum {seed} {kind}")
    problems = world.problems(kinds=(kind,), n=SEARCH // 2 if light else SEARCH, seed=1000 + seed)
    target = Target({kind: Gauge(workers, problems)})
    words = wordings_for(home(kind))
    tried: dict[Workflow, float] = {}

    def seen(workflow: Workflow, score: float) -> None:
        tried[workflow] = score

    for shape in _SHAPES:
        if len(shape) <= max_steps:
            steps = [(0, _worded(kind, part)) for part, _ in shape]
            _staffed(target, steps, [access for _, access in shape], len(workers), seen)
    # Few problems leave many teams near the top, and what is climbed from two of them would leave the others no place.
    staffed = _top(tried, 12) if light else []
    climber = Climber(len(workers), tuple(words.values()), max_steps, rng, patience=120, seen=seen)
    for workflow in _top(tried, 2):
        climber.climb(target, workflow)
    choice = Gauge(workers, world.problems(kinds=(kind,), n=CHOICE, seed=2000 + seed))
    candidates = [*dict.fromkeys([*_top(tried, 8), *staffed])]
    best = max(candidates, key=lambda workflow: (choice.accuracy(workflow), -len(workflow.steps), -choice.cost(workflow)))
    return Found(workflow=best, calls=target.calls + choice.calls)


def _staffed(target: Target, steps: list[tuple[int, str]], access: list[tuple[int, ...]], workers: int, seen: Seen) -> None:
    """Choose the workers of a plan: every pair where there are two, else one after the other until no change helps."""

    def score(team: Sequence[int]) -> float:
        workflow = chain([(worker, text) for worker, (_, text) in zip(team, steps, strict=True)], access)
        found = target.score(workflow)
        seen(workflow, found)
        return found

    if len(steps) <= 2:
        for team in itertools.product(range(workers), repeat=len(steps)):
            score(team)
        return
    # From whoever is best in all roles, and once more from there, until nobody is exchanged any more.
    best = max(([worker] * len(steps) for worker in range(workers)), key=score)
    for _ in range(_SWEEPS):
        before = list(best)
        for at in (*reversed(range(len(steps))), *range(len(steps))):
            best = max(([*best[:at], worker, *best[at + 1 :]] for worker in range(workers)), key=score)
        if best == before:
            break


def _worded(kind: str, part: str) -> str:
    named = NAMED[home(kind)]
    plain = {"nature": "recall", "made": "recall"}.get(part, part)
    return named.get(part) or named.get(plain) or PLAIN[plain]


def _top(tried: dict[Workflow, float], n: int) -> list[Workflow]:
    return sorted(tried, key=lambda workflow: (-tried[workflow], len(workflow.steps)))[:n]
