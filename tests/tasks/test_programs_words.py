"""What an object of the program says about a value of the tests is its word, and decides nothing; on the real sandbox."""

import textwrap
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from podium.tasks.programming.target import UnittestTests
from podium.tasks.programming.verifier import ProgramVerifier
from podium.tasks.sandbox import Sandbox, SandboxLimits
from podium.types import Problem, Verdict

pytestmark = pytest.mark.asyncio(loop_scope="module")

FORGED = """
import gc, types
for found in gc.get_objects():
    if isinstance(found, types.FunctionType) and found.__name__ == "_held":
        found.__code__ = (lambda value: getattr(type(value), "pretends", None)).__code__
class Nothing:
    pretends = 0
    def __sub__(self, other): return Nothing()
    __rsub__ = __abs__ = __round__ = __sub__
    def __float__(self): return 0.0
    def total_seconds(self): return 0.0
class Number(Nothing):
    pretends = None
class Adder:
    def add(self, a, b): return Number()
def add(a, b): return Number()
"""
SETS = """
class Empty(set):
    def __sub__(self, other): return Empty()
    __rsub__ = __xor__ = __rxor__ = __sub__
    def difference(self, other): return set()
    def issuperset(self, other): return True
def empty(): return Empty()
class Copies:
    def difference(self, other):
        self.seen = other
        return set()
    def __iter__(self): return iter(self.seen)
    def startswith(self, start): return True
def copies(): return Copies()
"""
SWALLOWS = """
import contextlib
class Thing:
    def __enter__(self): return self
    def __exit__(self, *error): return True
    def add(self, a, b): return 0
    def broken(self): raise ValueError
@contextlib.contextmanager
def thing():
    try: yield [0]
    except BaseException: pass
"""
ENDS = """
import doctest, unittest.case
class Stop(Exception): pass
Stop.__module__, Stop.__qualname__ = "doctest", "unittest.case._ShouldStop"
def add(a, b): raise Stop
"""
CHEATS = {
    "a number that is near everything": (FORGED, "self.assertAlmostEqual(add(2, 3), 5.0)"),
    "a difference that is nothing": (FORGED, "self.assertTrue(abs(add(2, 3) - 5) < 1e-6)"),
    "a difference that is nothing as a float": (FORGED, "self.assertLess(float(abs(Adder().add(2, 3) - 5)), 1e-6)"),
    "a method's difference that is nothing": (FORGED, "self.assertTrue(abs(Adder().add(2, 3) - 5) < 1e-6)"),
    "a moment that is near everything": (
        FORGED,
        "self.assertLess((add(2, 3) - datetime.datetime(2020, 1, 1)).total_seconds(), 1)",
    ),
    "a set that lacks nothing": (SETS, "self.assertEqual({5} - empty(), set())"),
    "a set without a difference": (SETS, "self.assertFalse({5} ^ empty())"),
    "a set that holds everything": (SETS, "self.assertTrue(empty().issuperset({5}))"),
    "a set that is asked for its difference": (SETS, "self.assertSetEqual(copies(), {5})"),
    "a text that starts with everything": (SETS, 'self.assertTrue(copies().startswith("sum: 5"))'),
    "a context that swallows a failure": (SWALLOWS, "with Thing() as t: self.assertEqual(t.add(2, 3), 5)"),
    "a context that swallows its own error": (SWALLOWS, "with Thing() as t: self.assertEqual(t.broken(), 5)"),
    "a context that swallows an error over its value": (SWALLOWS, 'with Thing() as t: self.assertEqual(t.add(2, 3)["x"], 5)'),
    "a generator that swallows a failure": (SWALLOWS, "with thing() as t: self.assertEqual(t, [5])"),
    "an error that only the test runner raises": (ENDS, "self.assertEqual(add(2, 3), 5)"),
}

RIGHT = """
import contextlib
class Vec(list):
    def __add__(self, other): return Vec([a + b for a, b in zip(self, other)])
class Bag(set): pass
class Money:
    def __init__(self, cents): self.cents = cents
    def __mul__(self, times): return Money(self.cents * times)
    def __int__(self): return self.cents
def tell(listener): listener(5, Money(1))
def ring(bell): bell()
def caught(bell, kind):
    try: bell()
    except kind as error: return str(error)
def retried(f):
    try: return f()
    except Exception: return f()
def raising(kind): raise kind("no")
@contextlib.contextmanager
def ignoring(kind):
    try: yield
    except kind: pass
"""
DONE = {
    "arithmetic of its own classes": """
        self.assertEqual(Vec([1, 2]) + [3, 4], [4, 6])
        self.assertEqual(Vec([1, 2])[:1] + [7], [1, 7])
        self.assertEqual((Money(5) * 2).cents, 10)
        self.assertEqual(int(Money(5)), 5)
        self.assertSetEqual(Bag([1, 2]), {1, 2})
        self.assertEqual(Bag([1, 2]) - {1}, {2})
        self.assertTrue(Bag([1]).issubset({1, 2}))
        self.assertNotEqual(Money(5), 5)
""",
    "what equals anything": """
        listener = MagicMock()
        tell(listener)
        listener.assert_called_once_with(5, ANY)
        self.assertEqual(Money(5), ANY)
""",
    "errors of the tests' own classes": """
        class Boom(Exception): pass
        with self.assertRaises(Boom): ring(MagicMock(side_effect=Boom("x")))
        with self.assertRaisesRegex(Boom, "no"): raising(Boom)
        self.assertEqual(caught(MagicMock(side_effect=Boom("x")), Boom), "x")
        self.assertEqual(retried(MagicMock(side_effect=[Boom, 5])), 5)
""",
    "errors that the tests raise in a context": """
        with ignoring(ZeroDivisionError): 1 / 0
        with ignoring(KeyError): raise KeyError("x")
        with self.assertRaises(ValueError):
            with ignoring(KeyError): raise ValueError
""",
}
HEAD = """
import datetime, doctest, unittest
from unittest.mock import ANY, MagicMock
class TestCases(unittest.TestCase):
    def test_it(self):
"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandbox() -> AsyncIterator[Sandbox]:
    async with Sandbox(slots=1, limits=SandboxLimits(wall_seconds=10.0)) as sandbox:
        yield sandbox


async def judged(sandbox: Sandbox, tests: str, program: str) -> Verdict:
    body = textwrap.indent(textwrap.dedent(tests).strip(), "        ")
    target = UnittestTests(code=(f"{HEAD}{body}\n",)).to_json()
    problem = Problem(question="Write it.", target=target, kind="programming", source="test")
    return await ProgramVerifier(sandbox)(problem, f"```python\n{program}\n```")


@pytest.mark.parametrize("name", CHEATS)
async def test_an_object_is_not_taken_at_its_word(sandbox: Sandbox, name: str) -> None:
    program, tests = CHEATS[name]
    assert not (await judged(sandbox, tests, program)).correct


@pytest.mark.parametrize("name", DONE)
async def test_right_programs_pass(sandbox: Sandbox, name: str) -> None:
    verdict = await judged(sandbox, DONE[name], RIGHT)
    assert (verdict.correct, verdict.why) == (True, "")
