"""What the certificate of the usual world found, shipped with the package: the best workflows by kind, and their best opponents.

``python -m benchmarks.gym --certify --store`` writes the file anew.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from podium.gym.world import PROFILES
from podium.types import Step, Workflow


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """Workflows for the usual workers in pool order. Example: ``stored().optima["choice"].steps[0].worker``."""

    optima: Mapping[str, Workflow]
    """Kind -> the best workflow known."""
    opponents: Mapping[str, Workflow]
    """The same workflow for every question: ``constant``, ``constant:cheap``, ``constant:short`` (the best for the kinds of a
    short run), and the best variant of each baseline.

    Subtasks may hold :data:`podium.gym.gauge.QUESTION`.
    """
    figures: Mapping[str, float]
    """As in the certificate."""


def stored() -> Stored:
    """What ``found.json`` holds."""
    data = json.loads(resources.files("podium.gym").joinpath("found.json").read_text(encoding="utf-8"))
    return Stored(
        optima={kind: _workflow(steps) for kind, steps in data["optima"].items()},
        opponents={name: _workflow(steps) for name, steps in data["opponents"].items()},
        figures=data["figures"],
    )


def as_json(optima: Mapping[str, Workflow], opponents: Mapping[str, Workflow], figures: Mapping[str, float]) -> str:
    """The text of ``found.json``."""
    data = {
        "note": "Found by python -m benchmarks.gym --certify --store; World(), its seven workers, noise 0.5.",
        "figures": {name: round(value, 4) for name, value in figures.items()},
        "optima": {kind: _steps(workflow) for kind, workflow in optima.items()},
        "opponents": {name: _steps(workflow) for name, workflow in opponents.items()},
    }
    return json.dumps(data, indent=1) + "\n"


def _steps(workflow: Workflow) -> list[dict[str, Any]]:
    return [{"worker": PROFILES[s.worker].name, "subtask": s.subtask, "access": list(s.access)} for s in workflow.steps]


def _workflow(steps: Sequence[Mapping[str, Any]]) -> Workflow:
    names = [profile.name for profile in PROFILES]
    return Workflow(
        steps=tuple(Step(worker=names.index(s["worker"]), subtask=s["subtask"], access=tuple(s["access"])) for s in steps)
    )
