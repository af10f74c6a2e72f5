"""Put a trained run into the package, with the recipe, the curves and the evaluation that made it.

    python recipes/ship.py runs/gym/seed-0/policy gym report.json
    python recipes/ship.py runs/gym/seed-0/start gym-start

The first argument is what is shipped, a ``policy`` or ``start`` folder of a run; the weights are stored as float16. The last is
what ``podium evaluate recipes/gym_check.toml --json`` printed, of which the figures of this run are kept.
"""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

from podium.policies.local import LocalPolicy

CONDUCTORS = Path(__file__).parents[1] / "src" / "podium" / "conductors"


def ship(policy: Path, name: str, report: Path | None) -> Path:
    """Copy ``policy`` to the package under ``name``. Raises OSError where a file of the run is missing."""
    run, target = policy.parent, CONDUCTORS / name
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    LocalPolicy.load(policy).save(target, half=True)
    shutil.copy(run / "recipe.json", target / "recipe.json")
    if report is not None:
        shutil.copy(run / "curves.svg", target / "curves.svg")
        text = json.dumps(figures_of(run, json.loads(report.read_text(encoding="utf-8"))), indent=1)
        (target / "evaluation.json").write_text(text + "\n", encoding="utf-8")
    return target


def figures_of(run: Path, report: dict[str, Any]) -> dict[str, Any]:
    """The figures of ``run`` in a report, wherever in it they stand."""
    parts = (report, *(part for part in report.values() if isinstance(part, dict) and "seeds" in part))
    for part in parts:
        for figures in part["seeds"]:
            if Path(figures["run"]).resolve() == run.resolve():
                made = json.loads((run / "recipe.json").read_text(encoding="utf-8"))
                place = {"run": f"runs/{made['name']}/{run.name}", "seed": made["seed"]}
                return {"command": "podium evaluate recipes/gym_check.toml --json", **figures, **place}
    raise SystemExit(f"the report knows no run {run}")


if __name__ == "__main__":
    print(ship(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]) if len(sys.argv) > 3 else None))  # noqa: T201
