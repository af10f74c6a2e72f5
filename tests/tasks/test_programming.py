"""Programs through the verifier and a real sandbox."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from benchmarks.program_cases import CODEFORCES, HACKS, KINDS, RIGHT, STYLES
from benchmarks.program_cheats import CHEATS, OWN
from benchmarks.program_hacks import MOCK_HACKS, MOCKED, MOCKED_RIGHT
from benchmarks.programming import REFERENCES, Item, bigcodebench, codeforces, mutant, passes_in_process
from podium.errors import SandboxError, VerifierError
from podium.tasks.programming.target import AssertTests, CallCase, CallTests, ProgramTests, StdinCase, StdinTests, UnittestTests
from podium.tasks.programming.verifier import ProgramVerifier
from podium.tasks.sandbox import Sandbox, SandboxLimits
from podium.types import Problem, Verdict

ADDS = AssertTests(asserts=("assert add(3, 4) == 7",))

LOOP_OVER_METHOD = "def check(c):\n    for i in range(3):\n        assert c(i) == i\ncheck(S().f)"


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandbox() -> AsyncIterator[Sandbox]:
    """One for all tests here: every answer has a submission of its own, and none may leave a trace."""
    async with Sandbox(slots=2, limits=SandboxLimits(wall_seconds=5.0)) as sandbox:
        yield sandbox


def problem_of(tests: ProgramTests) -> Problem:
    return Problem(question="Write it.", target=tests.to_json(), kind="programming", source="test")


async def judged(sandbox: Sandbox, tests: ProgramTests, code: str) -> Verdict:
    return await ProgramVerifier(sandbox)(problem_of(tests), f"Here it is:\n```python\n{code}\n```\n")


async def all_judged(sandbox: Sandbox, items: list[Item]) -> list[Verdict]:
    verifier = ProgramVerifier(sandbox)
    return list(await asyncio.gather(*(verifier(item.problem, item.answer) for item in items)))


async def test_right_programs_of_every_style_pass(sandbox: Sandbox) -> None:
    items = [Item(name=name, tests=tests, code=code) for name, (tests, code) in STYLES.items()]
    for item, verdict in zip(items, await all_judged(sandbox, items), strict=True):
        assert verdict.correct, f"{item.name}: {verdict.why}"
        assert verdict.extracted is not None
        assert verdict.extracted.strip("\n") == item.code.strip("\n")
        assert verdict.why == ""


@pytest.mark.parametrize("kind", KINDS)
async def test_no_hack_passes(sandbox: Sandbox, kind: str) -> None:
    right = await judged(sandbox, KINDS[kind], RIGHT)
    assert right.correct, right.why
    assert right.why == ""
    # ``benchmarks.programming`` tries all with all; here only where there is a judge beside the program, or what is older.
    names = HACKS.keys() if kind == "unittest" else CHEATS.keys() if kind == "stdin" else HACKS.keys() - CHEATS.keys()
    items = [Item(name=name, tests=KINDS[kind], code=HACKS[name]) for name in names]
    for item, verdict in zip(items, await all_judged(sandbox, items), strict=True):
        assert not verdict.correct, f"{item.name} passes"
        assert verdict.why


async def test_no_hack_of_the_tests_own_objects_passes(sandbox: Sandbox) -> None:
    right = await judged(sandbox, MOCKED, MOCKED_RIGHT)
    assert right.correct, right.why
    assert len(HACKS) + len(MOCK_HACKS) >= 55
    items = [Item(name=name, tests=MOCKED, code=code) for name, code in MOCK_HACKS.items()]
    for item, verdict in zip(items, await all_judged(sandbox, items), strict=True):
        assert not verdict.correct, f"{item.name} passes"


async def test_programs_that_cheat_or_look_like_it(sandbox: Sandbox) -> None:
    assert len(CHEATS) + sum(not right for _, _, right in OWN.values()) >= 30
    items = [Item(name=name, tests=tests, code=code) for name, (tests, code, _) in OWN.items()]
    for item, verdict in zip(items, await all_judged(sandbox, items), strict=True):
        assert verdict.correct is OWN[item.name][2], f"{item.name}: {verdict.why}"


async def test_an_answer_without_a_program_is_no_answer(sandbox: Sandbox) -> None:
    verdict = await ProgramVerifier(sandbox)(problem_of(ADDS), "Just add them.")
    assert verdict == Verdict(
        correct=False, extracted=None, why="no program; expected a fenced block of Python that parses"
    )  # fmt: skip


async def test_the_first_failing_test_is_named(sandbox: Sandbox) -> None:
    cases = (StdinCase(stdin="1", stdout="1"), StdinCase(stdin="2", stdout="4"), StdinCase(stdin="3", stdout="9"))
    verdict = await judged(sandbox, StdinTests(cases=cases), "print(input())")
    assert (verdict.correct, verdict.why) == (False, "test 2 of 3: token 1 is '2', not '4'")
    calls = CallTests(entry="f", cases=(CallCase(args=(2,), expected=[2]),))
    verdict = await judged(sandbox, calls, "def f(x):\n    return {x}")
    assert verdict.why == "test 1 of 1: f returned {2}, not [2]"
    verdict = await judged(sandbox, calls, "def g(x):\n    return {x}")
    assert "NameError: the program defines no f" in verdict.why
    verdict = await judged(sandbox, AssertTests(asserts=("assert f(1) == 1", "assert f(0) == 1")), "def f(x):\n    return 1 // x")
    assert verdict.why == "assert 2 of 2: f(0) == 1: error: ZeroDivisionError: integer division or modulo by zero"
    verdict = await judged(sandbox, AssertTests(asserts=("for i in range(3):\n    assert f(i) < 2",)), "def f(x):\n    return x")
    assert verdict.why == "AssertionError in assert f(i) < 2: "
    verdict = await judged(sandbox, calls, f"def f(x):\n    raise ValueError('{'x' * 100_000}')")
    assert len(verdict.why) <= 600


async def test_the_time_limit_of_the_target_holds(sandbox: Sandbox) -> None:
    loop = "def f(x):\n    while x: pass\n    return x\nimport sys\nif __name__ == '__main__': f(1)"
    tests: list[ProgramTests] = [
        StdinTests(cases=(StdinCase(stdin="", stdout="1"),), seconds=0.3),
        CallTests(entry="f", cases=(CallCase(args=(1,), expected=1),), seconds=0.3),
        AssertTests(asserts=("for i in range(3):\n    assert f(i) == i",), seconds=0.3),
        UnittestTests(
            code=("import unittest\nclass T(unittest.TestCase):\n    def test(self): self.assertEqual(f(1), 1)",), seconds=0.5
        ),
    ]
    for verdict in await asyncio.gather(*(judged(sandbox, kind, loop) for kind in tests)):
        assert not verdict.correct
        assert "timeout" in verdict.why


@pytest.mark.parametrize(
    ("test", "code", "right"),
    [
        # What the function does to its arguments is part of the test.
        ("x = [2, 1]\nf(x)\nassert x == [1, 2]", "def f(x): x.sort()", True),
        ("x = [2, 1]\nf(x)\nassert x == [1, 2]", "def f(x): sorted(x)", False),
        # Exceptions cross as what they are.
        ("try:\n    f(1)\nexcept ValueError:\n    pass\nelse:\n    assert False", "def f(x): raise ValueError(x)", True),
        ("try:\n    f(1)\nexcept ValueError:\n    pass\nelse:\n    assert False", "def f(x): raise KeyError(x)", False),
        # Calls that depend on earlier results, and many of them.
        ("n = 1\nwhile n < 100:\n    m = f(n)\n    assert m == 3 * n\n    n = m", "def f(x): return 3 * x", True),
        ("import random\nfor _ in range(25):\n    x = random.random()\n    assert f(x) == -x", "def f(x): return -x", True),
        ("import random\nfor _ in range(25):\n    x = random.random()\n    assert f(x) == -x", "def f(x): return 1", False),
        (
            "for x in ((1,), {2}, {3: 4}, ['o', 'p', 'q', 'r', 's'], b'x', 2**99):\n    assert f(x) == x",
            "def f(x): return x",
            True,
        ),
        (LOOP_OVER_METHOD, "class S:\n    def f(self, x): return x", True),
        (LOOP_OVER_METHOD, "class S:\n    def f(self, x): return 1", False),
    ],
)
async def test_tests_with_loops_are_judged_without_the_program(sandbox: Sandbox, test: str, code: str, right: bool) -> None:
    verdict = await judged(sandbox, AssertTests(asserts=(test,)), code)
    assert verdict.correct is right, verdict.why


async def test_functions_that_the_problem_gives_are_not_the_answers(sandbox: Sandbox) -> None:
    check = "def check(candidate):\n    for k in (1, 2):\n        assert line(candidate(k), k) == 0"
    tests = AssertTests(prelude="def line(x, k):\n    return x - k", entry="zero", asserts=(check,))
    assert (await judged(sandbox, tests, "def zero(k):\n    return k")).correct
    assert not (await judged(sandbox, tests, "def line(x, k):\n    return 0\ndef zero(k):\n    return 5")).correct


async def test_objects_of_the_programs_own_classes_are_tested_from_outside(sandbox: Sandbox) -> None:
    tests = AssertTests(
        asserts=("assert height(root) == 2",), setup="root = Node(1)\nroot.left = Node(2)"
    )  # MBPP has two of these
    tree = "class Node:\n    def __init__(self, data):\n        self.data, self.left = data, None\n"
    right = await judged(sandbox, tests, f"{tree}def height(node):\n    return 0 if node is None else 1 + height(node.left)")
    assert (right.correct, right.why) == (True, "")
    wrong = await judged(sandbox, tests, f"{tree}def height(node):\n    return 1")
    assert not wrong.correct
    assert wrong.why == "AssertionError: "


async def test_odd_but_right_programs_pass_their_unittests(sandbox: Sandbox) -> None:
    code = """\
import builtins, collections, functools, inspect, logging, sys, threading, unittest
from dataclasses import dataclass
builtins.print = functools.partial(print, flush=True)
Point = collections.namedtuple("Point", "x y")
@dataclass
class Sum:
    value: int
class TestMine(unittest.TestCase):
    def test_mine(self):
        self.fail("the answer's own tests are not the problem's")
@functools.lru_cache
def add(a, b):
    logging.getLogger("x").warning("adding")
    try:
        return Sum(Point(a, b).x + Point(a, b).y)
    finally:
        print("done")
if __name__ == "__main__":
    unittest.main()
"""
    tests = """\
import unittest, inspect, io
from unittest.mock import patch
class TestCases(unittest.TestCase):
    def setUp(self):
        self.one = 1
    def test_value(self):
        self.assertEqual(add(self.one, 2).value, 3)
        self.assertEqual(list(inspect.signature(add).parameters), ["a", "b"])
    @patch("sys.stdout", new_callable=io.StringIO)
    def test_output(self, out):
        add(5, 5)
        self.assertEqual(out.getvalue(), "done\\n")
    def test_raises(self):
        with self.assertRaises(TypeError):
            add("a", 1)
"""
    verdict = await judged(sandbox, UnittestTests(code=(tests,)), code)
    assert (verdict.correct, verdict.why) == (True, "")
    verdict = await judged(sandbox, UnittestTests(code=("x = 1",)), code)
    assert verdict.why == "the tests hold no test case"


async def test_names_of_the_answer_hide_no_builtin_from_the_tests(sandbox: Sandbox) -> None:
    code = "def len(x):\n    return 2\ndef add(a, b):\n    return a"
    test = "import unittest\nclass T(unittest.TestCase):\n    def test(self):\n        self.assertTrue(len(add([1], [2])) == 2)"
    assert not (await judged(sandbox, UnittestTests(code=(test,)), code)).correct
    assert (await judged(sandbox, AssertTests(asserts=("assert sum(1, 2) == 3",)), "def sum(a, b):\n    return a + b")).correct


async def test_a_package_that_is_not_there_is_nobodys_wrong_answer(sandbox: Sandbox) -> None:
    tests = UnittestTests(code=("import unittest, no_such_package",))
    with pytest.raises(VerifierError, match="no_such_package"):
        await judged(sandbox, tests, RIGHT)


@pytest.mark.parametrize(
    ("code", "verdict"),
    [
        ("import numpy as np\ndef add(a, b):\n    return int(np.add(a, b))", None),
        ("from numpy.linalg import norm\ndef add(a, b):\n    return a + b", None),
        ("def add(a, b):\n    import pandas\n    return a + b", None),
        # What is not promised, or does not exist anywhere, is the program's own affair.
        ("import no_such_package\ndef add(a, b):\n    return a + b", False),
        ("import torch\ndef add(a, b):\n    return a + b", False),
        # What a program raises, or says that it lacks, is no reason.
        ("raise ModuleNotFoundError(\"No module named 'numpy'\", name='numpy')\ndef add(a, b): pass", False),
        ("def add(a, b):\n    raise ImportError('numpy')", False),
        ("__import__('numpy')\ndef add(a, b): pass", False),
        ("exec('import numpy')\ndef add(a, b): pass", False),
        ("import sys\nsys.modules['numpy'] = None\ndef add(a, b):\n    return 0  # import numpy", False),
        # One that can do without goes its own way.
        ("try:\n    import numpy\nexcept ImportError:\n    numpy = None\ndef add(a, b):\n    return a + b", True),
        ("try:\n    import numpy\nexcept ImportError:\n    numpy = None\ndef add(a, b):\n    return 0", False),
        ("if False:\n    import numpy\ndef add(a, b):\n    return 0", False),
    ],
)
async def test_only_a_promised_package_that_is_missing_is_our_fault(sandbox: Sandbox, code: str, verdict: bool | None) -> None:
    if verdict is None:
        with pytest.raises(VerifierError, match="which the sandbox has not"):
            await judged(sandbox, ADDS, code)
    else:
        assert (await judged(sandbox, ADDS, code)).correct is verdict


async def test_packages_that_can_not_be_looked_for_are_not_called_missing() -> None:
    tests = UnittestTests(code=("import unittest, no_such_package",))
    async with Sandbox(slots=1, limits=SandboxLimits(wall_seconds=1e-4)) as hurried:
        with pytest.raises(VerifierError, match="can not find out which packages the sandbox has: timeout"):
            await judged(hurried, tests, RIGHT)


async def test_faults_of_the_sandbox_pass_through() -> None:
    async with Sandbox(slots=1) as sandbox:
        pass
    with pytest.raises(SandboxError):
        await judged(sandbox, ADDS, RIGHT)


async def test_a_number_that_raises_where_it_is_compared_is_a_wrong_answer(sandbox: Sandbox) -> None:
    code = "from decimal import Decimal\ndef add(a, b):\n    return Decimal('sNaN')"
    for tests in (CallTests(entry="add", cases=(CallCase(args=(3, 4), expected=7),)), ADDS):
        verdict = await judged(sandbox, tests, code)
        assert not verdict.correct
        assert "sNaN" in verdict.why


async def test_a_target_that_is_none_is_nobodys_wrong_answer(sandbox: Sandbox) -> None:
    with pytest.raises(VerifierError):
        await ProgramVerifier(sandbox)(Problem(question="?", target="42", kind="programming", source="test"), RIGHT)


async def test_a_verdict_that_was_not_isolated_says_so() -> None:
    async with Sandbox(slots=1, unsafe_local=True) as sandbox:
        verdict = await judged(sandbox, ADDS, RIGHT)
    assert (verdict.correct, verdict.why) == (True, "not isolated: the program ran on the host")


async def test_one_slot_is_enough() -> None:
    async with Sandbox(slots=1) as sandbox:
        verdicts = await asyncio.gather(*(judged(sandbox, tests, RIGHT) for tests in KINDS.values()))
    assert all(verdict.correct for verdict in verdicts)


def _in_a_hurry(item: Item) -> Item:
    """Some mutants run for ever."""
    return replace(item, tests=replace(item.tests, seconds=0.7))


@pytest.mark.parametrize("name", REFERENCES)
async def test_reference_solutions_pass_and_their_mutants_fail(sandbox: Sandbox, data: Path, name: str) -> None:
    items = list(REFERENCES[name](data))[:: 25 if name == "humaneval" else 120 if name == "mbpp" else 30]
    for item, verdict in zip(items, await all_judged(sandbox, items), strict=True):
        assert verdict.correct, f"{item.name}: {verdict.why}"
    changed = [_in_a_hurry(mutated) for item in items if (mutated := mutant(item)) is not None]
    assert len(changed) >= 5
    for item, verdict in zip(changed, await all_judged(sandbox, changed), strict=True):
        assert not verdict.correct or await passes_in_process(sandbox, item), item.code


async def test_codeforces_and_bigcodebench_go_through(sandbox: Sandbox, data: Path) -> None:
    pairs = list(codeforces(data))
    assert len(pairs) == len(CODEFORCES)
    pairs = [(item, right) for item, right in pairs if "while True" not in item.code]
    for (item, right), verdict in zip(pairs, await all_judged(sandbox, [item for item, _ in pairs]), strict=True):
        assert verdict.correct is right, f"{item.name}: {verdict.why}"
    items = [item for item in bigcodebench(data) if item.name in ("BigCodeBench/19", "BigCodeBench/273")]
    verifier = ProgramVerifier(sandbox)
    for item in items:
        verdict = await verifier(item.problem, item.answer)
        assert (verdict.correct, verdict.why) == (True, "")
        verdict = await verifier(item.problem, "```python\ndef task_func(*args, **kwargs):\n    return None\n```")
        assert not verdict.correct
