"""How many paid calls ``podium tune`` needs for 95 % of the optimum, by the number of workers and of kinds of question.

``python -m benchmarks.tuning_growth [--picture FILE.svg]``: worlds drawn with 3, 7, 15 and 31 workers and all six kinds, and with
7 workers and two, four and six kinds; kinds are given. For each of three draws the calls allowed are raised step by step until
what was found has the share of the best workflows on held-out problems; the median draw counts. Calls are those that were paid.
The last line is one JSON object; null: the largest allowance was not enough.
"""

import argparse
import json
import logging
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import linear_regression, median

from benchmarks.tuning import Arena, optima_of
from podium.charts import Dot, alone, plane
from podium.gym.drawing import draw_profiles
from podium.gym.kinds import KINDS
from podium.gym.specialists import specialists
from podium.gym.world import DRAWN_FAIR, World
from podium.tuning.catalogue import GENERAL

SHARE = 0.95
WORKERS, KIND_COUNTS = (3, 7, 15, 31), (2, 4, 6)
ALLOWED = (250, 500, 750, 1000, 1500, 2000, 3000, 4500, 6500, 9000)
FIRST_DRAW = 300


def main() -> None:
    """Measure, print, and end with the JSON line."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--draws", type=int, default=3, help="how many worlds of each size")
    arguments.add_argument("--first", type=int, default=FIRST_DRAW, help="the first one")
    arguments.add_argument("--per-kind", type=int, default=200, help="held-out problems of each kind")
    arguments.add_argument("--picture", type=Path, metavar="FILE.svg")
    options = arguments.parse_args()
    logging.getLogger("podium").setLevel(logging.ERROR)
    draws = range(options.first, options.first + options.draws)
    dots: list[Dot] = []
    sizes = [(workers, len(KINDS)) for workers in WORKERS] + [(7, kinds) for kinds in KIND_COUNTS if kinds != len(KINDS)]
    needed = {
        size: [_needed(draw, *size, per_kind=options.per_kind, dots=dots if draw == draws[0] else []) for draw in draws]
        for size in sizes
    }
    by_workers = {workers: _middle(needed[workers, len(KINDS)]) for workers in WORKERS}
    by_kinds = {kinds: _middle(needed[7, kinds]) for kinds in KIND_COUNTS}
    print(f"{'workers':>8}{'kinds':>7}   calls for {SHARE:.0%} of the optimum, by draw")
    for (workers, kinds), each in needed.items():
        print(f"{workers:8}{kinds:7}   {', '.join('not reached' if calls is None else f'{calls:,}' for calls in each)}")
    if options.picture is not None:
        six = [dot for dot in dots if dot.group.endswith(f"{len(KINDS)} kinds")]
        picture = plane(
            six, x_label="paid calls", y_label="share of the optimum", x_tick=lambda calls: f"{calls:,.0f}", are_joined=True
        )
        options.picture.write_text(alone(picture), encoding="utf-8")
    print(
        json.dumps(
            {
                "calls_by_workers": by_workers,
                "calls_by_kinds": by_kinds,
                "exponent_workers": _exponent(by_workers),
                "exponent_kinds": _exponent(by_kinds),
            }
        )
    )


def _needed(draw: int, workers: int, kinds: int, *, per_kind: int, dots: list[Dot]) -> int | None:
    """The calls after which the share was reached for the first time; every step of the way is a dot."""
    world = World(seed=draw, profiles=draw_profiles(draw, workers, DRAWN_FAIR))
    pool, asked = specialists(world), KINDS[:kinds]
    arena = Arena(world, pool, optima_of(world, pool, asked), per_kind, asked)
    for allowed in ALLOWED:
        found = arena.tuned(draw, allowed, "given", GENERAL)
        policy = found.policy
        share = arena.by_kind(lambda kind, policy=policy: policy.workflow(policy.choose_for(kind))) / arena.optimum  # type: ignore[misc]
        said = f"{workers} workers, {kinds} kinds"
        print(f"{said}, draw {draw}: {share:.3f} of {arena.optimum:.3f} after {found.calls} calls", file=sys.stderr, flush=True)
        dots.append(Dot(name=f"{said}, draw {draw}", x=found.calls, y=min(1.0, share), group=said))
        if share >= SHARE:
            return found.calls
    return None


def _middle(calls: Sequence[int | None]) -> float | None:
    """The median, with what was never reached above all else."""
    middle = median(math.inf if each is None else each for each in calls)
    return None if math.isinf(middle) else middle


def _exponent(calls: dict[int, float | None]) -> float | None:
    """The slope of log calls over log size, by least squares; None with fewer than two sizes that reached the share."""
    reached = {size: each for size, each in calls.items() if each is not None}
    if len(reached) < 2:
        return None
    sizes, logs = [math.log(size) for size in reached], [math.log(each) for each in reached.values()]
    return round(linear_regression(sizes, logs).slope, 3)


if __name__ == "__main__":
    main()
