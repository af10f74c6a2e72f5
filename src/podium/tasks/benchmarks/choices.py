"""MMLU and GPQA-Diamond: a question, some options, one of them right.

Models prefer some positions, so the options are put into an order that depends on the question and a seed; the seed is
stored in ``Problem.source`` (``mmlu/anatomy#shuffle=3``). Where an option speaks of others ("both A and C", "all of the
above") the printed order is part of the question and stays: ``#shuffle=kept``.

Two options of one question that read the same are both right if one is: the target then names both letters, ``A/D``.
"""

import hashlib
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from podium.registry import register
from podium.tasks.benchmarks.benchmark import Benchmark, HubSource, Solved, SourceRow
from podium.tasks.benchmarks.files import in_files, zipped_tables
from podium.tasks.multiple_choice import LETTERS
from podium.types import Problem

KIND = "multiple_choice"

# "above", "the former", "both A and B", "(a) or (c)", "I and B" among the words of an option.
_SPEAKS_OF_OTHERS = re.compile(
    r"\b(?:above|below|former|latter|preceding|previous|options?|choices?|answers?)\b"
    r"|\(?\b[A-Da-d]\b\)?,?\s*(?:and|or|&|,|nor)\s*\(?\b[A-Da-d]\b\)?"
    r"|\b[A-Da-d]\)?\s+(?:only|alone)\b"
    r"|\b(?:both|neither|either|only|not)\s+\(?[A-Da-d]\b\)?(?:\s|$|[.,;])",
    re.IGNORECASE,
)


def choice_problem(question: str, options: Sequence[str], right: int, *, source: str, split: str, seed: int) -> Solved:
    """The problem whose options stand in the order that ``seed`` gives.

    ``right`` is the position of the right option, from 0. Example: ``choice_problem("2 + 2?", ["3", "4"], 1,
    source="mine", split="test", seed=3).problem.source`` is ``"mine#shuffle=3"``. Raises :class:`ValueError` where there
    is no such option, less than two of them, or more than letters.
    """
    options = [option.strip() for option in options]
    if not 2 <= len(options) <= len(LETTERS) or not 0 <= right < len(options) or not question.strip():
        raise ValueError(f"a question with {len(options)} options, of which number {right} is right, can not be asked")
    order = list(range(len(options)))
    kept = any(_SPEAKS_OF_OTHERS.search(option) for option in options)
    if not kept:
        # Sorted by hash, so that the order is the same on every machine and version, and equal rows stay equal.
        content = "\x1f".join((question.strip(), *options))
        order.sort(key=lambda n: hashlib.sha256(f"{seed}\x1f{n}\x1f{content}".encode("utf-8", "surrogatepass")).digest())
    lines = "\n".join(f"{letter}) {options[n]}" for letter, n in zip(LETTERS, order, strict=False))
    target = "/".join(letter for letter, n in zip(LETTERS, order, strict=False) if options[n] == options[right])
    problem = Problem(
        question=f"{question.strip()}\n\n{lines}",
        target=target,
        kind=KIND,
        source=f"{source}#shuffle={'kept' if kept else seed}",
        split=split,
    )
    return Solved(problem=problem, gold=f"\\boxed{{{LETTERS[order.index(right)]}}}")


def parse_mmlu(row: SourceRow, split: str, seed: int) -> Solved:
    """MMLU: ``question``, ``choices``, the position of the right one in ``answer``, ``subject``."""
    options = [str(choice) for choice in row["choices"]]
    return choice_problem(
        str(row["question"]), options, int(row["answer"]), source=f"mmlu/{row['subject']}", split=split, seed=seed
    )


def parse_gpqa(row: SourceRow, split: str, seed: int) -> Solved:
    """GPQA: the right answer and three wrong ones in columns of their own, so that an unshuffled copy is all A."""
    columns = ("Correct Answer", "Incorrect Answer 1", "Incorrect Answer 2", "Incorrect Answer 3")
    options = [str(row[column]) for column in columns]
    return choice_problem(str(row["Question"]), options, 0, source="gpqa-diamond", split=split, seed=seed)


def _mmlu(folder: Path, split: str) -> Iterable[SourceRow]:
    for name, rows in zipped_tables(folder / "mmlu" / "mmlu.zip", f"data/{split}"):
        subject = name.removesuffix(f"_{split}")
        for question, *choices, letter in rows:
            yield {"question": question, "choices": choices, "answer": LETTERS.index(letter.strip()), "subject": subject}


for _set in (
    Benchmark(
        name="mmlu",
        kind=KIND,
        about="57 subjects from elementary mathematics to professional law, four options each",
        licence="MIT",
        url="https://github.com/hendrycks/test",
        splits={"test": 14_042, "val": 1_531, "dev": 285},
        parse=parse_mmlu,
        local=_mmlu,
        hub=HubSource(
            dataset="cais/mmlu",
            revision="c30699e8356da336a370243923dbaf21066bb9fe",
            configs=("all",),
            splits={"test": ("test",), "val": ("validation",), "dev": ("dev",)},
        ),
        shuffled=True,
        note="Questions that are printed twice are asked once.",
    ),
    Benchmark(
        name="gpqa-diamond",
        kind=KIND,
        about="graduate-level questions in biology, physics and chemistry that the web does not answer",
        licence="CC-BY-4.0",
        url="https://github.com/idavidrein/gpqa",
        splits={"test": 198},
        parse=parse_gpqa,
        local=in_files("gpqa/gpqa_diamond.csv", "gpqa-diamond/gpqa_diamond.csv"),
        hub=HubSource(
            dataset="Idavidrein/gpqa",
            revision="633f5ee89ab8ad4522a9f850766b73f62147ffdd",
            configs=("gpqa_diamond",),
            splits={"test": ("train",)},
            gated=True,
        ),
        shuffled=True,
        note="Its authors ask not to publish the questions in plain text; the hub wants a login.",
    ),
):
    register("benchmarks", _set.name)(_set)
