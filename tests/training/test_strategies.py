"""Plans of a run by name, with when they appeared and were last seen."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from podium.errors import CheckpointError
from podium.training.strategies import Strategy, emergence


def turn(ids: str, access: str, *, correct: bool | None = True, reward: float | None = 1.0) -> dict[str, Any]:
    text = f"model_id = {ids}\nsubtasks = {json.dumps(['Do.'] * len(json.loads(ids)))}\naccess_list = {access}"
    return {"text": text, "correct": correct, "reward": reward}


def wrong(ids: str, access: str) -> dict[str, Any]:
    return turn(ids, access, correct=False, reward=0.5)


def a_run(folder: Path, *groups: tuple[int, list[dict[str, Any]]]) -> Path:
    (folder / "recipe.json").write_text(json.dumps({"syntax": {"access": "positions"}}))
    lines = [
        json.dumps({"iteration": at, "pool": ["ada", "ben", "cy"], "rollouts": [[each] for each in turns]})
        for at, turns in groups
    ]
    (folder / "groups.jsonl").write_text("\n".join(lines) + "\n")
    return folder


def test_plans_are_named_counted_and_dated(tmp_path: Path) -> None:
    run = a_run(
        tmp_path,
        (0, [wrong("[0]", "[[]]"), turn("[1, 2]", '[[], "all"]'), {"text": "no plan", "correct": None, "reward": 0.0}]),
        (
            1,
            [
                wrong("[1, 2]", '[[], "all"]'),
                turn("[1, 2]", "[[], [0]]", reward=0.3),  # right and dear: the verdict counts, not what was earned
                turn("[0, 1, 2]", "[[], [], [1]]", correct=None, reward=None),
            ],
        ),
    )
    found = emergence(run)
    assert found.strategies == (
        Strategy(name="single: ada", first=1, last=1, rollouts=1, right=0.0),
        Strategy(name="chain: ben, cy", first=1, last=2, rollouts=3, right=2 / 3),
        Strategy(name="mixed: ada, ben, cy (sees 2)", first=2, last=2, rollouts=1, right=None),
    )
    assert found.distinct == (2, 2)
    assert found.right == pytest.approx((1 / 3, 1 / 2)), "what the world spoilt is not judged"
    ElementTree.fromstring(found.picture())


def test_a_run_without_verdicts_is_refused_and_never_guessed(tmp_path: Path) -> None:
    old = turn("[0]", "[[]]")
    del old["correct"]
    with pytest.raises(CheckpointError, match="kept no verdicts") as refused:
        emergence(a_run(tmp_path, (0, [turn("[0]", "[[]]"), old])))
    assert str(tmp_path) in str(refused.value)


def test_a_run_of_another_version_is_refused(tmp_path: Path) -> None:
    run = a_run(tmp_path, (0, [turn("[0]", "[[]]")]))
    (run / "recipe.json").write_text(json.dumps({"language": {"access": "positions"}}))
    with pytest.raises(CheckpointError, match="older version of podium; train again"):
        emergence(run)


def test_a_folder_without_rollouts_says_so(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="holds no rollouts"):
        emergence(tmp_path)
    with pytest.raises(CheckpointError, match="holds no rollouts yet"):
        emergence(a_run(tmp_path, (0, [])))
