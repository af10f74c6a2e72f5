"""Draws the workers of a world from a seed: who is best at what, how weak elsewhere, with which habits, at which price.

For each part of each kind one specialist is best. Nobody is best at two parts of one kind while there are enough specialists,
and the same part of different kinds goes to different ones. One worker is fair at everything and best at nothing, and dear.
"""

import random

from podium.errors import ConfigError
from podium.gym.kinds import KINDS, PARTS, UNTRAINED_KINDS, home
from podium.gym.profiles import Habits, Profile

# fmt: off
NAMES = (
    "atlas", "brook", "cedar", "delta", "ember", "fjord", "grove", "heath", "islet", "jetty", "knoll", "larch",
    "marsh", "north", "orchid", "pine", "quarry", "ridge", "slate", "thorn", "umber", "vale", "willow", "yarrow",
    "zephyr", "alder", "birch", "cliff", "dune", "elm", "fern",
)
# fmt: on
FEWEST = 3


FAIR = (0.66, 0.74)
"""How well the fair worker of the usual world does every part, from and to."""


def draw_profiles(seed: int, workers: int, fair_levels: tuple[float, float] = FAIR) -> tuple[Profile, ...]:
    """``workers`` profiles. Raises :class:`ConfigError` for fewer than 3 and more than 31."""
    if not FEWEST <= workers <= len(NAMES):
        raise ConfigError(f"a world has {FEWEST} to {len(NAMES)} workers, not {workers}")
    rng = random.Random(f"workers {seed} {workers}")
    fair = rng.randrange(workers)
    best = _best(rng, [worker for worker in range(workers) if worker != fair])
    families = [f"family {rng.randrange(max(2, workers // 3))}" for _ in range(workers)]
    return tuple(
        Profile(
            name=NAMES[worker],
            levels=_levels(rng, {pair for pair, who in best.items() if who == worker}, fair_levels if worker == fair else None),
            habits=_habits(rng, families[worker]),
            **_price(rng, fair=worker == fair),
        )
        for worker in range(workers)
    )


def _best(rng: random.Random, specialists: list[int]) -> dict[tuple[str, str], int]:
    """(kind, part) -> the specialist who is best at it."""
    pairs = [(kind, part) for kind in KINDS for part in PARTS[kind]]
    # What few can do is given away first, so that the rest still has a choice: kinds of many parts.
    rng.shuffle(pairs)
    pairs.sort(key=lambda pair: -len(PARTS[pair[0]]))
    best: dict[tuple[str, str], int] = {}
    for kind, part in pairs:

        def burden(worker: int, kind: str = kind, part: str = part) -> tuple[int, int, int, float]:
            own = [pair for pair, who in best.items() if who == worker]
            return (
                sum(other == kind for other, _ in own),
                sum(other == part for _, other in own),
                len(own),
                rng.random(),
            )

        best[kind, part] = min(specialists, key=burden)
    return best


def _levels(rng: random.Random, own: set[tuple[str, str]], fair: tuple[float, float] | None) -> dict[tuple[str, str], float]:
    levels: dict[tuple[str, str], float] = {}
    for kind in KINDS:
        for part in PARTS[kind]:
            if (kind, part) in own:
                low, high = (0.78, 0.82) if part == "write" else (0.985, 0.995)
            else:
                low, high = fair or (0.32, 0.52)
            levels[kind, part] = rng.uniform(low, high)
    for kind in UNTRAINED_KINDS:
        for part in PARTS[home(kind)]:
            levels[kind, part] = min(0.985, levels[home(kind), part] + rng.uniform(-0.03, 0.03))
    return levels


def _habits(rng: random.Random, family: str) -> Habits:
    return Habits(
        distracted=rng.uniform(0.04, 0.08),
        spoils=rng.uniform(0.03, 0.1),
        alters=rng.uniform(0.1, 0.2),
        rambles=rng.uniform(0.01, 0.03),
        needs_words=rng.uniform(0.03, 0.05),
        family=family,
        shared=rng.uniform(0.35, 0.55),
    )


def _price(rng: random.Random, *, fair: bool) -> dict[str, float]:
    dear = 3.0 if fair else rng.choice((0.5, 0.8, 1.0, 1.2, 1.5))
    return {
        "prompt_usd": dear * 1e-6,
        "completion_usd": dear * 5e-6,
        "latency_seconds": rng.uniform(0.3, 0.9) * (2.0 if fair else 1.0),
        "tokens_per_second": 60.0 if fair else rng.uniform(70.0, 150.0),
    }
