"""``podium tune`` beside other ways to spend paid calls in the gym: share of the optimum against calls, in one picture.

``python -m benchmarks.tuning_beside --run RUN [--picture FILE.svg]``: the tune and the best constant workflow found by it with as
many calls; random search, climbing, successive halving over whole workflows, evolution without a model, a router
(``benchmarks/tuning_rivals.py``), all with the kinds of the questions given and the same 250 problems; and GRPO
(``recipes/gym.py``, trained in the folder RUN unless it was before: some 15 minutes), which sees 9,000 problems and began with
lessons in the language. All but GRPO pay equal calls once; ``grpo_once`` is what its rollouts had come to by that rule
(``benchmarks/paid_once.py``). Everything is measured on the held-out problems of ``benchmarks/tuning.py``, medians over seeds.
The last line is one JSON object.
"""

import argparse
import asyncio
import json
import logging
import random
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, median

from benchmarks.paid_once import of_run
from benchmarks.tuning import FIRST, PROBLEMS, Arena
from benchmarks.tuning_rivals import RIVALS, Asked, course
from podium.charts import Dot, alone, plane
from podium.conduct import Conductor
from podium.evaluation.evaluate import evaluate
from podium.gym import GymVerifier
from podium.gym.kinds import KINDS
from podium.gym.specialists import specialists
from podium.gym.stored import stored
from podium.gym.world import World
from podium.policies.local import LocalPolicy
from podium.recipes.gym import config
from podium.training.run import train
from podium.tuning.candidates import Candidate, workflow
from podium.tuning.catalogue import GENERAL

TUNED = (500, 1000, 1500, 2000, 2500, 3050)
TRIED = (500, 1000, 2000, 3000, 6000, 12_000, 25_000, 50_000, 100_000)
SEED, EVERY = 11, 10
"""Of the training run, and after how many iterations each it is measured."""
SHARE = 0.95

Curve = list[tuple[float, float]]
"""Calls and share of the optimum."""


def main() -> None:
    """Measure, print, and end with the JSON line."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--run", type=Path, metavar="RUN", help="folder of the training run; without it GRPO is left out")
    arguments.add_argument("--seeds", type=int, default=3)
    arguments.add_argument("--first", type=int, default=0, help="the first seed; the rivals were worked on with 20 and above")
    arguments.add_argument("--per-kind", type=int, default=200, help="held-out problems of each kind")
    arguments.add_argument("--picture", type=Path, metavar="FILE.svg")
    options = arguments.parse_args()
    logging.getLogger("podium").setLevel(logging.ERROR)
    world = World()
    workers = specialists(world)
    arena = Arena(world, workers, stored().optima, options.per_kind)
    seeds = range(options.first, options.first + options.seeds)
    curves: dict[str, Curve] = {
        "tune": _middle([_tuned(arena, seed, "given") for seed in seeds]),
        "constant": _middle([_tuned(arena, seed, "one") for seed in seeds]),
    }
    for name in RIVALS:
        curves[name] = _middle([_rival(arena, name, seed) for seed in seeds])
    if options.run is not None:
        curves["grpo"], curves["grpo_once"] = asyncio.run(_grpo(arena, options.run))
    for name, curve in curves.items():
        print(f"{name:>10}  " + "  ".join(f"{calls:,.0f}: {share:.3f}" for calls, share in curve))
    if options.picture is not None:
        dots = [
            Dot(name=name, x=calls, y=min(1.0, share), group=name)
            for name, curve in curves.items()
            if name != "grpo_once"
            for calls, share in curve
        ]
        picture = plane(
            dots, x_label="paid calls", y_label="share of the optimum", x_tick=lambda calls: f"{calls:,.0f}", are_joined=True
        )
        options.picture.write_text(alone(picture), encoding="utf-8")
    figures: dict[str, object] = {name: [[round(c), round(s, 4)] for c, s in curve] for name, curve in curves.items()}
    needed = {name: _first(curve) for name, curve in curves.items()}
    tune = needed["tune"]
    for name, calls in needed.items():
        figures[f"{name}_calls_for_95"] = calls
        figures[f"{name}_over_tune"] = None if tune is None or calls is None else round(calls / tune, 1)
    print(json.dumps(figures))


def _tuned(arena: Arena, seed: int, kinds: str) -> Curve:
    """The tune with each allowance anew."""
    curve = []
    for allowed in TUNED:
        found = arena.tuned(seed, allowed, kinds, GENERAL)
        policy, is_one = found.policy, kinds == "one"
        share = arena.by_kind(lambda kind: policy.workflow(policy.choose_for("" if is_one else kind)))  # noqa: B023 - used at once
        curve.append((float(found.calls), share / arena.optimum))
        _say(f"{kinds}, seed {seed}: {curve[-1][1]:.3f} after {found.calls} calls")
    return curve


def _rival(arena: Arena, name: str, seed: int) -> Curve:
    """One run of a rival; every kind gets the same part of the calls."""
    world = arena.world
    problems = world.problems(kinds=KINDS, n=PROBLEMS, seed=FIRST + seed)
    handed: dict[str, list[Candidate]] = {}
    for kind in KINDS:
        asked = Asked(specialists(world), [problem for problem in problems if problem.kind == kind], kind)
        rng = random.Random(f"{name} {seed} {kind}")
        handed[kind] = course(RIVALS[name], asked, rng, [allowed // len(KINDS) for allowed in TRIED])
    curve = []
    for number, allowed in enumerate(TRIED):
        share = arena.by_kind(lambda kind: workflow(handed[kind][number]))  # noqa: B023 - used at once
        curve.append((float(allowed), share / arena.optimum))
    _say(f"{name}, seed {seed}: " + ", ".join(f"{share:.3f}" for _, share in curve))
    return curve


async def _grpo(arena: Arena, run: Path) -> tuple[Curve, Curve]:
    """The greedy policy after every so many iterations, against all calls of its rollouts until then; equal ones once."""
    kept = run / "snapshots"

    def keep(seen: object, groups: object) -> None:
        latest = run / "state" / (run / "state" / "latest").read_text(encoding="utf-8").strip()
        if int(latest.name) % EVERY == 0:
            shutil.copytree(latest, kept / latest.name, dirs_exist_ok=True)

    if not (kept / f"{config(SEED).iterations:06d}").is_dir():
        await train(config(SEED), run, on_iteration=keep)
    if not kept.is_dir():
        raise SystemExit(f"{run} was trained elsewhere and kept no policy on the way; name another folder")
    calls = of_run(run, config(SEED))
    problems = [problem for kind in arena.kinds for problem in arena.held(kind)]
    curve: Curve = []
    once: Curve = []
    for folder in sorted(kept.iterdir()):
        policy = LocalPolicy.load(folder, temperature=0.0, seed=0)
        arm = Conductor(policy, arena.pool, syntax=policy.dialect.syntax)
        results = await evaluate({"arm": arm}, problems, GymVerifier())
        share = fmean(result.verdict is not None and result.verdict.correct for result in results)
        of_optimum, number = share / arena.optimum, int(folder.name)
        for points, made in zip((curve, once), calls[number - 1], strict=True):
            points.append((float(made), of_optimum))
        _say(f"grpo, {number} iterations: {of_optimum:.3f} after {curve[-1][0]:,.0f} calls, {once[-1][0]:,.0f} of them different")
    return curve, once


def _middle(curves: Sequence[Curve]) -> Curve:
    """The median of calls and of shares, place by place."""
    return [(median(c for c, _ in places), median(s for _, s in places)) for places in zip(*curves, strict=True)]


def _first(curve: Curve) -> float | None:
    """The calls after which the share was reached for the first time."""
    return next((calls for calls, share in curve if share >= SHARE), None)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
