"""What the certificate of the world found, shipped with the package.

``python -m benchmarks.stopping --certify --store`` writes the file anew.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from podium.gym.stopping.world import WORKERS
from podium.types import Step, Workflow


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """Workflows for the workers in pool order. Example: ``stored().optima["story"].steps[2].condition``."""

    optima: Mapping[str, Workflow]
    """Kind -> the workflow of the most worth."""
    without: Mapping[str, Workflow]
    """The same without conditions."""
    constants: Mapping[str, Workflow]
    """The best workflows that are the same for every question."""
    figures: Mapping[str, float]
    """As in the certificate."""


def stored() -> Stored:
    """What ``found.json`` holds."""
    data = json.loads(resources.files("podium.gym.stopping").joinpath("found.json").read_text(encoding="utf-8"))
    optima, without, constants = (
        {name: _workflow(steps) for name, steps in data[part].items()} for part in ("optima", "without", "constants")
    )
    return Stored(optima=optima, without=without, constants=constants, figures=data["figures"])


def as_json(
    optima: Mapping[str, Workflow],
    without: Mapping[str, Workflow],
    constants: Mapping[str, Workflow],
    figures: Mapping[str, float],
) -> str:
    """The text of ``found.json``."""
    data = {
        "note": "Found by python -m benchmarks.stopping --certify --store.",
        "figures": {name: round(value, 6) for name, value in figures.items()},
        "optima": {kind: _steps(workflow) for kind, workflow in optima.items()},
        "without": {kind: _steps(workflow) for kind, workflow in without.items()},
        "constants": {name: _steps(workflow) for name, workflow in constants.items()},
    }
    return json.dumps(data, indent=1) + "\n"


def _steps(workflow: Workflow) -> list[dict[str, Any]]:
    return [
        {"worker": WORKERS[s.worker].name, "subtask": s.subtask, "access": list(s.access), "condition": s.condition}
        for s in workflow.steps
    ]


def _workflow(steps: Sequence[Mapping[str, Any]]) -> Workflow:
    names = [worker.name for worker in WORKERS]
    return Workflow(
        steps=tuple(
            Step(worker=names.index(s["worker"]), subtask=s["subtask"], access=tuple(s["access"]), condition=s["condition"])
            for s in steps
        )
    )
