"""Plans of a run by name, with when they appeared and were last seen."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from podium.errors import CheckpointError
from podium.training.strategies import Strategy, emergence


def turn(ids: str, access: str, reward: float | None = 1.0) -> dict[str, Any]:
    count = len(json.loads(ids))
    return {"text": f"model_id = {ids}\nsubtasks = {json.dumps(['Do.'] * count)}\naccess_list = {access}", "reward": reward}


def a_run(folder: Path, *groups: tuple[int, list[dict[str, Any]]]) -> Path:
    (folder / "recipe.json").write_text(json.dumps({"language": {"access": "positions"}}))
    lines = [
        json.dumps({"iteration": at, "pool": ["ada", "ben", "cy"], "rollouts": [[each] for each in turns]})
        for at, turns in groups
    ]
    (folder / "groups.jsonl").write_text("\n".join(lines) + "\n")
    return folder


def test_plans_are_named_counted_and_dated(tmp_path: Path) -> None:
    run = a_run(
        tmp_path,
        (0, [turn("[0]", "[[]]", 0.5), turn("[1, 2]", '[[], "all"]'), {"text": "no plan", "reward": 0.0}]),
        (1, [turn("[1, 2]", '[[], "all"]', 0.5), turn("[1, 2]", "[[], [0]]", 0.98), turn("[0, 1, 2]", "[[], [], [1]]", None)]),
    )
    found = emergence(run)
    assert found.strategies == (
        Strategy(name="single: ada", first=1, last=1, rollouts=1, right=0.0),
        Strategy(name="chain: ben, cy", first=1, last=2, rollouts=3, right=2 / 3),
        Strategy(name="mixed: ada, ben, cy (sees 2)", first=2, last=2, rollouts=1, right=0.0),
    )
    assert found.distinct == (2, 2)
    assert list(found.right) == pytest.approx([1 / 3, 1 / 3])
    ElementTree.fromstring(found.picture())


def test_a_folder_without_rollouts_says_so(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="holds no rollouts"):
        emergence(tmp_path)
    with pytest.raises(CheckpointError, match="holds no rollouts yet"):
        emergence(a_run(tmp_path, (0, [])))
