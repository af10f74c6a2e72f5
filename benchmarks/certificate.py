"""A certificate that a gym world needs a conductor: what would make the claim false, searched for and measured.

``python -m benchmarks.gym --certify`` runs it for the usual world, ``--world FILE.py`` for a module with ``WORLD`` and
``WORKERS``, ``--draw SEED`` for a drawn world. It prints one table; the last line is one JSON object of shares of the optimum.
It ends with 1 where a bound does not hold. Of several draws it prints a line each; one in ten may be refused.
"""

import importlib.util
import json
import math
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from podium.gym.certify import BOUNDS, EFFORT, MEASURED, Certificate, certify
from podium.gym.kinds import KINDS, SHORT_KINDS, UNTRAINED_KINDS
from podium.gym.opponents import find_constants
from podium.gym.specialists import Specialist, specialists
from podium.gym.stored import as_json
from podium.gym.world import World, draw_world
from podium.types import Workflow

QUICK = (100, 2)
"""Held-out problems per kind, and effort, of a quick certificate, which proves nothing."""


def run(file: Path | None, draws: Sequence[int], *, quick: bool, store: bool) -> int:
    """Certify, print, and return the exit status; ``store``: keep what was found for the usual world in the package."""
    if store and (file is not None or draws or quick):
        raise SystemExit("--store keeps what a whole search finds for the usual world; leave out --world, --draw and --quick")
    if len(draws) > 1:
        return _several(draws, quick=quick)
    world, workers = named_world(file) if file is not None else _usual(draws[0] if draws else None)
    started, cpu = time.perf_counter(), time.process_time()
    found = _certified(world, workers, quick=quick)
    _print(found, workers)
    print(f"\n{time.process_time() - cpu:.0f} s of CPU, {time.perf_counter() - started:.0f} s of wall")
    if store:
        short = {kind: found.optima[kind] for kind in SHORT_KINDS}
        calls = EFFORT * found.calls["optimum"] * len(SHORT_KINDS) // len(KINDS)
        best_of_short = find_constants(world, workers, short, math.inf, calls=calls).best
        opponents = {"constant": found.constants.best, "constant:cheap": found.constants.cheap, "constant:short": best_of_short}
        opponents |= found.baselines
        text = as_json(found.optima, opponents, found.figures)
        package = Path(__file__).resolve().parent.parent / "src" / "podium"
        (package / "gym" / "found.json").write_text(text, encoding="utf-8")
    for failure in found.failures:
        print(f"needs no conductor: {failure}")
    print(json.dumps(_rounded(found)))
    return 1 if found.failures else 0


def _several(draws: Sequence[int], *, quick: bool) -> int:
    """A line for each drawn world, as soon as it is known; 1 where more than one in ten is refused.

    Both sides search with about half the calls of a single certificate, the opponents with ten times as many in all.
    """
    shown: list[dict[str, Any]] = []
    for draw in draws:
        world, workers = _usual(draw)
        cpu = time.process_time()
        found = _certified(world, workers, quick=quick, light=True)
        refused = "needs no conductor: " + "; ".join(found.failures) if found.failures else "holds"
        calls = f"{found.calls['optimum']:,} and {found.calls['opponents']:,} calls"
        figures = ", ".join(f"{name} {value:.3f}" for name, value in found.figures.items())
        print(
            f"draw {draw}, {len(workers)} workers: {figures}; {calls}, {time.process_time() - cpu:.0f} s of CPU; {refused}",
            flush=True,
        )
        shown.append({"draw": draw, "workers": len(workers), "holds": not found.failures, **_rounded(found)})
    holding = sum(each["holds"] for each in shown)
    print(json.dumps({"worlds": shown, "holding": holding}))
    return 1 if holding < 0.9 * len(draws) else 0


def _certified(world: World, workers: Sequence[Specialist], *, quick: bool, light: bool = False) -> Certificate:
    cpu = time.process_time()

    def say(text: str) -> None:
        print(f"{text}, {time.process_time() - cpu:.0f} s of CPU", file=sys.stderr, flush=True)

    measured, effort = QUICK if quick else (MEASURED, EFFORT)
    return certify(world, workers, measured=measured, effort=effort, light=light, say=say)


def _rounded(found: Certificate) -> dict[str, float]:
    return {name: round(value, 4) for name, value in found.figures.items()}


def _usual(draw: int | None) -> tuple[World, Sequence[Specialist]]:
    world = World() if draw is None else draw_world(draw)
    return world, specialists(world)


def named_world(file: Path) -> tuple[World, Sequence[Specialist]]:
    """``WORLD`` and ``WORKERS`` of the module in ``file``."""
    spec = importlib.util.spec_from_file_location("certified_world", file)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{file} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    missing = [name for name in ("WORLD", "WORKERS") if not hasattr(module, name)]
    if missing:
        raise SystemExit(f"{file} has no {missing[0]}: a world to certify is a module with WORLD and WORKERS")
    return module.WORLD, module.WORKERS


def _print(found: Certificate, workers: Sequence[Specialist]) -> None:
    kinds = (*KINDS, *UNTRAINED_KINDS)
    print("Held-out problems, half other numbers and combinations, half other templates; the mean is of the trained kinds\n")
    print(f"{'':42}" + "".join(f"{kind:>11}" for kind in kinds) + f"{'mean':>8}{'of best':>9}{'$/1000':>8}")
    top = next(row.mean for row in found.rows if row.name == "optimum")
    for row in found.rows:
        cells = "".join(f"{row.accuracy[kind]:11.3f}" for kind in kinds)
        print(f"{row.name:42}{cells}{row.mean:8.3f}{row.mean / top:9.3f}{1000 * row.cost_usd:8.3f}")
    print("\nThe best workflow of each kind")
    for kind, workflow in found.optima.items():
        print(f"  {kind}: {_shown(workflow, workers)}")
    print(f"The best constant workflow: {_shown(found.constants.best, workers)}")
    print("\nBounds: " + ", ".join(f"{name} {low:g} to {high:g}" for name, (low, high) in BOUNDS.items()))
    print(f"Calls: {found.calls['optimum']:,} for the optimum, {found.calls['opponents']:,} for its opponents")


def _shown(workflow: Workflow, workers: Sequence[Specialist]) -> str:
    return "; ".join(f"{workers[s.worker].name}: {' '.join(s.subtask.split())} {list(s.access)}" for s in workflow.steps)
