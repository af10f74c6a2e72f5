"""The gym measured: every worker alone, the best workflows known, the best of their opponents, and calls per second.

``python -m benchmarks.gym`` takes about a minute; ``--quick`` a few seconds. The last line is one JSON object with the keys
``best_single``, ``optimum``, ``constant``, ``constant_cheap``, ``per_kind`` and ``calls_per_second``. What is measured comes from
a search: ``--certify`` does it anew and measures it on problems that it did not see (:mod:`benchmarks.certificate`; at most 15
minutes on one quiet core), with ``--world FILE.py`` for any module with ``WORLD`` and ``WORKERS``, with ``--draw SEED ...`` for
drawn worlds, with ``--store`` to keep what was found in the package.
"""

import argparse
import asyncio
import json
import math
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean

from benchmarks import certificate
from podium.gym.gauge import Gauge
from podium.gym.kinds import KINDS, UNTRAINED_KINDS
from podium.gym.search import chain
from podium.gym.specialists import Specialist, specialists
from podium.gym.stored import stored
from podium.gym.wordings import PLAIN
from podium.gym.world import World
from podium.types import Call, Workflow

ALL_KINDS = KINDS + UNTRAINED_KINDS


def main() -> None:
    """Measure, print, and end with the JSON line."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--quick", action="store_true", help="200 problems a kind instead of 2000")
    arguments.add_argument("--certify", action="store_true", help="search for what would make the claim false, and measure it")
    arguments.add_argument("--world", type=Path, metavar="FILE.py", help="certify this module's WORLD and WORKERS")
    arguments.add_argument("--store", action="store_true", help="with --certify: keep in the package what was found")
    arguments.add_argument(
        "--draw", type=int, nargs="+", default=(), metavar="SEED", help="certify the worlds drawn from these seeds"
    )
    options = arguments.parse_args()
    if options.certify or options.world is not None or options.draw:
        raise SystemExit(certificate.run(options.world, options.draw, quick=options.quick, store=options.store))
    world = World()
    workers, known = specialists(world), stored()
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
    print(f"{n} held-out problems per kind (half other numbers and combinations, half other templates)\n")
    print(f"{'':26}" + "".join(f"{kind:>11}" for kind in ALL_KINDS) + f"{'mean of 6':>11}{'$/1000':>9}")
    alone = {w.name: _row(w.name, gauges, dict.fromkeys(ALL_KINDS, chain([(i, PLAIN["answer"])]))) for i, w in enumerate(workers)}
    opponents = {name: _row(name, gauges, dict.fromkeys(ALL_KINDS, found)) for name, found in known.opponents.items()}
    top = _row("best workflow of each kind", gauges, known.optima)
    shares = Counter(step.worker for kind in KINDS for step in known.optima[kind].steps)
    entropy = -sum(c / shares.total() * math.log2(c / shares.total()) for c in shares.values())
    print(f"\nWorker shares under the best workflows: {entropy:.2f} bits over {len(shares)} workers")
    speed = _calls_per_second(world, workers, 2_000 if options.quick else 10_000)
    print(f"{speed:.0f} calls of workers per second on one core, every question new")
    print(
        json.dumps(
            {
                "best_single": round(max(map(_mean, alone.values())), 4),
                "optimum": round(_mean(top), 4),
                "constant": round(_mean(opponents["constant"]), 4),
                "constant_cheap": round(_mean(opponents["constant:cheap"]), 4),
                "per_kind": {
                    kind: {
                        "best_single": round(max(row[kind] for row in alone.values()), 4),
                        "optimum": round(top[kind], 4),
                        "steps": len(known.optima[kind].steps),
                    }
                    for kind in ALL_KINDS
                },
                "worker_entropy_bits": round(entropy, 3),
                "calls_per_second": round(speed),
            }
        )
    )


def _row(label: str, gauges: Mapping[str, Gauge], chosen: Mapping[str, Workflow]) -> dict[str, float]:
    """Kind -> share right of the workflow chosen for it; prints it."""
    accuracy = {kind: gauges[kind].accuracy(chosen[kind]) for kind in ALL_KINDS}
    cost = 1000 * fmean(gauges[kind].cost(chosen[kind]) for kind in KINDS)
    print(f"{label:26}" + "".join(f"{accuracy[kind]:11.3f}" for kind in ALL_KINDS) + f"{_mean(accuracy):11.3f}{cost:9.3f}")
    return accuracy


def _mean(accuracy: Mapping[str, float]) -> float:
    return fmean(accuracy[kind] for kind in KINDS)


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


if __name__ == "__main__":
    main()
