"""HumanEval, MBPP, BigCodeBench-hard, Codeforces and LeetCode: a text, and tests (``programming/target.py``).

The question is what the set's own protocol shows. HumanEval and BigCodeBench show the start of the program, MBPP its three
asserts (so a program that only knows those passes: the set's weakness, not ours). Codeforces problems that accept several
outputs have no checker here and are left out of ``test`` and ``train``; ``all`` has them, for counting.
"""

import re
from collections.abc import Iterable
from pathlib import Path

from podium.registry import register
from podium.tasks.benchmarks.benchmark import Benchmark, HubSource, Solved, SourceRow
from podium.tasks.benchmarks.files import in_files
from podium.tasks.programming.target import LEETCODE_PRELUDE, AssertTests, ProgramTests, StdinCase, StdinTests, UnittestTests
from podium.types import Problem

KIND = "programming"

_LEETCODE_INSTRUCTION = "Please solve the programming task below using a self-contained code snippet in a markdown code block."
_MBPP_SPLITS = {"prompt": (1, 10), "test": (11, 510), "val": (511, 600), "train": (601, 974)}
_SEVERAL_OUTPUTS = re.compile(
    r"\b(?:print|output|report|find|give)\s+any\b(?!\s+case)|\bany of (?:them|these|the)\b"
    r"|\b(?:multiple|several|many|more than one)\s+(?:possible |valid |correct |suitable |such |optimal )?"
    r"(?:answers?|solutions?|outputs?)\b",
    re.IGNORECASE,
)
_NOT_IN_A_SANDBOX = {f"BigCodeBench/{number}" for number in (15, 147, 785, 1040)}
"""Tasks that need what the sandbox never gives: a shell, a network, the tar command, more than its seconds (in this order)."""
_CODEFORCES_TAGS = re.compile(r"\n+Tags:\n\[[^\]\n]*\]\n")


def parse_humaneval(row: SourceRow, split: str, seed: int) -> Solved:
    """HumanEval: ``prompt`` is the start of the program, ``test`` a ``check(candidate)`` for ``entry_point``."""
    prompt = str(row["prompt"])
    tests = AssertTests(prelude=prompt, entry=str(row["entry_point"]), asserts=(str(row["test"]),))
    return _solved(prompt, tests, prompt + str(row["canonical_solution"]), "humaneval", split)


def parse_mbpp(row: SourceRow, split: str, seed: int) -> Solved:
    """MBPP: ``text``, asserts in ``test_list``, a solution in ``code``."""
    asserts = tuple(_lines(test) for test in row["test_list"])
    question = f"{str(row['text']).strip()}\n\nYour code has to pass these tests:\n\n" + "\n".join(asserts)
    tests = AssertTests(asserts=asserts, setup=_lines(row.get("test_setup_code") or ""))
    return _solved(question, tests, _lines(row["code"]), "mbpp", split)


def parse_bigcodebench(row: SourceRow, split: str, seed: int) -> Solved:
    """BigCodeBench, *complete*: the start of the program in ``complete_prompt``, ``unittest`` code in ``test``."""
    prompt = str(row["complete_prompt"])
    # The function of the prompt, with nothing in it, in front of the answer: an answer may be the body's continuation.
    tests = UnittestTests(prelude=str(row["code_prompt"]).rstrip() + "\n    pass\n", code=(str(row["test"]),))
    return _solved(prompt, tests, prompt + str(row["canonical_solution"]), "bigcodebench-hard", split)


def parse_codeforces(row: SourceRow, split: str, seed: int) -> Solved:
    """Codeforces: a statement, and cases with ``input`` and ``output``. Tags are hints, so they are cut."""
    statement = str(row["problem"]) if "problem" in row else _statement(row)
    rows = row["tests"] if "tests" in row else row.get("official_tests") or row["examples"]
    cases = tuple(StdinCase(stdin=str(case["input"]), stdout=str(case["output"])) for case in rows)
    if not cases:
        raise ValueError("there are no tests")
    return _solved(_CODEFORCES_TAGS.sub("\n", statement), StdinTests(cases=cases), "", "codeforces", split)


def parse_leetcode(row: SourceRow, split: str, seed: int) -> Solved:
    """LeetCode: a statement that ends with the class to complete, and a ``check`` that calls its method."""
    if "problem" in row:
        question = str(row["problem"]).removeprefix(_LEETCODE_INSTRUCTION)
        tests = AssertTests(prelude=LEETCODE_PRELUDE, asserts=(str(row["tests"]["functional"]),))
        return _solved(question, tests, str(row["solutions"]), "leetcode", split)
    question = f"{str(row['problem_description']).strip()}\n\n```python\n{str(row['starter_code']).strip()}\n```"
    # The hub's ``prompt`` is the prelude its own harness uses.
    tests = AssertTests(prelude=str(row["prompt"]), entry=str(row["entry_point"]), asserts=(str(row["test"]),))
    return _solved(question, tests, str(row["completion"]), "leetcode", split)


def has_one_output(row: SourceRow, split: str) -> bool:
    """Whether every right program prints the same, so that comparing outputs judges it; ``all`` has the others too."""
    if split == "all":
        return True
    text = str(row["problem"]) if "problem" in row else _statement(row)
    return not (row.get("generated_checker") or row.get("interaction_format") or _SEVERAL_OUTPUTS.search(text))


def can_run_sandboxed(row: SourceRow, split: str) -> bool:
    """Whether a right answer can pass inside the sandbox; ``all`` has the others too. What can not is no failure of an answer."""
    return split == "all" or row.get("task_id") not in _NOT_IN_A_SANDBOX


def _statement(row: SourceRow) -> str:
    parts = [str(row["description"]).strip()]
    for title, column in (("Input Format", "input_format"), ("Output Format", "output_format"), ("Note", "note")):
        if row.get(column):
            parts.append(f"{title}:\n{str(row[column]).strip()}")
    examples = row.get("examples") or ()
    parts += [f"Example input:\n{str(e['input']).strip()}\nExample output:\n{str(e['output']).strip()}" for e in examples]
    return "\n\n".join(parts)


def _solved(question: str, tests: ProgramTests, solution: str, source: str, split: str) -> Solved:
    target = tests.to_json()
    ProgramTests.from_json(target)  # what the verifier could not read is found out here
    problem = Problem(question=question.strip(), target=target, kind=KIND, source=source, split=split)
    return Solved(problem=problem, gold=f"```python\n{solution.rstrip()}\n```" if solution else "")


def _lines(text: object) -> str:
    return str(text).replace("\r\n", "\n")


def _mbpp(folder: Path, split: str) -> Iterable[SourceRow]:
    first, last = _MBPP_SPLITS[split]
    rows = in_files("mbpp/mbpp.jsonl")(folder, split)
    return (row for row in rows if first <= int(row["task_id"]) <= last)


def _codeforces(folder: Path, split: str) -> Iterable[SourceRow]:
    return in_files("codeforces/codeforces_{split}.json")(folder, "test" if split == "all" else split)


for _set in (
    Benchmark(
        name="humaneval",
        kind=KIND,
        about="Python functions to complete from their docstring",
        licence="MIT",
        url="https://github.com/openai/human-eval",
        splits={"test": 164},
        parse=parse_humaneval,
        local=in_files("humaneval/HumanEval.jsonl"),
        hub=HubSource(dataset="openai/openai_humaneval", revision="7dce6050a7d6d172f3cc5c32aa97f52fa1a2e544"),
    ),
    Benchmark(
        name="mbpp",
        kind=KIND,
        about="short Python tasks with three asserts each",
        licence="CC-BY-4.0",
        url="https://github.com/google-research/google-research/tree/master/mbpp",
        splits={"test": 500, "train": 374, "val": 90, "prompt": 10},
        parse=parse_mbpp,
        local=_mbpp,
        hub=HubSource(
            dataset="google-research-datasets/mbpp",
            revision="4bb6404fdc6cacfda99d4ac4205087b89d32030c",
            configs=("full",),
            splits={"test": ("test",), "train": ("train",), "val": ("validation",), "prompt": ("prompt",)},
        ),
        note="The tests are part of the question, as in the set's own protocol.",
    ),
    Benchmark(
        name="bigcodebench-hard",
        kind=KIND,
        about="the hard part of BigCodeBench, complete mode: functions that use many libraries",
        licence="Apache-2.0",
        url="https://github.com/bigcode-project/bigcodebench",
        splits={"test": 144, "all": 148},
        parse=parse_bigcodebench,
        local=in_files("bigcodebench/bigcodebench_hard.json"),
        hub=HubSource(
            dataset="bigcode/bigcodebench-hard",
            revision="298d2cc7b96612e15e47313c3603ee124cee0c1f",
            splits={"test": ("v0.1.4",), "all": ("v0.1.4",)},
        ),
        keep=can_run_sandboxed,
        note="'test' leaves out four tasks that can not pass in the sandbox. The tests import third-party libraries: "
        "without the set's own image many can not pass.",
    ),
    Benchmark(
        name="codeforces",
        kind=KIND,
        about="contest problems with stdin and stdout",
        licence="statements (c) Codeforces",
        url="https://codeforces.com",
        splits={"test": None, "all": None, "train": None},
        parse=parse_codeforces,
        local=_codeforces,
        hub=HubSource(
            dataset="open-r1/codeforces",
            revision="fbe3f6e903ee854eec2e69e9d96d0306cde59baf",
            configs=("verifiable",),
            splits={"test": ("test",), "all": ("test",), "train": ("train",)},
        ),
        keep=has_one_output,
        note="Do not republish the statements. 'test' and 'train' leave out problems with several right outputs.",
    ),
    Benchmark(
        name="leetcode",
        kind=KIND,
        about="methods to complete, with reference solutions and asserts",
        licence="statements (c) LeetCode",
        url="https://leetcode.com",
        splits={"test": None, "train": None},
        parse=parse_leetcode,
        local=in_files("leetcode/leetcode_{split}.json"),
        hub=HubSource(
            dataset="newfacade/LeetCodeDataset",
            revision="215604aeed660029df7de2fea5a4d7b6ed476a08",
        ),
        note="Do not republish the statements.",
    ),
):
    register("benchmarks", _set.name)(_set)
