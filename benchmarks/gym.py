"""The gym measured: every specialist alone, the best workflow, the gap and the slope per kind, and calls per second.

``python -m benchmarks.gym`` takes about a minute; ``--quick`` a few seconds. The last line is one JSON object with the keys
``best_single``, ``optimum``, ``per_kind`` and ``calls_per_second``. ``--search`` finds the optima anew and writes
``src/podium/gym/optimum.json`` (minutes). ``--certify`` certifies the demanding world (:mod:`benchmarks.certificate`; at most 15
minutes on one quiet core), with ``--world FILE.py`` any module with ``WORLD`` and ``WORKERS``, with ``--draw SEED`` a drawn one.
"""

import argparse
import asyncio
import json
import math
import time
from collections import Counter
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks import certificate
from podium.gym.gauge import Gauge
from podium.gym.optimum import SUBTASKS, optimum, search, single
from podium.gym.specialists import Specialist, specialists
from podium.gym.templates import KINDS, UNTRAINED_KINDS
from podium.gym.world import World
from podium.types import Call, Workflow

ALL_KINDS = KINDS + UNTRAINED_KINDS


def main() -> None:
    """Measure, print, and end with the JSON line."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--quick", action="store_true", help="200 problems a kind instead of 2000")
    arguments.add_argument("--search", action="store_true", help="search the optima anew and store them")
    arguments.add_argument("--certify", action="store_true", help="search for what would make the claim false, and measure it")
    arguments.add_argument("--world", type=Path, metavar="FILE.py", help="certify this module's WORLD and WORKERS")
    arguments.add_argument("--store", action="store_true", help="with --certify: keep in the package what was found")
    arguments.add_argument("--draw", type=int, metavar="SEED", help="certify the world drawn from this seed")
    options = arguments.parse_args()
    if options.certify or options.world is not None or options.draw is not None:
        raise SystemExit(certificate.run(options.world, options.draw, quick=options.quick, store=options.store))
    world = World()
    workers = specialists(world)
    n = 200 if options.quick else 2_000
    # The splits that no search has seen, in equal parts.
    gauges = {
        kind: Gauge(
            workers,
            world.problems(kinds=(kind,), split="held_out_numbers", n=n // 2, seed=7)
            + world.problems(kinds=(kind,), split="held_out_templates", n=n // 2, seed=7),
        )
        for kind in ALL_KINDS
    }
    alone = {w.name: {kind: gauges[kind].accuracy(single(i)) for kind in ALL_KINDS} for i, w in enumerate(workers)}
    best_name = max(alone, key=lambda name: fmean(alone[name][kind] for kind in KINDS))
    if options.search:
        _search(world, workers, single([w.name for w in workers].index(best_name)))
    best = {kind: found.workflow for kind, found in optimum().items()}
    top = {kind: gauges[kind].accuracy(best[kind]) for kind in ALL_KINDS}

    print(f"{n} held-out problems per kind (half other numbers, half other templates)\n")
    print(f"{'':26}" + "".join(f"{kind:>12}" for kind in ALL_KINDS) + f"{'mean of 4':>12}")
    for worker in workers:
        _row(f"{worker.name} ({worker.profile.trade})", alone[worker.name])
    _row("best workflow", top)
    _row("gap to the best single", {kind: top[kind] - max(row[kind] for row in alone.values()) for kind in ALL_KINDS})
    print("\nThe best workflow of each kind, and the climb to it from the best single specialist, one change at a time")
    for kind, found in optimum().items():
        print(f"\n{kind}: {_shown(best[kind], workers)}   stored: {found.accuracy:.3f} [{found.low:.3f}, {found.high:.3f}]")
        for workflow in found.path:
            print(f"    {gauges[kind].accuracy(workflow):.3f}  {_shown(workflow, workers)}")
    shares = Counter(step.worker for kind in KINDS for step in best[kind].steps)
    entropy = -sum(c / shares.total() * math.log2(c / shares.total()) for c in shares.values())
    print(f"\nWorker shares under the optimum of the four kinds: {entropy:.2f} bits over {len(shares)} workers")
    speed = _calls_per_second(world, workers, 2_000 if options.quick else 10_000)
    print(f"{speed:.0f} specialist calls per second on one core, every question new")
    print(
        json.dumps(
            {
                "best_single": round(fmean(alone[best_name][kind] for kind in KINDS), 4),
                "optimum": round(fmean(top[kind] for kind in KINDS), 4),
                "per_kind": {
                    kind: {
                        "best_single": round(max(row[kind] for row in alone.values()), 4),
                        "optimum": round(top[kind], 4),
                        "steps": len(best[kind].steps),
                    }
                    for kind in ALL_KINDS
                },
                "worker_entropy_bits": round(entropy, 3),
                "calls_per_second": round(speed),
            }
        )
    )


def _row(label: str, accuracy: dict[str, float]) -> None:
    mean = fmean(accuracy[kind] for kind in KINDS)
    print(f"{label:26}" + "".join(f"{accuracy[kind]:12.3f}" for kind in ALL_KINDS) + f"{mean:12.3f}")


def _shown(workflow: Workflow, workers: list[Specialist]) -> str:
    verbs = {subtask: verb for verb, subtask in SUBTASKS.items()}
    return " -> ".join(f"{workers[s.worker].profile.trade}: {verbs[s.subtask]} {list(s.access)}" for s in workflow.steps)


def _calls_per_second(world: World, workers: list[Specialist], n: int) -> float:
    """Plain calls through ``await``, each with a question of its own, the specialists taking turns.

    The best of five batches: what else runs on the machine can only slow a batch down.
    """
    calls = [Call.plain(problem.question) for problem in world.problems(n=n, seed=11)]

    async def batch(part: list[Call]) -> float:
        start = time.perf_counter()
        for i, call in enumerate(part):
            await workers[i % len(workers)](call)
        return len(part) / (time.perf_counter() - start)

    return max(asyncio.run(batch(calls[i::5])) for i in range(5))


def _search(world: World, workers: list[Specialist], start: Workflow) -> None:
    found: dict[str, Any] = {}
    for kind in ALL_KINDS:
        begun = time.perf_counter()
        found[kind] = search(world, workers, kind, start)
        print(f"{kind}: {found[kind]['accuracy']:.3f} after {time.perf_counter() - begun:.0f} s", flush=True)
    path = Path(__file__).resolve().parent.parent / "src" / "podium" / "gym" / "optimum.json"
    note = "Found by python -m benchmarks.gym --search; World(), seven specialists, noise 0.5."
    path.write_text(json.dumps({"note": note, "kinds": found}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
