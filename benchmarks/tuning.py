"""What ``podium tune`` finds in the gym, in shares of the optimum, and how many paid calls it takes.

``python -m benchmarks.tuning`` tunes the usual world with kinds given and kinds not given, and drawn worlds; ``--world FILE.py``
takes any module with ``WORLD`` and ``WORKERS``, ``--draw N`` the first N drawn worlds, ``--only`` one part. Everything is
measured on held-out problems, half other numbers and combinations, half other templates. The last line is one JSON object.
"""

import argparse
import asyncio
import json
import logging
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean, median

from benchmarks.certificate import named_world
from podium.gym import GymVerifier
from podium.gym.gauge import Gauge
from podium.gym.kinds import KINDS
from podium.gym.optimum import best_for
from podium.gym.specialists import Specialist, specialists
from podium.gym.stored import stored
from podium.gym.world import World, draw_world
from podium.tuning.catalogue import GENERAL, Catalogue
from podium.tuning.result import Tuned
from podium.tuning.run import tune_pool
from podium.types import Problem, Workflow
from podium.workers.pool import Member, WorkerPool

PROBLEMS = 250
FIRST = 5_000
"""Seed of the first run's problems; the search was developed with --first 20 and above."""
FIRST_WORLD = 100
"""Seed of the first drawn world; the search was developed with --first 20 and above."""
GIVEN_CALLS, FOUND_CALLS, WORLD_CALLS = 3_000, 4_000, 5_000
"""What each run may spend at most."""


OWN = replace(
    GENERAL,
    name="gym's own",
    roles={**GENERAL.roles, "recall made": "Recall the facts about man-made things that are needed. Do not answer yet."},
    prepared=(("plan", "recall"), ("recall", "recall nature", "recall made")),
    swept=(
        (("plan", ()), ("compute", (0,))),
        (("plan", ()), ("recall nature", (0,)), ("recall made", (0,)), ("compute", (0, 1, 2))),
        (("plan", ()), ("recall", (0,)), ("compute", (0, 1))),
    ),
)
"""A catalogue by somebody who knows what the gym's questions fall into."""


class Arena:
    """A world with its workers, and how good any workflow is on its held-out problems."""

    def __init__(
        self,
        world: World,
        workers: Sequence[Specialist],
        optima: Mapping[str, Workflow],
        per_kind: int,
        kinds: Sequence[str] = KINDS,
    ) -> None:
        self.world = world
        self.kinds = kinds
        self.pool = WorkerPool([Member(worker=worker, card=worker.card) for worker in workers])
        self._held = {kind: _held_out(world, kind, per_kind) for kind in kinds}
        self._gauges = {kind: Gauge(workers, held) for kind, held in self._held.items()}
        self.optimum = fmean(self._gauges[kind].accuracy(optima[kind]) for kind in kinds)

    def held(self, kind: str) -> list[Problem]:
        """The held-out problems of ``kind``."""
        return self._held[kind]

    def by_kind(self, workflow_for: Callable[[str], Workflow]) -> float:
        """Share right where the workflow goes by the kind of the question."""
        return fmean(self._gauges[kind].accuracy(workflow_for(kind)) for kind in self.kinds)

    def by_question(self, workflow_for: Callable[[str], Workflow]) -> float:
        """Share right where it goes by the text of the question."""
        right = []
        for kind in self.kinds:
            gauge = self._gauges[kind]
            right.append(fmean(gauge.correct(workflow_for(p.question))[n] for n, p in enumerate(self._held[kind])))
        return fmean(right)

    def tuned(self, seed: int, calls: int, kinds: str, catalogue: Catalogue) -> Tuned:
        """A run of tuning with ``kinds`` ``given``, ``found``, or only ``one``, which is a constant workflow."""
        problems = self.world.problems(kinds=self.kinds, n=PROBLEMS, seed=FIRST + seed)
        kind_of: Callable[[Problem], str] | None = {
            "given": lambda problem: problem.kind,
            "found": None,
            "one": lambda problem: "",
        }[kinds]
        about = {kind: kind for kind in self.kinds} if kinds == "given" else {}
        with tempfile.TemporaryDirectory() as folder:
            run = tune_pool(
                self.pool, problems, GymVerifier(), Path(folder), kind_of=kind_of, about=about, max_calls=calls,
                prefer="accuracy", seed=seed, catalogue=catalogue,
            )  # fmt: skip
            return asyncio.run(run)


def main() -> None:
    """Measure, print, and end with the JSON line."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--world", type=Path, metavar="FILE.py", help="tune this module's WORLD and WORKERS")
    arguments.add_argument("--draw", type=int, default=10, metavar="N", help="how many drawn worlds")
    arguments.add_argument("--seeds", type=int, default=5)
    arguments.add_argument("--first", type=int, default=0, help="the first seed")
    arguments.add_argument("--only", choices=("given", "found", "worlds"), help="measure one part")
    arguments.add_argument("--per-kind", type=int, default=200, help="held-out problems of each kind")
    arguments.add_argument(
        "--catalogue", choices=("general", "own"), default="general", help="what workflows are put together of"
    )
    options = arguments.parse_args()
    logging.getLogger("podium").setLevel(logging.ERROR)
    parts = (options.only,) if options.only else ("given", "found") if options.world else ("given", "found", "worlds")
    catalogue = OWN if options.catalogue == "own" else GENERAL
    figures: dict[str, object] = {}
    if "given" in parts or "found" in parts:
        arena = _arena(options.world, options.per_kind)
        seeds = range(options.first, options.first + options.seeds)
        if "given" in parts:
            figures |= _given(arena, seeds, catalogue)
        if "found" in parts:
            figures |= _found(arena, seeds, catalogue)
    if "worlds" in parts:
        figures |= _worlds(
            range(FIRST_WORLD + options.first, FIRST_WORLD + options.first + options.draw), options.per_kind, catalogue
        )
    figures["catalogue"] = catalogue.name
    figures["torch_imported"] = "torch" in sys.modules
    print(json.dumps(figures))


def _given(arena: Arena, seeds: Sequence[int], catalogue: Catalogue) -> dict[str, object]:
    shares, calls, over = [], [], []
    for seed in seeds:
        found = arena.tuned(seed, GIVEN_CALLS, "given", catalogue)
        share = arena.by_kind(lambda kind, found=found: found.policy.workflow(found.policy.choose_for(kind)))  # type: ignore[misc]
        constant = arena.tuned(seed, GIVEN_CALLS, "one", catalogue)
        one = arena.by_kind(lambda kind, constant=constant: constant.policy.workflow(constant.policy.choose_for("")))  # type: ignore[misc]
        shares.append(share / arena.optimum)
        calls.append(found.calls)
        over.append(100 * (share - one))
        _say(f"given, seed {seed}: {shares[-1]:.3f} of the optimum, {calls[-1]} calls, {over[-1]:.1f} points over a constant one")
    return _summed("given_share", shares, min) | _summed("given_calls", calls, max) | _summed("given_over_constant", over, min)


def _found(arena: Arena, seeds: Sequence[int], catalogue: Catalogue) -> dict[str, object]:
    shares, calls, seconds = [], [], []
    for seed in seeds:
        started = time.process_time()
        found = arena.tuned(seed, FOUND_CALLS, "found", catalogue)
        seconds.append(time.process_time() - started)
        policy = found.policy
        share = arena.by_question(lambda question, policy=policy: policy.workflow(policy.choose(question)[0]))  # type: ignore[misc]
        shares.append(share / arena.optimum)
        calls.append(found.calls)
        _say(f"found, seed {seed}: {shares[-1]:.3f} of the optimum, {calls[-1]} calls, {seconds[-1]:.0f} s of CPU")
    return _summed("found_share", shares, min) | _summed("found_calls", calls, max) | _summed("cpu_seconds", seconds, max)


def _worlds(draws: Sequence[int], per_kind: int, catalogue: Catalogue) -> dict[str, object]:
    shares, calls = [], []
    for draw in draws:
        world = draw_world(draw)
        workers = specialists(world)
        arena = Arena(world, workers, optima_of(world, workers), per_kind)
        found = arena.tuned(draw, WORLD_CALLS, "given", catalogue)
        share = arena.by_kind(lambda kind, found=found: found.policy.workflow(found.policy.choose_for(kind)))  # type: ignore[misc]
        shares.append(share / arena.optimum)
        calls.append(found.calls)
        _say(f"world {draw}, {len(workers)} workers: {shares[-1]:.3f} of the optimum ({arena.optimum:.3f}), {calls[-1]} calls")
    return {
        "worlds_share": [round(share, 4) for share in shares],
        "worlds_median": round(median(shares), 4),
        "worlds_worst": round(min(shares), 4),
        "worlds_calls": max(calls),
    }


def _arena(file: Path | None, per_kind: int) -> Arena:
    if file is None:
        world = World()
        return Arena(world, specialists(world), stored().optima, per_kind)
    world, workers = named_world(file)
    return Arena(world, workers, optima_of(world, workers), per_kind)


def optima_of(world: World, workers: Sequence[Specialist], kinds: Sequence[str] = KINDS) -> dict[str, Workflow]:
    """The best workflow of each kind, searched for."""
    return {kind: best_for(kind, world, workers).workflow for kind in kinds}


def _held_out(world: World, kind: str, count: int) -> list[Problem]:
    splits = ("held_out_numbers", "held_out_templates")
    return [p for split in splits for p in world.problems(kinds=(kind,), split=split, n=count // 2, seed=900)]  # type: ignore[arg-type]


def _summed(name: str, values: Sequence[float], worst: Callable[[Sequence[float]], float]) -> dict[str, object]:
    rounded = [round(value, 4) for value in values]
    return {name: round(statistics.median(values), 4), f"{name}_worst": round(worst(values), 4), f"{name}_seeds": rounded}


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
