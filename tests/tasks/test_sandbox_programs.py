"""What a program in the sandbox finds: the Python it expects, real descriptors, and nothing left by the test before it.

Every test runs in the sandbox and, where the program is harmless, on the host too (``unsafe_local``): same outcomes.
"""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from podium.tasks.sandbox import Job, Outcome, Sandbox, SandboxLimits

LIMITS = SandboxLimits(cpu_seconds=5.0, wall_seconds=5.0, memory_bytes=256 * 2**20, output_bytes=2**20)


@pytest.fixture(params=["isolated", "on the host"])
async def sandbox(request: pytest.FixtureRequest) -> AsyncIterator[Sandbox]:
    async with Sandbox(slots=1, limits=LIMITS, unsafe_local=request.param == "on the host") as sandbox:
        yield sandbox


async def run(sandbox: Sandbox, source: str, job: Job) -> Outcome:
    async with sandbox.submission(source) as submission:
        outcome = await submission.run(job)
    assert outcome.isolated != sandbox.unsafe_local
    return outcome


READERS = {
    "input": "print(int(input()) + int(input()))",
    "for line in stdin": "import sys\nprint(sum(int(line) for line in sys.stdin))",
    "stdin.read": "import sys\nprint(sum(map(int, sys.stdin.read().split())))",
    "two buffered lines": "import sys\nprint(int(sys.stdin.buffer.readline()) + int(sys.stdin.buffer.readline()))",
    "open(0)": "print(sum(map(int, open(0))))",
    "open(0) bytes": "print(sum(map(int, open(0, 'rb').read().split())))",
    "os.read": "import os\nprint(sum(map(int, os.read(0, 10**6).split())))",
    "os.fstat": "import os, io\nprint(sum(map(int, io.BytesIO(os.read(0, os.fstat(0).st_size)).read().split())))",
    "/dev/stdin": "print(sum(map(int, open('/dev/stdin'))))",
    "fileinput": "import fileinput\nprint(sum(int(line) for line in fileinput.input()))",
    "mmap": "import mmap\nprint(sum(map(int, mmap.mmap(0, 0, prot=mmap.PROT_READ).read().split())))",
    "stdout.buffer": "import sys\nsys.stdout.buffer.write(b'%d\\n' % sum(map(int, sys.stdin)))",
    "os.write": "import os, sys\nos.write(1, b'%d\\n' % sum(map(int, sys.stdin)))",
    "open(1)": "import sys\nprint(sum(map(int, sys.stdin)), file=open(1, 'w'))",
    "a subprocess": "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'print(int(input()) + int(input()))'])",
    "a thread nobody joins": "import sys, threading, time\n"
    "threading.Thread(target=lambda: (time.sleep(0.02), print(sum(map(int, sys.stdin))))).start()",
    "at exit": "import atexit, sys\natexit.register(lambda: print(sum(map(int, sys.stdin))))",
    "exit()": "print(sum(map(int, open(0))))\nexit()",
    "sys.exit": "import sys\nprint(sum(map(int, sys.stdin)))\nsys.exit(0)",
    "main guard": "def main(): print(int(input()) + int(input()))\nif __name__ == '__main__': main()",
    "asyncio": "import asyncio\nasync def main(): print(int(input()) + int(input()))\nasyncio.run(main())",
    "a future": "from __future__ import annotations\nx: Nothing\nprint(int(input()) + int(input()))",
    "deep recursion": "import sys, threading\nfrom functools import lru_cache\nsys.setrecursionlimit(10**6)\n"
    "@lru_cache(None)\ndef f(n): return 0 if n == 0 else f(n - 1)\nprint(int(input()) + int(input()) + f(20000))",
    "a stack for a thread": "import sys, threading\nthreading.stack_size(2**27)\nsys.setrecursionlimit(10**6)\n"
    "t = threading.Thread(target=lambda: print(int(input()) + int(input())))\nt.start()\nt.join()",
}


async def test_every_way_to_read_and_write(sandbox: Sandbox) -> None:
    for name, source in READERS.items():
        outcome = await run(sandbox, source, Job(kind="script", stdin=b"3\n4\n"))
        assert (outcome.status, outcome.stdout, outcome.exit_code) == ("ok", b"7\n", 0), (name, outcome)


async def test_a_large_input_comes_in_one_read(sandbox: Sandbox) -> None:
    outcome = await run(sandbox, "import os\nprint(len(os.read(0, 10**8)))", Job(kind="script", stdin=b"x" * 10**7))
    assert outcome.stdout == b"10000000\n"


@pytest.mark.parametrize(
    ("source", "status", "code", "said"),
    [
        ("raise ValueError('boom')", "error", 1, 'Traceback (most recent call last):\n  File "<submission>", line 1'),
        ("print(", "error", 1, "SyntaxError"),
        ("x = 'HALF A PAIR'", "error", 1, "surrogates not allowed"),
        ("x = 1\0", "error", 1, "null bytes"),
        ("(" * 5000 + ")" * 5000, "error", 1, ""),
        ("import sys\nsys.exit('no')", "error", 1, "no\n"),
        ("exit(7)", "error", 7, ""),
        ("raise SystemExit(None)", "ok", 0, ""),
        ("import os\nos._exit(0)", "ok", 0, ""),
        ("import os\nos.abort()", "killed", None, ""),
        ("def f(): f()\nf()", "error", 1, "RecursionError"),
        ("x = []\nwhile True: x.append(bytes(2**20))", "memory", None, ""),
        ("import numpy", "error", 1, "ModuleNotFoundError"),
        ("import podium", "error", 1, "ModuleNotFoundError"),
    ],
)
async def test_how_scripts_end(sandbox: Sandbox, source: str, status: str, code: int | None, said: str) -> None:
    outcome = await run(sandbox, source.replace("HALF A PAIR", "\ud800"), Job(kind="script"))
    assert outcome.status == status, outcome
    if status != "memory":  # refused by the kernel or stopped by the watch, whichever sees it first
        assert outcome.exit_code == code
    assert said in outcome.stderr.decode()
    assert b"candidate.py" not in outcome.stderr, "our own frames are not part of the program's traceback"


async def test_calls(sandbox: Sandbox) -> None:
    source = """
print("noise", flush=True)
def add(a, b=0): return a + b
def pair(): return (1, (2.5, None, True)), {"k": [1]}
def empty(): pass
class Solution:
    def __init__(self): self.seen = []
    def twice(self, nums): print("more noise"); return [2 * n for n in nums]
if __name__ == "__main__": raise RuntimeError("imported, not run")
"""
    async with sandbox.submission(source) as submission:
        for entry, args, kwargs, value in (
            ("add", [3, 4], {}, 7),
            ("add", [[1]], {"b": [2]}, [1, 2]),
            ("add", ["é", "→𝄞"], {}, "é→𝄞"),
            ("pair", [], {}, [[1, [2.5, None, True]], {"k": [1]}]),
            ("empty", [], {}, None),
            ("Solution().twice", [[1, 2]], {}, [2, 4]),
        ):
            outcome = await submission.run(Job(kind="call", entry=entry, args=args, kwargs=kwargs))
            assert outcome.status == "ok", outcome
            assert outcome.value is not None
            assert json.loads(outcome.value) == value
            assert outcome.stdout.startswith(b"noise\n")  # what it prints is not what it returns
    assert b"more noise" in outcome.stdout


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return float('nan')", "not JSON compliant"),
        ("return [float('-inf')]", "not JSON compliant"),
        ("return {1, 2}", "not JSON serializable"),
        ("return {(1, 2): 3}", "keys must be"),
        ("return 1j", "not JSON serializable"),
        ("return object()", "not JSON serializable"),
        ("x = []; x.append(x); return x", "Circular"),
        ("return 10 ** 5000", "digits"),
        ("raise KeyError('k')", "KeyError"),
        ("import sys; sys.exit(0)", "left with exit code 0"),
        ("import os; os._exit(0)", ""),
        ("json.dumps = lambda *a, **k: 'NaN'; return 1", "not JSON"),
        ("json.dumps = lambda *a, **k: '[' * 200000; return 1", "RecursionError"),
    ],
)
async def test_values_that_are_none(sandbox: Sandbox, body: str, said: str) -> None:
    outcome = await run(sandbox, f"import json\ndef f(): {body}", Job(kind="call", entry="f"))
    assert (outcome.status, outcome.value) == ("error", None), outcome
    assert said in outcome.stderr.decode()


@pytest.mark.parametrize("entry", ["g", "g().h", "f().h", "", "__import__('os').getpid", "f.__call__"])
async def test_an_entry_that_is_not_there(sandbox: Sandbox, entry: str) -> None:
    outcome = await run(sandbox, "def f(): return 1", Job(kind="call", entry=entry))
    assert (outcome.status, outcome.value) == ("error", None)


async def test_an_object_that_equals_everything_is_only_what_it_says(sandbox: Sandbox) -> None:
    source = "class Yes(int):\n    def __eq__(self, other): return True\n    __hash__ = int.__hash__\ndef f(): return Yes(5)"
    assert (await run(sandbox, source, Job(kind="call", entry="f"))).value == "5"


@pytest.mark.parametrize(
    ("source", "extra", "status"),
    [
        ("def f(x): return x", "assert f(1) == 1", "ok"),
        ("def f(x): return x", "assert f(1) == 2", "error"),
        ("def f(x): return x", "import unittest\nclass T(unittest.TestCase):\n def test(self): self.assertEqual(f(1), 1)\n"
         "assert unittest.main(exit=False).result.wasSuccessful()", "ok"),
        ("def f(x): return x", "import unittest\nclass T(unittest.TestCase):\n def test(self): self.assertEqual(f(1), 2)\n"
         "assert unittest.main(exit=False).result.wasSuccessful()", "error"),
        ("import sys\nsys.exit(0)", "assert False", "error"),
        ("import os\nos._exit(0)", "assert False", "error"),
        ("def f(x): raise SystemExit(0)", "assert f(1) == 2", "error"),
        ("if __name__ == '__main__': raise ValueError", "assert True", "ok"),
        ("from __future__ import annotations\ndef f(x: Nothing): return x", "assert f(1) == 1", "ok"),
        ("def f(x): return x", "while True: pass", "timeout"),
    ],
)  # fmt: skip
async def test_modules(sandbox: Sandbox, source: str, extra: str, status: str) -> None:
    outcome = await run(sandbox, source, Job(kind="module", extra=extra, wall_seconds=0.5 if status == "timeout" else None))
    assert outcome.status == status, outcome


async def test_a_test_knows_nothing_of_the_one_before(sandbox: Sandbox) -> None:
    source = (
        "import os\nseen = []\ndef f():\n    seen.append(1); before = os.listdir('.')\n"
        "    open('left', 'w').close(); os.mkdir('d')\n    return [len(seen), before]"
    )
    async with sandbox.submission(source) as submission:
        for _ in range(3):
            assert (await submission.run(Job(kind="call", entry="f"))).value == "[1, []]"


async def test_a_child_left_behind_ends_with_its_test(sandbox: Sandbox) -> None:
    source = "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(60)\nprint('done')"
    async with sandbox.submission(source) as submission:
        outcome = await submission.run(Job(kind="script"))
    assert (outcome.status, outcome.stdout) == ("ok", b"done\n")
    assert outcome.seconds < 5


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda below: st.lists(below, max_size=4) | st.dictionaries(st.text(), below, max_size=4),
    max_leaves=12,
)


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=st.lists(JSON, min_size=1, max_size=10))
async def test_any_json_value_returns_as_it_went(values: list[Any]) -> None:
    source = "def f(x): return x"
    async with Sandbox(slots=1, limits=LIMITS, unsafe_local=True) as sandbox, sandbox.submission(source) as submission:
        for value in values:
            outcome = await submission.run(Job(kind="call", entry="f", args=[value]))
            assert outcome.value == json.dumps(value)
