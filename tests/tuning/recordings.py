"""Small folders of recordings for tests: three clerks, one good at sums, one at words, one at both."""

import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

KINDS = ("sums", "words")
MODELS = ("careful", "quick", "wordy")


def is_right(model: str, kind: str, number: int) -> bool:
    """Careful errs now and then, quick never at sums and always at words, wordy the other way round."""
    return number % 5 != 0 if model == "careful" else (kind == "sums") == (model == "quick")


def write_lines(file: Path, lines: Sequence[Mapping[str, Any]]) -> None:
    """A gzipped JSON-lines file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(gzip.compress("".join(json.dumps(line) + "\n" for line in lines).encode()))


def graded_folder(folder: Path, per_kind: int = 40, usd: Mapping[str, float] | None = None) -> Path:
    """``per_kind`` questions of each kind with graded answers of three models; with ``usd`` their prices, too."""
    places = [(kind, number) for kind in KINDS for number in range(per_kind)]
    write_lines(
        folder / "questions.jsonl.gz",
        [{"dataset": kind, "id": number, "question": f"{_about(kind)} {number}?"} for kind, number in places],
    )
    for model in MODELS:
        cost = {} if usd is None else {"usd": usd[model]}
        lines = [
            {
                "dataset": kind,
                "id": number,
                "samples": [
                    {"answer": str(number) if (good := is_right(model, kind, number)) else f"no {model}", "score": float(good)}
                ],
                **cost,
            }
            for kind, number in places
        ]
        write_lines(folder / "outputs" / f"{model}.jsonl.gz", lines)
    return folder


def _about(kind: str) -> str:
    return "Add up the items of the bill with number" if kind == "sums" else "Which letter is missing in the poem called"
