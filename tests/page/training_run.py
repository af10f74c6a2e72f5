"""A small run of training on disk, with names that are markup."""

import json
from pathlib import Path
from typing import Any

from tests.page.hostile import HIT

KIND = f"<img src=x onerror={HIT}>"


def write_run(folder: Path, *, iterations: int) -> None:
    """Write ``metrics.jsonl`` and ``groups.jsonl`` of a run into ``folder``."""
    folder.mkdir(parents=True)
    for number in range(iterations):
        add_iteration(folder, number)


def add_iteration(folder: Path, number: int) -> None:
    """Append iteration ``number``, as a running training does."""
    right = min(1.0, 0.2 + 0.1 * number)
    line: dict[str, Any] = {"iteration": number, "correct": right, "valid": 1.0, "correct_given_valid": right}
    line |= {"worker_entropy_bits": 2.5, "correct_by_kind": {"word": right, KIND: 0.5}, "steps_by_kind": {"word": 2.0, KIND: 1.0}}
    line |= {"cost_usd": 0.01, "steps": 2.0}
    with (folder / "metrics.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
    text = 'A plan.\nmodel_id = [1, 0]\nsubtasks = ["Plan.", "Answer."]\naccess_list = [[], "all"]'
    turn = {"text": text, "correct": True, "reward": 1.0, "advantage": 0.0, "failure": None, "cost_usd": 0.0}
    group = {"iteration": number, "kind": "word", "pool": ["atlas", f"<script>{HIT}</script>"], "rollouts": [[turn], [turn]]}
    with (folder / "groups.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(group) + "\n")
