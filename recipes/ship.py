"""Put a trained run into the package, with the recipe, the curves and the evaluation that made it.

    python recipes/ship.py runs/gym/seed-0
    python recipes/ship.py runs/gym-recursive/seed-0

The first ships its policy as ``gym`` and the start that it came from as ``gym-start``, the second its policy as
``gym-recursive``; the weights are stored as float16. What is shipped is evaluated first, on the problems of
``recipes/gym_check.toml``, which no setting was ever chosen by (some minutes).
"""

import asyncio
import json
import shutil
import sys
from pathlib import Path
from typing import Any

from podium.policies.local import LocalPolicy
from podium.pools.gym import gym_pool
from podium.recipes.gym_check import check_gym, read_check
from podium.recipes.gym_recursive import check_recursive
from podium.workers.budget import Budget

CONDUCTORS = Path(__file__).parents[1] / "src" / "podium" / "conductors"
CHECK = Path(__file__).with_name("gym_check.toml")
PARTS = {"gym": {"policy": "gym", "start": "gym-start"}, "gym-recursive": {"policy": "gym-recursive"}}
"""Recipe -> folder of its run -> name in the package."""


def ship(run: Path) -> dict[str, Any]:
    """Evaluate ``run``, copy it to the package, and return its figures. Raises OSError where a file of the run is missing."""
    made = json.loads((run / "recipe.json").read_text(encoding="utf-8"))
    if made["name"] not in PARTS:
        raise ValueError(f"runs of {', '.join(PARTS)} are shipped, and {run} is one of {made['name']}")
    figures = _checked(run, made["name"]) | {"run": f"runs/{made['name']}/{run.name}", "seed": made["seed"]}
    for part, name in PARTS[made["name"]].items():
        target = CONDUCTORS / name
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        LocalPolicy.load(run / part).save(target, half=True)
        shutil.copy(run / "recipe.json", target / "recipe.json")
    policy = CONDUCTORS / PARTS[made["name"]]["policy"]
    shutil.copy(run / "curves.svg", policy / "curves.svg")
    text = json.dumps({"command": "podium evaluate recipes/gym_check.toml --json", **figures}, indent=1)
    (policy / "evaluation.json").write_text(text + "\n", encoding="utf-8")
    return figures


def _checked(run: Path, name: str) -> dict[str, Any]:
    if name == "gym":
        [figures] = asyncio.run(check_gym(CHECK, runs=run))["seeds"]
        return dict(figures)
    return asyncio.run(check_recursive(run, read_check(CHECK).source.problems(), gym_pool(Budget())))


if __name__ == "__main__":
    print(json.dumps(ship(Path(sys.argv[1])), indent=1))  # noqa: T201
