"""A run's folder: what is written so that a killed run goes on as if it had never stopped.

    recipe.json       what this run is; another recipe may not go on in the same folder
    start/            the policy before the first iteration
    state/000012/     policy, optimiser and sampler after iteration 12 (the newest two are kept)
    state/latest      the name of the newest complete one, replaced in one move
    metrics.jsonl     one line per iteration
    groups.jsonl      one line per group: problem, forced prefix, what was written, rewards
    policy/           the trained policy, when the run is done

Everything random in an iteration is drawn from the seed and the iteration's number, so no random state is stored.
"""

import json
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from podium.errors import CheckpointError

KEPT = 2
FORMAT = 4
"""Of the folder, as its ``recipe.json`` names it. The folders of Podium 0.1 name none."""


class RunFolder:
    """The folder of one run. Example: ``RunFolder(Path("runs/gym"), recipe={"name": "gym", "seed": 0})``.

    Raises :class:`CheckpointError` where the folder belongs to another recipe or another version, or is damaged.
    """

    def __init__(self, path: Path, recipe: dict[str, Any]) -> None:
        self.path = path
        described = path / "recipe.json"
        recipe = {"format": FORMAT, **recipe}
        if described.exists():
            known = _read(described)
            if known.get("format") != FORMAT:
                by = "another version of Podium" if "format" in known else "Podium 0.1"
                policy = path / "policy"
                still = f". What was trained there can still be asked: trained:{policy}" if policy.is_dir() else ""
                raise CheckpointError(
                    f"{path} holds a run of {by}, which this one can not go on with; name another folder{still}"
                )
            if known != recipe:
                changed = sorted(key for key in {*known, *recipe} if known.get(key) != recipe.get(key))
                raise CheckpointError(
                    f"{path} holds a run of another recipe (different: {', '.join(changed)}); go on with the old recipe or name "
                    "another folder"
                )
        else:
            path.mkdir(parents=True, exist_ok=True)
            _write(described, json.dumps(recipe, indent=1))

    def done(self) -> int:
        """Iterations that are safely stored."""
        stored = self.state()
        return 0 if stored is None else int(stored[1]["done"])

    def state(self) -> tuple[Path, dict[str, Any]] | None:
        """The newest complete state: its folder and what the trainer stored; None before the first."""
        latest = self.path / "state" / "latest"
        if not latest.exists():
            return None
        folder = self.path / "state" / latest.read_text(encoding="utf-8").strip()
        return folder, _read(folder / "state.json")

    def store(self, done: int, state: dict[str, Any], save: Callable[[Path], None]) -> None:
        """Store the state after ``done`` iterations; ``save`` writes the engine's part into the folder it is given."""
        states = self.path / "state"
        folder = states / f"{done:06d}"
        shutil.rmtree(folder, ignore_errors=True)  # left over from a run that was killed while writing it
        folder.mkdir(parents=True)
        save(folder)
        _write(folder / "state.json", json.dumps({**state, "done": done}))
        for file in folder.iterdir():
            _sync(file)
        _write(states / "latest", folder.name)
        for old in sorted(entry for entry in states.iterdir() if entry.is_dir() and entry.name < folder.name)[: -(KEPT - 1)]:
            shutil.rmtree(old)

    def append(self, name: str, records: Sequence[dict[str, Any]]) -> None:
        """Add lines to ``metrics.jsonl`` or ``groups.jsonl``."""
        with (self.path / name).open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
            file.flush()
            os.fsync(file.fileno())

    def rewind(self, name: str, done: int) -> None:
        """Drop lines of iterations that are not stored: they will be written again, the same."""
        path = self.path / name
        if path.exists():
            kept = [line for line in path.read_text(encoding="utf-8").splitlines(keepends=True) if _iteration(line) < done]
            _write(path, "".join(kept))


def _iteration(line: str) -> float:
    """The iteration a line belongs to; a line cut off by a crash belongs to none that counts."""
    try:
        return float(json.loads(line)["iteration"]) if line.endswith("\n") else float("inf")
    except (ValueError, KeyError, TypeError):
        return float("inf")


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CheckpointError(f"can not read {path}: {error}; delete the run's folder to start anew") from error
    if not isinstance(found, dict):
        raise CheckpointError(f"{path} holds no object; delete the run's folder to start anew")
    return found


def _write(path: Path, text: str) -> None:
    """Replace ``path`` in one move, so that a crash leaves the old or the new text, never a part."""
    draft = path.with_name(path.name + ".new")
    draft.write_text(text, encoding="utf-8")
    _sync(draft)
    draft.replace(path)


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
