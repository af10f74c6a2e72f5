"""Which plans a run tried, when each appeared and was last seen, and how many there were: ``groups.jsonl`` -> strategies.

A strategy is who works and who sees whom; the wording of subtasks does not count.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from podium.charts import framed, lines
from podium.errors import CheckpointError, WorkflowError
from podium.evaluation.topology import topology
from podium.types import Brief, Card, Workflow, ask
from podium.workflow.parse import parse
from podium.workflow.syntax import WorkflowSyntax


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """One plan. Example: ``Strategy(name="chain: ember, atlas", first=0, last=199, rollouts=9120, right=0.98)``."""

    name: str
    """The shape and the workers in order, with what each step sees where the shape does not say it."""
    first: int
    """Iteration in which it appeared, counted from 1."""
    last: int
    """Iteration in which it was last seen."""
    rollouts: int
    right: float | None
    """Share of those rollouts that were judged right; None where none was judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Emergence:
    """All strategies in the order in which they appeared, and per iteration how many there were and what share was right."""

    strategies: tuple[Strategy, ...]
    distinct: tuple[int, ...]
    right: tuple[float | None, ...]

    def picture(self) -> str:
        """Diversity and accuracy over training as SVG."""
        at = list(range(1, len(self.distinct) + 1))
        right = lines("share of rollouts that are right", {"right": self.right}, at, top=1.0)
        distinct = lines("different plans per iteration", {"plans": [float(count) for count in self.distinct]}, at)
        inside = f'<g transform="translate(20,40)">{right}</g><g transform="translate(390,40)">{distinct}</g>'
        return framed(750, 270, inside, "Accuracy and diversity of plans over training")


def emergence(run: Path) -> Emergence:
    """The strategies of the run in the folder ``run``.

    Raises :class:`CheckpointError` where it holds no rollouts, or rollouts without verdicts.
    """
    seen: dict[str, list[tuple[int, bool | None]]] = {}
    distinct: dict[int, set[str]] = {}
    right: dict[int, list[bool | None]] = {}
    for iteration, name, is_right in _rollouts(run):
        right.setdefault(iteration, []).append(is_right)
        if name is not None:
            seen.setdefault(name, []).append((iteration, is_right))
            distinct.setdefault(iteration, set()).add(name)
    if not right:
        raise CheckpointError(f"{run / 'groups.jsonl'} holds no rollouts yet")
    return Emergence(
        strategies=tuple(
            Strategy(
                name=name,
                first=min(iteration for iteration, _ in each) + 1,
                last=max(iteration for iteration, _ in each) + 1,
                rollouts=len(each),
                right=_share([is_right for _, is_right in each]),
            )
            for name, each in seen.items()
        ),
        distinct=tuple(len(distinct.get(iteration, ())) for iteration in sorted(right)),
        right=tuple(_share(each) for _, each in sorted(right.items())),
    )


def _share(rights: Sequence[bool | None]) -> float | None:
    judged = [right for right in rights if right is not None]
    return sum(judged) / len(judged) if judged else None


def _rollouts(run: Path) -> Iterator[tuple[int, str | None, bool | None]]:
    """Iteration, name of the plan (None where it was not valid) and whether the answer was right, of every first round."""
    try:
        recipe = json.loads((run / "recipe.json").read_text(encoding="utf-8"))
        if "language" in recipe:
            raise CheckpointError(f"{run} was written by an older version of podium; train again in another folder")
        syntax = WorkflowSyntax(**recipe["syntax"])
        with (run / "groups.jsonl").open(encoding="utf-8") as file:
            for line in file:
                group = json.loads(line)
                for rollout in group["rollouts"]:
                    yield int(group["iteration"]), _name(rollout[0]["text"], group["pool"], syntax), _is_right(run, rollout[0])
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise CheckpointError(f"{run} holds no rollouts of a run: {error!r}") from error


def _is_right(run: Path, turn: dict[str, Any]) -> bool | None:
    """Whether the answer was right; None where the world spoilt the rollout, False where the policy did."""
    if "correct" not in turn:
        raise CheckpointError(
            f"{run} was written by an older version of podium, which kept no verdicts, and a reward does not say whether an "
            "answer was right; train again in another folder"
        )
    right: bool | None = turn["correct"]
    return False if right is None and turn["reward"] is not None else right


def _name(text: str, pool: list[str], syntax: WorkflowSyntax) -> str | None:
    brief = Brief(question=ask("?"), cards=tuple(Card(name=name) for name in pool))
    try:
        workflow = parse(text, brief, syntax)
    except WorkflowError:
        return None
    return None if workflow is None else f"{topology(workflow)}: {', '.join(_steps(workflow, pool))}"


def _steps(workflow: Workflow, pool: list[str]) -> list[str]:
    """The workers; in shapes that leave it open, with the steps that each of them sees, counted from 1."""
    names = [pool[step.worker] for step in workflow.steps]
    if topology(workflow) in ("single", "chain", "fan-in"):
        return names
    seen = [" ".join(str(index + 1) for index in step.access) for step in workflow.steps]
    return [f"{name} (sees {sees})" if sees else name for name, sees in zip(names, seen, strict=True)]
