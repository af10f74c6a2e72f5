"""MATH500, MATH, GSM8K and AIME: a question in LaTeX, an answer in LaTeX.

Targets are as the set spells them; what they mean is for the verifier of ``mathematics``. AIME problems are (c) MAA:
they are read from where the user has them and never shipped.
"""

from collections.abc import Iterable
from pathlib import Path

from podium.registry import register
from podium.tasks.benchmarks.benchmark import Benchmark, Solved, SourceRow
from podium.tasks.benchmarks.files import first_existing, in_hub_columns, json_rows, jsonl_rows
from podium.tasks.benchmarks.pins import PINS
from podium.tasks.extraction import last_boxed
from podium.types import Problem

KIND = "mathematics"
# What a copy of the AIME problems appends to each; the question itself is the same everywhere.
_AIME_INSTRUCTION = "\nPlease reason step by step, and put your final answer within \\boxed{}."


def parse_math(row: SourceRow, split: str, seed: int) -> Solved:
    """MATH and MATH500: ``problem`` and ``answer``, or ``solution`` with the answer in its last box."""
    subject = str(row.get("subject") or row.get("type") or "").lower().replace(" & ", " and ").replace(" ", "-")
    answer = row.get("answer") or last_boxed(str(row["solution"]))
    name = "math500" if "unique_id" in row else "math"
    return _solved(str(row["problem"]), str(answer or ""), f"{name}/{subject}" if subject else name, split)


def parse_gsm8k(row: SourceRow, split: str, seed: int) -> Solved:
    """GSM8K: a worked ``answer`` that ends with ``#### 18``."""
    _, mark, target = str(row["answer"]).rpartition("####")
    if not mark:
        raise ValueError("the answer has no ####")
    return _solved(str(row["question"]), target.strip(), "gsm8k", split)


def parse_aime24(row: SourceRow, split: str, seed: int) -> Solved:
    """AIME 2024: ``problem``, and ``answer`` or a boxed ``solution``."""
    return _aime(row, "aime24", split)


def parse_aime25(row: SourceRow, split: str, seed: int) -> Solved:
    """AIME 2025: ``problem`` and ``answer``."""
    return _aime(row, "aime25", split)


def _aime(row: SourceRow, name: str, split: str) -> Solved:
    question = str(row.get("problem") or row["prompt"]).removesuffix(_AIME_INSTRUCTION)
    answer = row.get("answer") or last_boxed(str(row.get("solution") or ""))
    # 016 on an answer sheet is the number 16.
    return _solved(question, str(int(str(answer))), name, split)


def _solved(question: str, target: str, source: str, split: str) -> Solved:
    if not question.strip() or not target.strip():
        raise ValueError("the question or the answer is empty")
    problem = Problem(question=question.strip(), target=target.strip(), kind=KIND, source=source, split=split)
    return Solved(problem=problem, gold=f"\\boxed{{{problem.target}}}")


def _math500(folder: Path, split: str) -> Iterable[SourceRow]:
    return jsonl_rows(folder / "math500" / "test.jsonl")


def _math(folder: Path, split: str) -> Iterable[SourceRow]:
    if split == "train" and (folder / "math_train").is_dir():
        return json_rows(first_existing(folder / "math_train" / "math.json.gz", folder / "math_train" / "math.json"))
    return in_hub_columns("math")(folder, split)


def _has_answer(row: SourceRow, split: str) -> bool:
    return "answer" not in row or bool(row["answer"] or row.get("solution"))


def _gsm8k(folder: Path, split: str) -> Iterable[SourceRow]:
    return jsonl_rows(first_existing(folder / "gsm8k" / f"{split}.jsonl.gz", folder / "gsm8k" / f"{split}.jsonl"))


def _aime25(folder: Path, split: str) -> Iterable[SourceRow]:
    return jsonl_rows(folder / "aime25" / "aime25.jsonl")


for _set in (
    Benchmark(
        name="math500",
        kind=KIND,
        about="500 competition problems drawn from the MATH test set",
        licence="MIT",
        url="https://github.com/openai/prm800k",
        splits={"test": 500},
        parse=parse_math,
        local=_math500,
        hub=PINS["math500"],
    ),
    Benchmark(
        name="math",
        kind=KIND,
        about="MATH: competition problems in seven subjects and five levels",
        licence="MIT",
        url="https://github.com/hendrycks/math",
        splits={"train": 7_500, "test": 5_000},
        parse=parse_math,
        local=_math,
        hub=PINS["math"],
        keep=_has_answer,
        note=(
            "MATH500 is a part of the test split. A local math_train/math.json.gz is the 7,474-problem training file of rllm, "
            "of which 4 without a printed answer are left out."
        ),
    ),
    Benchmark(
        name="gsm8k",
        kind=KIND,
        about="grade-school word problems with one number as the answer",
        licence="MIT",
        url="https://github.com/openai/grade-school-math",
        splits={"train": 7_473, "test": 1_319},
        parse=parse_gsm8k,
        local=_gsm8k,
        hub=PINS["gsm8k"],
    ),
    Benchmark(
        name="aime24",
        kind=KIND,
        about="American Invitational Mathematics Examination 2024, both papers",
        licence="problems (c) MAA",
        url="https://huggingface.co/datasets/math-ai/aime24",
        splits={"test": 30},
        parse=parse_aime24,
        local=in_hub_columns("aime24"),
        hub=PINS["aime24"],
        note="Do not republish the problems.",
    ),
    Benchmark(
        name="aime25",
        kind=KIND,
        about="American Invitational Mathematics Examination 2025, both papers",
        licence="problems (c) MAA",
        url="https://huggingface.co/datasets/math-ai/aime25",
        splits={"test": 30},
        parse=parse_aime25,
        local=_aime25,
        hub=PINS["aime25"],
        note="Do not republish the problems.",
    ),
):
    register("benchmarks", _set.name)(_set)
