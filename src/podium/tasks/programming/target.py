"""What ``Problem.target`` of a programming problem says: the tests, as one JSON object in one of four styles.

    stdin      {"style": "stdin", "tests": [{"stdin": "3 4\\n", "stdout": "7\\n"}]}
    call       {"style": "call", "entry": "add", "tests": [{"args": [3, 4], "kwargs": {}, "expected": 7}]}
    asserts    {"style": "asserts", "entry": "add", "tests": ["assert add(3, 4) == 7"], "setup": ""}
    unittest   {"style": "unittest", "tests": ["import unittest\\nclass TestCases(unittest.TestCase): ..."]}

Every style may add ``"seconds"`` (wall seconds for each single test, of the unittest style for all tests together; absent:
the sandbox's own limit, which it can not pass) and ``"prelude"`` (code the reference harness puts in front of the answer:
imports, functions that the question gives).

``entry`` is a function, or ``Solution().method`` for a method of a fresh object. In the asserts style it is what a
``def check(candidate)`` in the tests is called with ("" where the tests call it themselves), and ``setup`` is code between
the answer and the tests. The tests of the asserts and unittest styles are Python; they are never executed on the host.

Left out: checkers for problems with several right outputs.
"""

import ast
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from podium.errors import VerifierError
from podium.tasks.syntax import parse_module

STYLES = ("stdin", "call", "asserts", "unittest")

LEETCODE_PRELUDE = """\
import collections, datetime, functools, heapq, itertools, math, random, re, string
from typing import *
from functools import *
from collections import *
from itertools import *
from heapq import *
from bisect import *
from string import *
from operator import *
from math import *
from builtins import *
inf = float("inf")
"""
"""What LeetCode answers may use without importing it. ``builtins`` comes last: ``math.pow`` takes no modulus."""


def given_code(prompt: str, entry: str) -> str:
    """What ``prompt``, a program that breaks off inside the function ``entry``, gives besides it: imports and functions.

    This is the ``prelude`` of a HumanEval problem, some of whose tests call functions that the prompt gives.
    Example: ``given_code("import math\\n\\ndef f(x):\\n    \\"\\"\\"...\\"\\"\\"\\n", "f")`` is ``"import math"``. Raises
    :class:`VerifierError` where the prompt is no Python.
    """
    tree = parse_module(prompt)
    if tree is None:
        raise VerifierError(f"the prompt of {entry} is no Python; it must break off behind the docstring")
    kept = [node for node in tree.body if not (isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == entry)]
    return "\n".join(ast.unparse(node) for node in kept)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramTests:
    """What all styles have in common; read one with :meth:`from_json`.

    Example: ``ProgramTests.from_json(problem.target)`` is a :class:`StdinTests`, :class:`CallTests`, :class:`AssertTests`
    or :class:`UnittestTests`.
    """

    style: ClassVar[str]
    prelude: str = ""
    """Code in front of the answer."""
    seconds: float | None = None
    """Wall seconds for one test (unittest: for all); None leaves it to the sandbox."""

    def to_json(self) -> str:
        """The target: one line of JSON with sorted keys, so that equal tests give equal problem ids."""
        row: dict[str, Any] = {"style": self.style, **self._fields()}
        if self.prelude:
            row["prelude"] = self.prelude
        if self.seconds is not None:
            row["seconds"] = self.seconds
        return json.dumps(row, sort_keys=True, allow_nan=False)

    def _fields(self) -> dict[str, Any]:
        raise NotImplementedError

    @staticmethod
    def from_json(target: str) -> "StdinTests | CallTests | AssertTests | UnittestTests":
        """The tests that ``target`` describes. Raises :class:`VerifierError` where it describes none."""
        try:
            row = json.loads(target)
        except (ValueError, RecursionError) as error:
            raise VerifierError(f"the target is not JSON ({error}); write it with ProgramTests.to_json") from error
        if not isinstance(row, dict) or row.get("style") not in STYLES:
            raise VerifierError(f"the target has no known style; it is one of {', '.join(STYLES)}")
        found = _READ[row["style"]](_Row(row))
        unknown = set(row) - {"style", "prelude", "seconds", *found._fields()}
        if unknown:
            raise VerifierError(f"the target has an unknown key {min(unknown)!r} for the style {found.style}")
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class StdinCase:
    """One run of the program. Example: ``StdinCase(stdin="3 4\\n", stdout="7\\n")``."""

    stdin: str
    stdout: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StdinTests(ProgramTests):
    """Programs that read stdin and write stdout (Codeforces, LiveCodeBench).

    Example: ``StdinTests(cases=(StdinCase(stdin="3 4\\n", stdout="7\\n"),), seconds=2.0)``.
    """

    style: ClassVar[str] = "stdin"
    cases: tuple[StdinCase, ...]

    def _fields(self) -> dict[str, Any]:
        return {"tests": [{"stdin": case.stdin, "stdout": case.stdout} for case in self.cases]}


@dataclass(frozen=True, slots=True, kw_only=True)
class CallCase:
    """One call and what it returns, in JSON values. Example: ``CallCase(args=(3, 4), expected=7)``."""

    args: tuple[Any, ...] = ()
    kwargs: tuple[tuple[str, Any], ...] = ()
    expected: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class CallTests(ProgramTests):
    """Calls with JSON arguments and results. Example: ``CallTests(entry="add", cases=(CallCase(args=(3, 4), expected=7),))``."""

    style: ClassVar[str] = "call"
    entry: str
    cases: tuple[CallCase, ...]

    def _fields(self) -> dict[str, Any]:
        tests = [{"args": list(case.args), "kwargs": dict(case.kwargs), "expected": case.expected} for case in self.cases]
        return {"entry": self.entry, "tests": tests}


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertTests(ProgramTests):
    """Python asserts: a list of them (MBPP) or a ``def check(candidate)`` (HumanEval, LeetCode with references).

    Examples: ``AssertTests(asserts=("assert add(3, 4) == 7",))``;
    ``AssertTests(entry="add", asserts=("def check(candidate):\\n    assert candidate(3, 4) == 7",))``.
    """

    style: ClassVar[str] = "asserts"
    entry: str = ""
    """What ``check`` is called with; "" where the tests say ``check(...)`` themselves or have no ``check``."""
    asserts: tuple[str, ...]
    """Parts of one test program, in order."""
    setup: str = ""

    def _fields(self) -> dict[str, Any]:
        return {"entry": self.entry, "tests": list(self.asserts), "setup": self.setup}


@dataclass(frozen=True, slots=True, kw_only=True)
class UnittestTests(ProgramTests):
    """``unittest`` code that is run behind the answer, in its process (BigCodeBench).

    Example: ``UnittestTests(code=("import unittest\\nclass TestCases(unittest.TestCase): ...",))``.
    """

    style: ClassVar[str] = "unittest"
    code: tuple[str, ...]

    def _fields(self) -> dict[str, Any]:
        return {"tests": list(self.code)}


class _Row:
    """Typed reading of the JSON object; every mistake is a :class:`VerifierError` that names the field."""

    def __init__(self, row: dict[str, Any]) -> None:
        self._row = row

    def text(self, key: str, *, needed: bool = False) -> str:
        value = self._row.get(key, None if needed else "")
        if not isinstance(value, str) or (needed and not value.strip()):
            raise VerifierError(f"{key!r} in the target must be {'a non-empty' if needed else 'a'} text, not {value!r:.60}")
        return value

    def seconds(self) -> float | None:
        value = self._row.get("seconds")
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value <= 0:
            raise VerifierError(f"'seconds' in the target must be a positive number, not {value!r:.60}")
        return float(value)

    def tests(self) -> list[Any]:
        value = self._row.get("tests")
        if not isinstance(value, list) or not value:
            raise VerifierError("'tests' in the target must be a list of at least one test")
        return value

    def texts(self) -> tuple[str, ...]:
        tests = self.tests()
        if any(not isinstance(test, str) for test in tests) or not any(test.strip() for test in tests):
            raise VerifierError("'tests' in the target must be a list of Python texts")
        return tuple(tests)

    def objects(self, required: str, optional: str = "") -> list[dict[str, Any]]:
        tests = self.tests()
        for number, test in enumerate(tests, start=1):
            if not isinstance(test, dict) or not set(required.split()) <= set(test) <= set(f"{required} {optional}".split()):
                raise VerifierError(f"test {number} in the target must be an object with {required}; it is {test!r:.60}")
        return tests


def _stdin(row: _Row) -> StdinTests:
    tests = row.objects("stdin stdout")
    if any(not isinstance(text, str) for test in tests for text in test.values()):
        raise VerifierError("'stdin' and 'stdout' in the target must be texts")
    cases = tuple(StdinCase(stdin=test["stdin"], stdout=test["stdout"]) for test in tests)
    return StdinTests(prelude=row.text("prelude"), seconds=row.seconds(), cases=cases)


def _call(row: _Row) -> CallTests:
    tests = row.objects("expected", "args kwargs")
    if any(not isinstance(test.get("args", []), list) or not isinstance(test.get("kwargs", {}), dict) for test in tests):
        raise VerifierError("'args' in the target must be a list and 'kwargs' an object")
    cases = tuple(
        CallCase(args=tuple(test.get("args", [])), kwargs=tuple(test.get("kwargs", {}).items()), expected=test["expected"])
        for test in tests
    )
    return CallTests(prelude=row.text("prelude"), seconds=row.seconds(), entry=row.text("entry", needed=True), cases=cases)


def _asserts(row: _Row) -> AssertTests:
    return AssertTests(
        prelude=row.text("prelude"),
        seconds=row.seconds(),
        entry=row.text("entry"),
        asserts=row.texts(),
        setup=row.text("setup"),
    )


def _unittest(row: _Row) -> UnittestTests:
    return UnittestTests(prelude=row.text("prelude"), seconds=row.seconds(), code=row.texts())


_READ: dict[str, Callable[[_Row], "StdinTests | CallTests | AssertTests | UnittestTests"]] = {
    "stdin": _stdin,
    "call": _call,
    "asserts": _asserts,
    "unittest": _unittest,
}
