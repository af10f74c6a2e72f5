"""RLPR, TheoremQA and SciBench: questions with a short free answer, a number with a unit, or a list.

A SciBench unit may carry a power of ten (3.52 in units of 10^-19 J); the target is the whole quantity,
``3.52 \\times 10^{-19} \\mathrm{J}``. Numbers keep the digits the set prints, because they say how exact it is.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from podium.registry import register
from podium.tasks.benchmarks.benchmark import Benchmark, HubSource, Solved, SourceRow, boxed
from podium.tasks.benchmarks.choices import KIND as CHOICE
from podium.tasks.benchmarks.files import in_files, in_hub_columns, json_rows
from podium.types import Problem

KIND = "free_form"
SCIBENCH_BOOKS = ("atkins", "calculus", "chemmc", "class", "diff", "fund", "matter", "quan", "stat", "thermo")
_POWER_OF_TEN = re.compile(r"\s*(?:\\mathrm\{)?10\^(?:\{(-?[0-9]+)\}|([0-9]))\}?")


def parse_rlpr(row: SourceRow, split: str, seed: int) -> Solved:
    """RLPR: a chat in ``prompt`` whose user turn is the question, the answer in ``reward_model``."""
    turns = [turn for turn in row["prompt"] if turn["role"] == "user"]
    return boxed(KIND, str(turns[-1]["content"]), str(row["reward_model"]["ground_truth"]), "rlpr", split)


def parse_theoremqa(row: SourceRow, split: str, seed: int) -> Solved:
    """TheoremQA: ``Question``, ``Answer`` and ``Answer_type`` (float, integer, bool, option, lists)."""
    question, answer, field = str(row["Question"]), _spelled(row["Answer"]), str(row.get("field") or "").lower()
    source = f"theoremqa/{field}" if field else "theoremqa"
    if row["Answer_type"] != "option":
        return boxed(KIND, question, answer, source, split)
    letter = answer.strip("()").upper()
    problem = Problem(question=question.strip(), target=letter, kind=CHOICE, source=source, split=split)
    return Solved(problem=problem, gold=f"\\boxed{{{answer}}}")


def parse_scibench(row: SourceRow, split: str, seed: int) -> Solved:
    """SciBench: ``problem_text``, ``answer_number`` and a ``unit`` that may start with a power of ten."""
    unit = str(row["unit"]).strip().strip("$").strip()
    power = _POWER_OF_TEN.match(unit)
    target = str(row["answer_number"]).strip().replace("\u2212", "-")
    if power is not None:
        target = f"{target} \\times 10^{{{power[1] or power[2]}}}"
        unit = unit[power.end() :].strip()
    if unit == "\\":  # what stripping left of \$
        unit = "\\$"
    return boxed(KIND, str(row["problem_text"]), f"{target} {unit}".strip(), f"scibench/{str(row['source']).strip()}", split)


def _spelled(value: Any) -> str:
    """A JSON value as TheoremQA's own evaluation prints it: True, 1.0, [0, 5]."""
    return f"[{', '.join(map(_spelled, value))}]" if isinstance(value, list) else str(value)


def _scibench(folder: Path, split: str) -> Iterable[SourceRow]:
    for book in SCIBENCH_BOOKS:
        yield from json_rows(folder / "scibench" / f"{book}.json")


def _needs_no_picture(row: Mapping[str, Any], split: str) -> bool:
    return split == "all" or not row.get("Picture")


for _set in (
    Benchmark(
        name="rlpr",
        kind=KIND,
        about="general-domain questions with short verified answers, from WebInstruct",
        licence="see the data card",
        url="https://github.com/openbmb/RLPR",
        splits={"train": None, "test": None},
        parse=parse_rlpr,
        local=in_hub_columns("rlpr"),
        hub=HubSource(
            dataset="openbmb/RLPR-Train-Dataset",
            revision="08fcfe3720fc3aafabd55ed44b020d1bd5a4aa42",
            splits={"train": ("train",)},
        ),
        note="The test split (openbmb/RLPR-Evaluation) is several benchmarks in one; read it from a local folder.",
    ),
    Benchmark(
        name="theoremqa",
        kind=KIND,
        about="university questions that need a theorem: numbers, lists, yes or no, a few options",
        licence="MIT",
        url="https://github.com/TIGER-AI-Lab/TheoremQA",
        splits={"test": 747, "all": 800},
        parse=parse_theoremqa,
        local=in_files("theoremqa/theoremqa_test.json"),
        hub=HubSource(
            dataset="TIGER-Lab/TheoremQA",
            revision="a340b1782960a712843aae3ed25f1e013cc008a5",
            splits={"test": ("test",), "all": ("test",)},
        ),
        keep=_needs_no_picture,
        note="53 questions of 'all' can not be answered without their picture; 'test' leaves them out.",
    ),
    Benchmark(
        name="scibench",
        kind=KIND,
        about="college textbook problems in physics, chemistry and mathematics: a number with a unit",
        licence="MIT",
        url="https://github.com/mandyyyyii/scibench",
        splits={"test": 580},
        parse=parse_scibench,
        local=_scibench,
        hub=HubSource(dataset="xw27/scibench", revision=None, splits={"test": ("train",)}),
        note="Some printed answers contradict their own LaTeX; the number counts, as in the set's own evaluation.",
    ),
):
    register("benchmarks", _set.name)(_set)
