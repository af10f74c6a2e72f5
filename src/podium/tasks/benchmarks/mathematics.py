"""MATH500, MATH, GSM8K and AIME: a question in LaTeX, an answer in LaTeX.

Targets are as the set spells them; what they mean is for the verifier of ``mathematics``. AIME problems are (c) MAA:
they are read from where the user has them and never shipped.
"""

from collections.abc import Iterable
from functools import partial
from pathlib import Path

from podium.registry import register
from podium.tasks.benchmarks.benchmark import Benchmark, HubSource, Solved, SourceRow, boxed
from podium.tasks.benchmarks.files import in_files, in_hub_columns
from podium.tasks.extraction import last_boxed

KIND = "mathematics"
_SUBJECTS = "algebra counting_and_probability geometry intermediate_algebra number_theory prealgebra precalculus"
# What a copy of the AIME problems appends to each; the question itself is the same everywhere.
_AIME_INSTRUCTION = "\nPlease reason step by step, and put your final answer within \\boxed{}."


def parse_math(row: SourceRow, split: str, seed: int) -> Solved:
    """MATH and MATH500: ``problem`` and ``answer``, or ``solution`` with the answer in its last box."""
    subject = str(row.get("subject") or row.get("type") or "").lower().replace(" & ", " and ").replace(" ", "-")
    answer = row.get("answer") or last_boxed(str(row["solution"]))
    name = "math500" if "unique_id" in row else "math"
    return boxed(KIND, str(row["problem"]), str(answer or ""), f"{name}/{subject}" if subject else name, split)


def parse_gsm8k(row: SourceRow, split: str, seed: int) -> Solved:
    """GSM8K: a worked ``answer`` that ends with ``#### 18``."""
    _, mark, target = str(row["answer"]).rpartition("####")
    if not mark:
        raise ValueError("the answer has no ####")
    return boxed(KIND, str(row["question"]), target.strip(), "gsm8k", split)


def parse_aime(row: SourceRow, split: str, seed: int, *, name: str) -> Solved:
    """AIME 2024 and 2025: ``problem``, and ``answer`` or a boxed ``solution``."""
    question = str(row.get("problem") or row["prompt"]).removesuffix(_AIME_INSTRUCTION)
    answer = row.get("answer") or last_boxed(str(row.get("solution") or ""))
    # 016 on an answer sheet is the number 16.
    return boxed(KIND, question, str(int(str(answer))), name, split)


def _math(folder: Path, split: str) -> Iterable[SourceRow]:
    if split == "train" and (folder / "math_train").is_dir():
        return in_files("math_train/math.json")(folder, split)
    return in_hub_columns("math")(folder, split)


def _has_answer(row: SourceRow, split: str) -> bool:
    return "answer" not in row or bool(row["answer"] or row.get("solution"))


for _set in (
    Benchmark(
        name="math500",
        kind=KIND,
        about="500 competition problems drawn from the MATH test set",
        licence="MIT",
        url="https://github.com/openai/prm800k",
        splits={"test": 500},
        parse=parse_math,
        local=in_files("math500/test.jsonl"),
        hub=HubSource(dataset="HuggingFaceH4/MATH-500", revision="6e4ed1a2a79af7d8630a6b768ec859cb5af4d3be"),
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
        hub=HubSource(
            dataset="EleutherAI/hendrycks_math",
            revision="21a5633873b6a120296cce3e2df9d5550074f4a3",
            configs=tuple(_SUBJECTS.split()),
        ),
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
        local=in_files("gsm8k/{split}.jsonl"),
        hub=HubSource(dataset="openai/gsm8k", revision="740312add88f781978c0658806c59bc2815b9866", configs=("main",)),
    ),
    Benchmark(
        name="aime24",
        kind=KIND,
        about="American Invitational Mathematics Examination 2024, both papers",
        licence="problems (c) MAA",
        url="https://huggingface.co/datasets/math-ai/aime24",
        splits={"test": 30},
        parse=partial(parse_aime, name="aime24"),
        local=in_hub_columns("aime24"),
        hub=HubSource(dataset="math-ai/aime24", revision="83a7f387baaa524a8bda0022eac0541582297103"),
        note="Do not republish the problems.",
    ),
    Benchmark(
        name="aime25",
        kind=KIND,
        about="American Invitational Mathematics Examination 2025, both papers",
        licence="problems (c) MAA",
        url="https://huggingface.co/datasets/math-ai/aime25",
        splits={"test": 30},
        parse=partial(parse_aime, name="aime25"),
        local=in_files("aime25/aime25.jsonl"),
        hub=HubSource(dataset="math-ai/aime25", revision="563bb8404243c5f09de6ec262f2db674fe5bce9b"),
        note="Do not republish the problems.",
    ),
):
    register("benchmarks", _set.name)(_set)
