"""What unittest-style tests can do with a program that runs in another process: all of it on the real sandbox."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from podium.tasks.programming.target import UnittestTests
from podium.tasks.programming.verifier import ProgramVerifier
from podium.tasks.sandbox import Sandbox, SandboxLimits
from podium.types import Problem, Verdict

pytestmark = pytest.mark.asyncio(loop_scope="module")

PROGRAM = """
import random, sys, os, logging, warnings
from collections import Counter, namedtuple
class VecError(ValueError): pass
class Vec:
    tags = ["a"]
    def __init__(self, x, y): self.x, self.y = x, y
    def __mul__(self, k): return Vec(self.x * k, self.y * k)
    def __add__(self, o): return Vec(self.x + o.x, self.y + o.y)
    def __eq__(self, o): return (self.x, self.y) == (o.x, o.y)
    def __len__(self): return 2
    def __iter__(self): return iter((self.x, self.y))
    def __str__(self): return f"<{self.x} {self.y}>"
    def fail(self, x): raise VecError("no " + x)
async def later(x):
    import asyncio
    await asyncio.sleep(0)
    return x + 1
def numbers(n): return [random.random() for _ in range(n)]
def hello(): print("hello")
def count(s): return Counter(s)
class MyList(list):
    def total(self): return sum(self)
Point = namedtuple("Point", "x y")
def point(): return Point(1, 2)
def generated(n): yield from range(n)
def tell(who, what): who.say(what)
def apply(f, x): return f(x)
def arrange(xs): xs.sort(); return xs
def env(key): return os.environ[key]
def log(): logging.getLogger("abc").info("hi")
def warn(): warnings.warn("careful")
def leave(): sys.exit(3)
def zero(): return 0
def ask(): return input() + open("file.txt").read()
"""

TESTS = {
    "classes": """
        v = Vec(1, 2)
        self.assertEqual((v * 3).x, 3)
        self.assertEqual(v + v, Vec(2, 4))
        self.assertNotEqual(v, Vec(9, 9))
        self.assertIsInstance(v, Vec)
        self.assertEqual(len(v), 2)
        self.assertEqual(list(v), [1, 2])
        self.assertIn(2, v)
        self.assertEqual(str(v), "<1 2>")
        self.assertEqual(v.tags, ["a"])
        v.x = 5
        self.assertEqual(v.x, 5)
""",
    "errors": """
        with self.assertRaises(VecError) as caught: Vec(1, 2).fail("x")
        self.assertEqual(str(caught.exception), "no x")
        with self.assertRaises(ValueError): Vec(1, 2).fail("x")
        with self.assertRaises(SystemExit) as caught: leave()
        self.assertEqual(caught.exception.code, 3)
        with self.assertRaises(ZeroDivisionError): 1 / zero()
        with self.assertRaisesRegex(FileNotFoundError, "file.txt"), patch("builtins.input", return_value=""): ask()
""",
    "coroutines": "        self.assertEqual(asyncio.run(later(3)), 4)\n",
    "random numbers": """
        random.seed(3); expected = [random.random() for _ in range(3)]
        random.seed(3); self.assertEqual(numbers(3), expected)
        random.seed(3); numbers(2); self.assertEqual(random.random(), expected[2])
""",
    "output": """
        out = io.StringIO()
        with redirect_stdout(out): hello()
        self.assertEqual(out.getvalue(), "hello\\n")
        with patch("sys.stdout", new_callable=io.StringIO) as out: hello()
        self.assertEqual(out.getvalue(), "hello\\n")
""",
    "types": """
        self.assertIsInstance(count("aab"), Counter)
        self.assertEqual(count("aab"), Counter("aab"))
        self.assertEqual(count("aab").most_common(1), [("a", 2)])
        self.assertEqual(MyList([1, 2]), [1, 2])
        self.assertListEqual(MyList([1, 2]), [1, 2])
        self.assertEqual(MyList([1, 2]).total(), 3)
        self.assertEqual((point().x, point()), (1, (1, 2)))
        self.assertEqual(sorted(generated(3)), [0, 1, 2])
""",
    "what the tests give": """
        told = Told(); tell(told, [3]); self.assertEqual(told.said, [[3]])
        self.assertEqual(apply(len, "abc"), 3)
        self.assertEqual(apply(lambda x: x * 2, 4), 8)
        self.assertEqual(apply(self.twice, 2), 4)
        numbers = [3, 1]; arrange(numbers); self.assertEqual(numbers, [1, 3])
        self.assertIs(arrange(numbers), numbers)
""",
    "the surroundings": """
        os.environ["PODIUM_TEST"] = "x"; self.assertEqual(env("PODIUM_TEST"), "x")
        with patch.dict("os.environ", {"PODIUM_TEST": "y"}): self.assertEqual(env("PODIUM_TEST"), "y")
        self.assertEqual(env("PODIUM_TEST"), "x")
        with patch("builtins.input", side_effect=["a", "b"]), patch("builtins.open", mock_open(read_data="!")):
            self.assertEqual(ask() + ask(), "a!b!")
        with self.assertLogs("abc", level="INFO") as logs: log()
        self.assertEqual(logs.output, ["INFO:abc:hi"])
        with self.assertWarns(UserWarning): warn()
""",
}

HEAD = """
import asyncio, io, logging, os, random, unittest
from collections import Counter
from contextlib import redirect_stdout
from unittest.mock import mock_open, patch
class Told:
    def __init__(self): self.said = []
    def say(self, what): self.said.append(what)
class TestCases(unittest.TestCase):
    def twice(self, x): return 2 * x
    def test_it(self):
"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandbox() -> AsyncIterator[Sandbox]:
    async with Sandbox(slots=1, limits=SandboxLimits(wall_seconds=10.0)) as sandbox:
        yield sandbox


async def judged(sandbox: Sandbox, tests: str, program: str = PROGRAM, prelude: str = "") -> Verdict:
    target = UnittestTests(code=(tests,), prelude=prelude).to_json()
    problem = Problem(question="Write it.", target=target, kind="programming", source="test")
    return await ProgramVerifier(sandbox)(problem, f"```python\n{program}\n```")


@pytest.mark.parametrize("name", TESTS)
async def test_tests_do_with_a_program_what_they_would_in_one_process(sandbox: Sandbox, name: str) -> None:
    verdict = await judged(sandbox, HEAD + TESTS[name])
    assert (verdict.correct, verdict.why) == (True, "")


async def test_the_start_of_a_program_is_not_the_program(sandbox: Sandbox) -> None:
    tests = HEAD + "        self.assertEqual(add(half(4), 1), 3)\n"
    prelude = "def half(x):\n    return x // 2\ndef add(a, b):\n    pass\n"
    assert (await judged(sandbox, tests, "def add(a, b):\n    return a + b", prelude)).correct
    wrong = await judged(sandbox, tests, "def half(x):\n    return 3\ndef add(a, b):\n    return a", prelude)
    assert wrong.why == "TestCases.test_it failed: AssertionError: 2 != 3"


async def test_the_program_is_told_neither_tests_nor_expectations(sandbox: Sandbox) -> None:
    program = """
import os, sys
def add(a, b):
    found = []
    for pid in [name for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]:
        for name in ("environ", "cmdline", "fd/0", "fd/3", "fd/4", "fd/5", "mem"):
            try:
                with open(f"/proc/{pid}/{name}", "rb") as file:
                    found.append(file.read(10_000))
            except OSError: pass
    for where, folders, files in os.walk("/tmp"):
        found += [open(os.path.join(where, name), "rb").read() for name in files]
    names = [repr(vars(module)) for name, module in sys.modules.items() if name.startswith(("__", "test"))]
    text = str(found) + str(names)
    return "secret-" + "expectation" in text
"""
    verdict = await judged(
        sandbox, HEAD + '        hidden = "secret-expectation"\n        self.assertIs(add(1, 2), False)\n', program
    )
    assert (verdict.correct, verdict.why) == (True, "")


async def test_an_object_of_the_program_is_no_value_of_the_tests(sandbox: Sandbox) -> None:
    liar = """
class Liar:
    def __eq__(self, other): return True
    __lt__ = __le__ = __gt__ = __ge__ = __contains__ = __eq__
    __hash__ = None
    def __sub__(self, other): return 0
    __rsub__ = __sub__
def f(): return Liar()
class Same:
    def __init__(self, x): self.x = x
    def __eq__(self, other): return True
"""
    for claim in (
        "self.assertEqual(f(), 7)",
        "self.assertEqual([7], [f()])",
        "self.assertIn(7, f())",
        "self.assertGreater(f(), 7)",
        "self.assertLess(7, f())",
        "self.assertAlmostEqual(f(), 7.0)",
        "self.assertAlmostEqual(7.0, f(), delta=0.1)",
        "self.assertEqual(Same(1), Same(2))",
    ):
        assert not (await judged(sandbox, f"{HEAD}        {claim}\n", liar)).correct, claim


@pytest.mark.parametrize("state", ["(3, (*[0] * 624, 624), None)", "(*random.Random(5).getstate()[:2], 0.0)"])
async def test_a_program_does_not_choose_the_random_inputs_of_its_tests(sandbox: Sandbox, state: str) -> None:
    program = f"""
import random
random.setstate({state})
known = random.Random()
known.setstate(random.getstate())
def add(a, b):
    total = known.random() + known.gauss(0, 1)
    random.setstate({state})
    return total
"""
    tests = "        a, b = random.random(), random.gauss(0, 1)\n        self.assertEqual(add(a, b), a + b)\n"
    verdict = await judged(sandbox, HEAD + tests, program)
    assert "AssertionError" in verdict.why
