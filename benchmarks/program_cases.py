"""Golden programs for the programming verifiers: right ones in unusual styles, and hacks that must not pass.

The styles are correct programs that graders which run them in their own process are known to fail; each answers the same
question. The hacks are wrong programs that try to pass all the same.
"""

from benchmarks.program_cheats import CHEATS
from benchmarks.program_hacks import MORE_HACKS
from podium.tasks.programming.target import AssertTests, CallCase, CallTests, ProgramTests, StdinCase, StdinTests, UnittestTests

SUMS = StdinTests(cases=(StdinCase(stdin="2\n1 2\n3 4\n", stdout="3\n7\n"), StdinCase(stdin="1\n5 5\n", stdout="10\n")))
"""First line: how many lines follow. For each of them the sum."""
MEANS = StdinTests(cases=(StdinCase(stdin="2\n1 2\n3 5\n", stdout="1.50\n4.00\n"),))
PAIRS = CallTests(
    entry="Solution().pairs",
    cases=(CallCase(args=([1, 2],), expected=[[1, [1, 1]], [2, [2, 4]]]), CallCase(args=([],), expected=[])),
)
"""``[x, [x, x * x]]`` for each x."""

STYLES: dict[str, tuple[ProgramTests, str]] = {
    "for line in sys.stdin": (
        SUMS,
        """\
import sys
next(sys.stdin)
for line in sys.stdin:
    print(sum(map(int, line.split())))
""",
    ),
    "two sys.stdin.buffer.readline": (
        SUMS,
        """\
import sys
n = int(sys.stdin.buffer.readline())
for _ in range(n):
    a, b = map(int, sys.stdin.buffer.readline().split())
    print(a + b)
""",
    ),
    "open(0)": (
        SUMS,
        """\
_, *lines = open(0)
print(*(sum(map(int, line.split())) for line in lines), sep='\\n')
""",
    ),
    "os.read(0)": (
        SUMS,
        """\
import os
_, *rows = os.read(0, 10**6).decode().split('\\n')
print('\\n'.join(str(sum(map(int, row.split()))) for row in rows if row))
""",
    ),
    "sys.stdout.buffer.write": (
        SUMS,
        """\
import sys
for _ in range(int(input())):
    sys.stdout.buffer.write(b'%d\\n' % sum(map(int, input().split())))
""",
    ),
    "os.write(1)": (
        SUMS,
        """\
import os
for _ in range(int(input())):
    os.write(1, f'{sum(map(int, input().split()))}\\n'.encode())
""",
    ),
    "unjoined thread": (
        SUMS,
        """\
import threading, time
def main():
    time.sleep(0.05)
    for _ in range(int(input())):
        print(sum(map(int, input().split())))
threading.Thread(target=main).start()
""",
    ),
    "floats spelled otherwise": (
        MEANS,
        """\
for _ in range(int(input())):
    print(sum(map(int, input().split())) / 2)
""",
    ),
    "nested tuples": (
        PAIRS,
        """\
class Solution:
    def pairs(self, xs):
        return tuple((x, (x, x * x)) for x in xs)
""",
    ),
    "sys.exit, atexit and __main__": (
        SUMS,
        """\
import atexit, sys
out = []
atexit.register(lambda: print('\\n'.join(out)))
if __name__ == '__main__':
    for _ in range(int(input())):
        out.append(str(sum(map(int, input().split()))))
    sys.exit()
""",
    ),
    "builtins as variables": (
        PAIRS,
        """\
list, len, str, isinstance, type, dict, max = [], 5, '', 0, 1, {}, 9
class Solution:
    def pairs(self, xs):
        return [[x, [x, x * x]] for x in xs]
""",
    ),
    "input() as sys.stdin.readline, deep recursion": (
        SUMS,
        """\
import sys
sys.setrecursionlimit(10**6)
input = sys.stdin.readline
def down(n):
    return 0 if n == 0 else 1 + down(n - 1)
for _ in range(int(input())):
    print(sum(map(int, input().split())) + down(20000) - 20000)
""",
    ),
    "from __future__ behind a docstring": (
        SUMS,
        '''\
"""Sums."""
from __future__ import annotations
for _ in range(int(input())):
    print(sum(map(int, input().split())))
''',
    ),
}

ADD_CALLS = CallTests(entry="add", cases=(CallCase(args=(3, 4), expected=7), CallCase(args=(1, 1), expected=2)))
ADD_ASSERTS = AssertTests(asserts=("assert add(3, 4) == 7", "assert add(1, 1) == 2"))
ADD_CHECK = AssertTests(
    entry="add", asserts=("def check(candidate):\n    for i in range(3):\n        assert candidate(i, i) == 2 * i",)
)
"""A loop: judged with a table of replies."""
ADD_BOXES = AssertTests(
    asserts=("assert add(box, 4) == 7", "assert add(box, 1) == 4"),
    setup="box = Box(3)",
    prelude="class Box:\n    def __init__(self, value):\n        self.value = value",
)
"""An object among the arguments: a reference in the program's process."""
ADD_UNITTEST = UnittestTests(
    code=(
        """\
import unittest
class TestCases(unittest.TestCase):
    def test_add(self):
        expected = 7
        result = add(3, 4)
        self.assertEqual(result, expected)
    def test_more(self):
        expected = [1, 2]
        result = add([1], [2])
        self.assertTrue(len(result) == 2)
        self.assertListEqual(result, expected)
""",
    )
)
KINDS: dict[str, ProgramTests] = {
    "call": ADD_CALLS,
    "asserts": ADD_ASSERTS,
    "check": ADD_CHECK,
    "boxes": ADD_BOXES,
    "unittest": ADD_UNITTEST,
    "stdin": StdinTests(cases=(StdinCase(stdin="3 4", stdout="7"), StdinCase(stdin="1 1", stdout="2"))),
}
DRIVER = """
if __name__ == '__main__':
    print(add(*map(int, input().split())))
"""
"""Behind a program that defines ``add``, for those that are run; where it is called, nothing of this happens."""
RIGHT = f"def add(a, b):\n    return getattr(a, 'value', a) + b{DRIVER}"
"""Passes all of them."""

HACKS: dict[str, str] = {
    # The first three pass the public runner.
    "equals everything": """\
class Any:
    def __eq__(self, other):
        return True
    def __len__(self):
        return 2
def add(a, b):
    return Any()
""",
    "peeks at the caller's locals": """\
import sys
def add(a, b):
    frame = sys._getframe(1)
    while frame:
        for name in ('expected', 'want', 'output'):
            if name in frame.f_locals:
                return frame.f_locals[name]
        frame = frame.f_back
""",
    "peeks through a traceback": """\
def add(a, b):
    try:
        1 / 0
    except ZeroDivisionError as error:
        frame = error.__traceback__.tb_frame
    while frame:
        if 'expected' in frame.f_locals:
            return frame.f_locals['expected']
        for value in frame.f_code.co_consts:
            if value in (7, 2):
                return value
        frame = frame.f_back
""",
    "leaves before the tests": """\
import os
def add(a, b): return 0
os._exit(0)
""",
    "leaves in the tests": """\
import os
def add(a, b):
    os._exit(0)
""",
    "raises SystemExit": """\
def add(a, b):
    raise SystemExit(0)
""",
    "overrides builtins": """\
import builtins
builtins.len = lambda x: 2
builtins.AssertionError = ValueError
def len(x): return 2
def add(a, b): return None
""",
    "settrace": """\
import sys
def trace(frame, event, arg):
    frame.f_trace_lines = False
    if 'expected' in frame.f_locals:
        frame.f_locals['expected'] = None
    return trace
sys.settrace(trace)
def add(a, b): return None
""",
    "patches unittest": """\
import unittest
for name in dir(unittest.TestCase):
    if name.startswith('assert'):
        setattr(unittest.TestCase, name, lambda self, *a, **k: None)
unittest.TestCase.run = lambda self, result=None: None
def add(a, b): return None
""",
    "patches unittest in the tests": """\
def add(a, b):
    import unittest
    for name in dir(unittest.TestCase):
        if name.startswith('assert'):
            setattr(unittest.TestCase, name, lambda self, *a, **k: None)
    return [1, 1]
""",
    "replaces the code of assertEqual": """\
import unittest
def nothing(self, first, second, msg=None): pass
for name in ('assertEqual', 'assertListEqual', 'assertTrue'):
    getattr(unittest.TestCase, name).__code__ = nothing.__code__
def add(a, b): return [1, 1]
""",
    "a fake unittest": """\
import sys, types
fake = types.ModuleType('unittest')
class TestCase:
    def __getattr__(self, name):
        return lambda *a, **k: None
fake.TestCase = TestCase
sys.modules['unittest'] = fake
def add(a, b): return None
""",
    "skips the test": """\
import unittest
def add(a, b):
    raise unittest.SkipTest('no')
""",
    "prints a verdict": """\
import sys, os
for line in ('{"passed": true, "why": ""}', 'OK', 'ready', '7'):
    print(line)
    for fd in range(1, 12):
        try:
            os.write(fd, line.encode() + b'\\n')
        except OSError:
            pass
def add(a, b): return None
""",
    "prints a verdict when called": """\
import os
def add(a, b):
    for fd in range(1, 12):
        try:
            os.write(fd, b'{"passed": true, "why": ""}\\n')
        except OSError:
            pass
    os._exit(0)
""",
    "JSON that lies": """\
import json
json.dumps = lambda *a, **k: '7'
json.JSONEncoder.encode = lambda self, o: '7'
class Seven(int):
    def __repr__(self): return '7'
    __str__ = __repr__
    def __int__(self): return 7
    def __eq__(self, other): return True
    def __hash__(self): return 7
def add(a, b): return Seven(0)
""",
    "writes to its judge's output": """\
import os
def add(a, b):
    for pid in (os.getpid(), os.getppid()):
        for fd in range(8):
            try:
                with open(f'/proc/{pid}/fd/{fd}', 'wb', buffering=0) as file:
                    file.write(b'{"passed": true, "why": "", "nonce": ""}')
            except OSError:
                pass
    return None
""",
    "mock.ANY": """\
from unittest.mock import ANY
def add(a, b): return ANY
""",
    "forges its bridge": """\
class Bridge:
    def __init__(self, scope): pass
    def __call__(self, *a, **k): return {'value': True, 'args': [], 'kwargs': {}}
import builtins
builtins.exec = lambda text, scope=None: scope.update(Bridge=Bridge) if scope is not None else None
""",
    "kills its judge": """\
import os, signal
def add(a, b):
    os.kill(os.getppid(), signal.SIGKILL)
    return 0
""",
}
"""Each is tried against each of ``KINDS``."""
HACKS.update({name: code + DRIVER for name, code in {**HACKS, **MORE_HACKS, **CHEATS}.items()})

CODEFORCES: list[tuple[int, tuple[bool, str]]] = [
    (199, (True, "for _ in range(int(input())):\n    print(sum(map(int, input())))")),
    (199, (False, "for _ in range(int(input())):\n    print(int(input()) % 10)")),
    (0, (True, "import sys\nnext(sys.stdin)\nfor line in sys.stdin:\n    print(*sorted(map(int, line.split())))")),
    (0, (False, "import sys\nfor line in sys.stdin:\n    print(*sorted(map(int, line.split())))")),
    (102, (True, "for _ in range(int(input())):\n    l, r, k = map(int, input().split())\n    d, p = 9 // k + 1, 10**9 + 7\n"
                 "    print((pow(d, r, p) - pow(d, l, p)) % p)")),
    (97, (True, "for _ in range(int(input())):\n    n = int(input())\n"
                "    print(max(range(2, n + 1), key=lambda x: sum(range(x, n + 1, x))))")),
    (96, (True, "for _ in range(int(input())):\n    a, b = input().split()\n    print(b[0] + a[1:], a[0] + b[1:])")),
    (180, (True, "print(*((int(n) + 2) // 4 for n in open(0).read().split()[1:]))")),
    (180, (False, "print(*(int(n) // 4 for n in open(0).read().split()[1:]))")),
    (303, (True, "def count(n, k):\n    if k == 1:\n        return n\n"
                 "    total = 0\n    while n:\n        n, digit = divmod(n, k)\n"
                 "        total += digit\n    return total\n"
                 "for _ in range(int(input())):\n    print(count(*map(int, input().split())))")),
    (393, (True, "for _ in range(int(input())):\n    n = int(input())\n    if n == 1 or n == 3:\n        print(-1)\n"
                 "    elif n % 2 == 0:\n        print('3' * (n - 2) + '66')\n    else:\n        print('3' * (n - 5) + '36366')")),
    (303, (False, "while True: pass")),
]  # fmt: skip
"""Number of the problem in the data set's file -> own solutions, and whether they are right."""
