"""How right are the programming verifiers? ``python -m benchmarks.programming [FOLDER of data sets] [ITEMS of each]``.

Answers whose truth is known, through the verifier and a real sandbox:

- references: the data sets' own solutions to HumanEval, MBPP and LeetCode; all should pass.
- mutants: the same with one operator changed (:func:`mutant`); all should fail. A mutant that the data set's tests pass when
  program and tests simply run in one process (the sandbox's "module" job) is equivalent as far as these tests can see, and
  is not counted; how many there are is printed.
- BigCodeBench references: those whose packages the sandbox has. Codeforces: own solutions to a few problems, right and wrong.
- styles and hacks: ``benchmarks/program_cases.py``.

``wrong`` in the last line names every answer that was not judged as it should be.
"""

import argparse
import ast
import asyncio
import dataclasses
import gzip
import json
import random
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

from benchmarks.program_cases import CODEFORCES, HACKS, KINDS, STYLES
from benchmarks.program_cheats import OWN
from podium.errors import VerifierError
from podium.tasks.programming.code import with_prelude
from podium.tasks.programming.relayed import test_program
from podium.tasks.programming.target import (
    LEETCODE_PRELUDE,
    AssertTests,
    ProgramTests,
    StdinCase,
    StdinTests,
    UnittestTests,
    given_code,
)
from podium.tasks.programming.verifier import ProgramVerifier
from podium.tasks.sandbox import Job, Sandbox, SandboxLimits
from podium.tasks.syntax import parse_module
from podium.types import Problem, Verdict

DATA = Path(__file__).parents[2] / "shared" / "data"
MUTANT_SECONDS = 2.0
_SWAP: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Add,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A problem and a program that solves it. Example: ``Item(name="HumanEval/0", tests=..., code="def ...")``."""

    name: str
    tests: ProgramTests
    code: str

    @property
    def problem(self) -> Problem:
        """The problem as a verifier gets it."""
        return Problem(question=self.name, target=self.tests.to_json(), kind="programming", source="benchmark")

    @property
    def answer(self) -> str:
        """The program as a model would give it."""
        return f"Here it is:\n\n```python\n{self.code}\n```\n"


def humaneval(folder: Path) -> Iterator[Item]:
    """HumanEval with its reference solutions."""
    for row in _lines(folder / "humaneval" / "HumanEval.jsonl.gz"):
        entry = row["entry_point"]
        tests = AssertTests(prelude=given_code(row["prompt"], entry), entry=entry, asserts=(row["test"],))
        yield Item(name=row["task_id"], tests=tests, code=row["prompt"] + row["canonical_solution"])


def mbpp(folder: Path) -> Iterator[Item]:
    """MBPP with its reference solutions."""
    for row in _lines(folder / "mbpp" / "mbpp.jsonl.gz"):
        tests = AssertTests(asserts=tuple(row["test_list"]), setup=row["test_setup_code"])
        yield Item(name=f"mbpp/{row['task_id']}", tests=tests, code=row["code"])


def leetcode(folder: Path) -> Iterator[Item]:
    """LeetCode problems with reference solutions."""
    for number, row in enumerate(_whole(folder / "leetcode" / "leetcode_test.json.gz")):
        tests = AssertTests(prelude=LEETCODE_PRELUDE, asserts=(row["tests"]["functional"],))
        yield Item(name=f"leetcode/{number}", tests=tests, code=row["solutions"])


def bigcodebench(folder: Path) -> Iterator[Item]:
    """BigCodeBench (hard) with its reference solutions."""
    for name, row in _whole(folder / "bigcodebench" / "bigcodebench_hard.json.gz").items():
        tests = UnittestTests(prelude=given_code(row["complete_prompt"], row["entry_point"]), code=(row["test"],))
        yield Item(name=name, tests=tests, code=row["complete_prompt"] + row["canonical_solution"])


def codeforces(folder: Path) -> Iterator[tuple[Item, bool]]:
    """Own solutions to a few Codeforces problems, and whether they are right."""
    rows = _whole(folder / "codeforces" / "codeforces_test.json.gz")
    for number, (right, code) in CODEFORCES:
        cases = tuple(StdinCase(stdin=test["input"], stdout=test["output"]) for test in rows[number]["tests"])
        yield Item(name=f"codeforces/{number}", tests=StdinTests(cases=cases, seconds=5.0), code=code), right


REFERENCES = {"humaneval": humaneval, "mbpp": mbpp, "leetcode": leetcode}


def mutant(item: Item) -> Item | None:
    """``item`` with one operator changed, drawn by its name; None where its program has no operator.

    Arithmetic, bitwise, comparing and Boolean operators count, each changed into a fixed other one (``<`` into ``>=``, ``+``
    into ``-``); type hints do not. Functions that the problem gives (its prelude) stay: the tests call the given ones.
    """
    tree = parse_module(item.code) or ast.Module([], [])
    hints = {
        id(part)
        for node in ast.walk(tree)
        for hint in (getattr(node, "annotation", None), getattr(node, "returns", None))
        if hint is not None
        for part in ast.walk(hint)
    }
    given = {
        node.name for node in (parse_module(item.tests.prelude) or ast.Module([], [])).body if isinstance(node, ast.FunctionDef)
    }
    own = [node for node in tree.body if not (isinstance(node, ast.FunctionDef) and node.name in given)]
    sites: list[tuple[Any, str, int]] = []
    for node in (part for top in own for part in ast.walk(top)):
        if id(node) in hints:
            continue
        if isinstance(node, ast.BinOp | ast.AugAssign | ast.BoolOp) and type(node.op) in _SWAP:
            sites.append((node, "op", -1))
        elif isinstance(node, ast.Compare):
            sites.extend((node, "ops", place) for place in range(len(node.ops)))
    if not sites:
        return None
    node, field, place = random.Random(item.name).choice(sites)
    if place < 0:
        setattr(node, field, _SWAP[type(node.op)]())
    else:
        node.ops[place] = _SWAP[type(node.ops[place])]()
    tests = dataclasses.replace(item.tests, seconds=MUTANT_SECONDS)
    return dataclasses.replace(item, code=ast.unparse(tree), tests=tests)


async def passes_in_process(sandbox: Sandbox, item: Item) -> bool:
    """Whether program and tests simply run in one process to the end: what the data set's own harness would say."""
    tests = item.tests
    if not isinstance(tests, AssertTests):
        raise TypeError(f"{item.name} has no asserts")
    async with sandbox.submission(with_prelude(tests.prelude, item.code)) as submission:
        extra = f"{tests.setup}\n{test_program(tests)}\n"
        return (await submission.run(Job(kind="module", extra=extra, wall_seconds=4 * MUTANT_SECONDS))).status == "ok"


async def judged(verifier: ProgramVerifier, items: list[Item]) -> AsyncIterator[tuple[Item, Verdict | VerifierError]]:
    """Each item with its verdict, two at a time, in order."""

    async def one(item: Item) -> Verdict | VerifierError:
        async with two:
            try:
                return await verifier(item.problem, item.answer)
            except VerifierError as error:
                return error

    two = asyncio.Semaphore(2)
    tasks = [asyncio.create_task(one(item)) for item in items]
    for item, task in zip(items, tasks, strict=True):
        yield item, await task


async def measure(folder: Path, most: int | None) -> dict[str, Any]:
    """All figures; prints what was judged otherwise than it should."""
    figures: dict[str, Any] = {}
    wrong: list[str] = []
    async with Sandbox(slots=2, limits=SandboxLimits(wall_seconds=10.0)) as sandbox:
        verifier = ProgramVerifier(sandbox)
        for name, read in REFERENCES.items():
            items = list(read(folder))[:most]
            figures[name] = await references(verifier, items, wrong)
            print(name, figures[name], flush=True)
            figures[f"{name}_mutants"] = await mutants(sandbox, verifier, items, wrong)
            print(f"{name} mutants", figures[f"{name}_mutants"], flush=True)
        figures["bigcodebench"] = await references(verifier, list(bigcodebench(folder))[:most], wrong)
        pairs = list(codeforces(folder))
        answers = [(item, right) for item, right in pairs]
        answers += [(Item(name=name, tests=tests, code=code), True) for name, (tests, code) in STYLES.items()]
        figures["codeforces"], figures["styles"] = len(pairs), len(STYLES)
        answers += [
            (Item(name=f"{hack} against {kind}", tests=tests, code=code), False)
            for hack, code in HACKS.items()
            for kind, tests in KINDS.items()
        ]
        answers += [(Item(name=name, tests=tests, code=code), right) for name, (tests, code, right) in OWN.items()]
        figures["hacks"] = len(HACKS) * len(KINDS) + sum(not right for _, _, right in OWN.values())
        truth = [right for _, right in answers]
        found = [found async for found in judged(verifier, [item for item, _ in answers])]
        for (item, verdict), right in zip(found, truth, strict=True):
            if isinstance(verdict, VerifierError) or verdict.correct is not right:
                wrong.append(item.name)
                print(f"  {item.name}: {verdict}")
    return {**figures, "wrong": wrong}


async def references(verifier: ProgramVerifier, items: list[Item], wrong: list[str]) -> dict[str, Any]:
    """How many of the reference solutions pass; a missing package is no verdict."""
    start, right, skipped = time.monotonic(), 0, 0
    async for item, verdict in judged(verifier, items):
        if isinstance(verdict, VerifierError):
            skipped += 1
            continue
        right += verdict.correct
        if not verdict.correct:
            wrong.append(item.name)
            print(f"  {item.name}: {verdict.why}")
    seconds = (time.monotonic() - start) / max(1, len(items) - skipped)
    return {
        "items": len(items), "right": right, "no_package": skipped, "seconds_each": round(seconds, 3)
    }  # fmt: skip


async def mutants(sandbox: Sandbox, verifier: ProgramVerifier, items: list[Item], wrong: list[str]) -> dict[str, int]:
    """How many mutants there are, fail, and pass though plain execution fails them."""
    made = [changed for item in items if (changed := mutant(item)) is not None]
    failed = equivalent = missed = 0
    async for item, verdict in judged(verifier, made):
        if isinstance(verdict, Verdict) and not verdict.correct:
            failed += 1
        elif isinstance(verdict, Verdict) and await passes_in_process(sandbox, item):
            equivalent += 1
        else:
            missed += 1
            wrong.append(f"mutant of {item.name}")
            print(f"  mutant of {item.name}: {verdict}")
    return {"items": len(made), "failed": failed, "equivalent": equivalent, "missed": missed}


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from (json.loads(line) for line in file)


def _whole(path: Path) -> Any:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def main() -> None:
    """Print the figures and the JSON line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("``")[0])
    parser.add_argument("folder", type=Path, nargs="?", default=DATA, help="of data sets")
    parser.add_argument("items", type=int, nargs="?", help="so many of each data set; all where it is left out")
    options = parser.parse_args()
    print(json.dumps(asyncio.run(measure(options.folder, options.items))))


if __name__ == "__main__":
    main()
