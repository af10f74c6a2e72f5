"""Cheats against the judge itself: its process, its protocol, its environment, its bounds, and the mocks of the tests.

``CHEATS`` are tried against each style of tests in ``program_cases.KINDS``. ``OWN`` bring the tests that they are made for, and
say whether they are right: what looks like a cheat may be an honest program.
"""

from podium.tasks.programming.target import AssertTests, CallCase, CallTests, ProgramTests, UnittestTests

_EVERY_PORT = """
import gc
def ports(): return [thing for thing in gc.get_objects() if type(thing).__name__ == 'Port']
"""

CHEATS: dict[str, str] = {
    "a descriptor of the parent by pidfd": """
import ctypes, os
libc = ctypes.CDLL(None)
def add(a, b):
    for pid in (os.getppid(), 1):
        fd = libc.syscall(434, pid, 0)
        for number in range(64):
            got = libc.syscall(438, fd, number, 0)
            if got >= 0: os.write(got, b'{"passed": true, "why": ""}')
    return 0
""",
    "traces its parent": """
import ctypes, os
libc = ctypes.CDLL(None)
def add(a, b):
    libc.prctl(0x59616d61, -1, 0, 0, 0)
    for pid in (os.getppid(), 1):
        for request in (16, 0x4206, 4): libc.ptrace(request, pid, id(7) + 24, 0)
    return 0
""",
    "limits its parent": """
import os, resource
def add(a, b):
    for pid in (os.getppid(), 1):
        for name in ('AS', 'NOFILE', 'FSIZE', 'CPU', 'DATA', 'STACK'):
            try: resource.prlimit(pid, getattr(resource, 'RLIMIT_' + name), (0, 0))
            except (OSError, ValueError): pass
    return 0
""",
    "starves its parent": """
import os
def add(a, b):
    for pid in (os.getppid(), 1, 2, 3):
        for action in (lambda: os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0)),
                       lambda: os.setpriority(os.PRIO_PROCESS, pid, 19), lambda: os.setpriority(os.PRIO_USER, 0, 19)):
            try: action()
            except OSError: pass
    return 0
""",
    "stops and breaks everybody": """
import os, signal
def add(a, b):
    for number in (signal.SIGSTOP, signal.SIGCONT, signal.SIGPIPE, signal.SIGSEGV, signal.SIGXCPU, signal.SIGXFSZ, signal.SIGHUP):
        for pid in (os.getppid(), -os.getpgid(os.getppid())):
            try: os.kill(pid, number)
            except OSError: pass
    return 0
""",
    "reads every descriptor of every process": """
import os
def add(a, b):
    found = b''
    for pid in [name for name in os.listdir('/proc') if name.isdigit()]:
        try: paths = [f'/proc/{pid}/fd/{fd}' for fd in os.listdir(f'/proc/{pid}/fd')]
        except OSError: paths = []
        for path in (*paths, f'/proc/{pid}/environ', f'/proc/{pid}/cmdline', f'/proc/{pid}/maps', f'/proc/{pid}/auxv'):
            try: found += os.read(os.open(path, os.O_RDONLY | os.O_NONBLOCK), 100_000)
            except OSError: pass
    known = b'assertEqual' in found or b'assert add' in found
    return 0 if not known else [1, 2] if isinstance(a, list) else 7 if b == 4 else 2
""",
    "ends by exceptions that tests do not expect": """
count = 0
class Both(SystemExit, AssertionError): pass
class Odd(KeyboardInterrupt):
    def __str__(self): raise SystemExit(0)
def add(a, b):
    global count
    count += 1
    if count % 3: raise Both(0) if count % 3 == 1 else Odd()
    raise BaseExceptionGroup('all', [SystemExit(0), GeneratorExit()])
""",
    "an error that leaves when it is shown": """
class Poison(AssertionError):
    __module__, __qualname__ = 'unittest.case', 'SkipTest'
    def __str__(self): raise SystemExit(0)
    def __getattribute__(self, name): raise GeneratorExit
def add(a, b): raise Poison.__new__(Poison) from SystemExit(0)
""",
    "a class by the name of mock's ANY": """
class add:
    def __new__(cls, a, b): return object.__new__(cls)
    def __eq__(self, other): return True
    def __hash__(self): return hash(7)
    def __len__(self): return 2
add.__name__, add.__qualname__, add.__module__ = '_ANY', '_ANY', 'unittest.mock'
""",
    "a class by the name of a number in pure Python": """
class Fraction:
    __module__ = 'fractions'
    numerator = denominator = _numerator = _denominator = real = property(lambda self: self)
    def __eq__(self, other): return True
    def __hash__(self): return hash(7)
    def __float__(self): return 7.0
    def __index__(self): return 7
    def __len__(self): return 2
    def __getitem__(self, place): return place + 1
def add(a, b): return Fraction()
""",
    "answers before it is asked": """
import os, threading, time
def flood():
    for _ in range(200):
        for fd in range(3, 20):
            try: os.write(fd, b'[["value", 7, []], null]\\n')
            except OSError: pass
        time.sleep(0.001)
def add(a, b):
    threading.Thread(target=flood, daemon=True).start()
    time.sleep(0.05)
    return 0
""",
    "a fork that answers in its place": """
import os
def add(a, b):
    if os.fork(): os._exit(0)
    return 0
""",
    "an environment for whoever comes": """
import os
os.environ.update(PYTHONHASHSEED='0', PYTHONOPTIMIZE='2', PYTHONINSPECT='1', PATH='/tmp', LD_PRELOAD='/tmp/x.so', HOME='/tmp',
                  PYTHONBREAKPOINT='os._exit', PYTHONWARNINGS='error', PYTHONPATH='/tmp', TMPDIR='/nowhere', LANG='x')
def add(a, b): return 0
""",
    "codecs and a user's site": """
import codecs, os
def search(name): raise SystemExit(0)
codecs.register(search)
for name in ('strict', 'replace'): codecs.register_error(name, lambda error: ('7', error.end))
for folder in ('/tmp/.local/lib/python3.11/site-packages', '/tmp/encodings'):
    os.makedirs(folder, exist_ok=True)
    for name in ('usercustomize', 'sitecustomize', '__init__'): open(f'{folder}/{name}.py', 'w').write('import os; os._exit(0)')
def add(a, b): return 0
""",
    "recursion without bounds, and hardly any": """
import sys
sys.setrecursionlimit(10**9)
def add(a, b):
    sys.setrecursionlimit(60)
    def deep(n): return n if n == 0 else deep(n - 1)
    try: deep(10**6)
    except RecursionError: pass
    return 0
""",
    "its own end of the pipe says what it likes": _EVERY_PORT
    + """
import json
def add(a, b):
    for port in ports():
        port._dumps = lambda message: json.dumps([["value", 7, []], None])
        port.encode = port.rules.leaving = lambda *args: 7
    return 0
""",
    "every answer is what was asked": _EVERY_PORT
    + """
def add(a, b):
    for port in ports():
        def put(message, original=port._put): original(['same', -1, [[0, ['l', []]]]] if message[0] == 'value' else message)
        port._put = put
    return 0
""",
    "a module whose import does something": _EVERY_PORT
    + """
def add(a, b):
    for port in ports():
        module = 'unittest.__main__' if a == 3 else 'antigravity'
        def put(message, original=port._put): original(['value', ['M.', module], []] if message[0] == 'value' else message)
        port._put = put
    return 0
""",
    "changes its arguments into what it returns": """
def add(a, b):
    if not isinstance(a, list): return b
    a[:] = b[:] = [1, 2]
    return a + b
""",
    "a list without an end that holds two": """
class Endless(list):
    def __iter__(self):
        while True: yield 7
    def __getitem__(self, place): return place + 1
def add(a, b): return Endless([7, 7]) if isinstance(a, list) else iter(Endless())
""",
    "numbers that equal nothing and everything": """
from decimal import Decimal
odd = [Decimal('NaN'), Decimal('sNaN'), float('nan'), NotImplemented, True, Decimal('Infinity'), ...]
def add(a, b): return odd[a % 7] if isinstance(a, int) else NotImplemented
""",
}

_HEAD = """
import copy, subprocess, sys, unittest
from unittest.mock import MagicMock
class Sink:
    def verify(self): assert False
class TestCases(unittest.TestCase):
    def test_it(self):
"""
_TUPLE = "from collections import namedtuple\n"
_RUN = "    def run(self): pass\ndef make(*args): return Handler()\n"


def _tests(*lines: str) -> UnittestTests:
    return UnittestTests(code=(_HEAD + "".join(f"        {line}\n" for line in lines),))


_ASKED = _tests(
    "peer = MagicMock()", "ask(peer)", "self.assertTrue(peer.query.called)", "self.assertEqual(peer.query.call_count, 1)"
)
_SENT = _tests("handler = make()", "handler.send = MagicMock()", "handler.run()", "handler.send.assert_called_with(5)")
_COUNTED = _tests("handler = make()", "handler.send = MagicMock()", "handler.run()", "self.assertTrue(handler.send.called)")
_GIVEN = _tests("handler = make(MagicMock())", "handler.run()", "self.assertTrue(handler.peer.post.called)")
_STARTED = _tests("write()", "test = 'import json; assert json.load(open(\"out\")) == 7'",
                  "self.assertEqual(subprocess.run([sys.executable, '-c', test]).returncode, 0)")  # fmt: skip

OWN: dict[str, tuple[ProgramTests, str, bool]] = {
    "a mock is asked": (_ASKED, "def ask(peer): peer.query(1)", True),
    "an object that says it was called": (
        _ASKED, "class Fake: called, call_count = True, 1\ndef ask(peer): peer.query = Fake()", False
    ),
    "an error that says it was called": (
        _ASKED, "def ask(peer):\n    peer.query = ValueError()\n    peer.query.called = peer.query.call_count = 1", False
    ),
    "a tuple that says it was called": (
        _ASKED, f"{_TUPLE}def ask(peer): peer.query = namedtuple('Fake', 'called call_count')(True, 1)", False
    ),
    "a tuple with an assertion of its own": (
        _SENT,
        f"{_TUPLE}class Handler:\n    def __setattr__(self, name, value): pass\n"
        f"    send = namedtuple('Fake', 'assert_called_with')(str)\n{_RUN}",
        False,
    ),
    "a tuple in the place of a mock": (
        _COUNTED,
        f"{_TUPLE}class Handler:\n    def __setattr__(self, name, value): pass\n"
        f"    send = namedtuple('Fake', 'called')(True)\n{_RUN}",
        False,
    ),
    "a tuple in the place of an object of the tests": (
        _tests("handler = make()", "handler.sink = Sink()", "handler.run()", "handler.sink.verify()"),
        f"{_TUPLE}class Handler:\n    def __setattr__(self, name, value): pass\n"
        f"    sink = namedtuple('Fake', 'verify')(str)\n{_RUN}",
        False,
    ),
    "an object that holds what says it was called": (
        _GIVEN, f"class Post: called = True\nclass Peer: post = Post()\nclass Handler:\n    peer = Peer()\n{_RUN}", False
    ),
    "a mock is handed over and called": (
        _GIVEN,
        "class Handler:\n    def __init__(self, peer): self.peer = peer\n    def run(self): self.peer.post(5)\n"
        "def make(peer): return Handler(peer)",
        True,
    ),
    "an attribute is set back to None": (
        _tests("handler = make()", "handler.peer = MagicMock()", "handler.run()", "self.assertIsNone(handler.peer)"),
        "class Handler:\n    def run(self): self.peer = None\ndef make(): return Handler()",
        True,
    ),
    "a function that counts its calls": (
        UnittestTests(code=("import unittest\nclass TestCases(unittest.TestCase):\n    def test_it(self):\n"
                            "        count = counted(len)\n        count('')\n        self.assertEqual(count.call_count, 1)\n",)),
        "def counted(f):\n    def call(*args):\n        call.call_count += 1\n        return f(*args)\n"
        "    call.call_count = 0\n    return call",
        True,
    ),
    "a process that the tests start": (_STARTED, "def write(): open('out', 'w').write('7')", True),
    "a site for the process that the tests start": (
        _STARTED,
        "import os\ndef write():\n    os.environ['PYTHONPATH'] = '/tmp/x'\n    os.mkdir('/tmp/x')\n"
        "    open('/tmp/x/sitecustomize.py', 'w').write('import os; os._exit(0)')\n    open('out', 'w').write('8')",
        False,
    ),
    "a module for the process that the tests start": (
        _STARTED,
        "def write():\n    open('json.py', 'w').write('import os; os._exit(0)')\n    open('out', 'w').write('8')",
        False,
    ),
    "a copy of an object that equals everything": (
        _tests("self.assertEqual(copy.deepcopy(make()), 7)", "self.assertEqual(copy.copy(make()), 7)"),
        "class Yes:\n    def __deepcopy__(self, memo): return self\n    def __getnewargs_ex__(self): return (bool,), {}\n"
        "    def __eq__(self, other): return True\ndef make(): return Yes()",
        False,
    ),
    "each call depends on the last": (
        AssertTests(asserts=("x = 1\nfor _ in range(30):\n    x = f(x)\nassert x == 31",)), "def f(n): return n + 1", True
    ),
    "each call depends on the last, which is wrong": (
        AssertTests(asserts=("x = 1\nwhile x != 31:\n    x = f(x)\nassert f(0) == 0",)),
        "def f(n): return min(n + 0.5, 31)",
        False,
    ),
    "a division that takes minutes": (
        AssertTests(asserts=("assert f(3) // f(1) == 7",), seconds=0.5), "def f(n): return 7 << (3_000_000 * n)", False
    ),
    "a sum that takes minutes": (
        AssertTests(asserts=("assert sum(f(3)) == 7",), seconds=0.5),
        "from fractions import Fraction\ndef f(n): return [Fraction(1, 10**9 + place) for place in range(40_000)]",
        False,
    ),
    "keys that collide": (
        CallTests(entry="f", cases=(CallCase(args=(1,), expected=7),)),
        "def f(n): return {k * (2**61 - 1) for k in range(20_000)}",
        False,
    ),
    "many keys": (AssertTests(asserts=("assert len(f(9_000)) == 9_000",)), "def f(n): return {3 * k for k in range(n)}", True),
}  # fmt: skip
"""Name -> tests, program, whether it is right."""
