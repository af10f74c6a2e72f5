"""More wrong programs that try to pass: what a program can reach with the standard library in the process it runs in.

Each is tried against each style of tests in ``program_cases.KINDS``, whose ``add`` it should be. ``MOCKED`` are tests that hand
objects of their own to the program, and ``MOCK_HACKS`` what a program may try with those.
"""

from podium.tasks.programming.target import UnittestTests

_RIG = """
def rig(frame=None, objects=()):
    import sys
    def nothing(*args, **kwargs): return None
    while frame is not None:
        for value in list(frame.f_locals.values()) + list(frame.f_globals.values()):
            objects = (*objects, value)
        frame = frame.f_back
    for value in objects:
        for kind in (type(value), value):
            for name in ('_getAssertEqualityFunc', 'assertEqual', 'assertListEqual', 'assertTrue', 'fail', 'ended', 'why'):
                try:
                    if hasattr(kind, name): setattr(kind, name, nothing)
                except Exception: pass
    unittest = sys.modules.get('unittest')
    if unittest:
        case = unittest.TestCase
        case._getAssertEqualityFunc = lambda self, first, second: nothing
        for name in dir(case):
            if name.startswith('assert') or name in ('fail', '_baseAssertEqual'):
                setattr(case, name, nothing)
"""


def _rigged(body: str) -> str:
    return _RIG + body


_ONE = """
def rig(frame):
    while frame is not None:
        found = frame.f_locals.get('self')
        if hasattr(found, '_getAssertEqualityFunc'):
            found._getAssertEqualityFunc = lambda first, second: lambda *args, **kwargs: None
            found.assertTrue = found.assertListEqual = lambda *args, **kwargs: None
        frame = frame.f_back
"""

MORE_HACKS: dict[str, str] = {
    "one test case through logging.currentframe": _ONE
    + """
import logging
def add(a, b):
    rig(logging.currentframe())
    return 0 if isinstance(a, int) else [0, 0]
""",
    "one test case through a signal handler": _ONE
    + """
import signal
signal.signal(signal.SIGALRM, lambda number, frame: rig(frame))
def add(a, b):
    signal.raise_signal(signal.SIGALRM)
    return 0 if isinstance(a, int) else [0, 0]
""",
    "frames through logging.currentframe": _rigged("""
import logging
def add(a, b):
    rig(logging.currentframe())
    return 0
"""),
    "frames through a signal handler": _rigged("""
import signal
def handler(number, frame): rig(frame)
signal.signal(signal.SIGALRM, handler)
def add(a, b):
    signal.raise_signal(signal.SIGALRM)
    return 0
"""),
    "a timer's signal during the tests": _rigged("""
import signal, time
signal.signal(signal.SIGALRM, lambda number, frame: rig(frame))
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
def add(a, b):
    time.sleep(0.01)
    return 0
"""),
    "gc.get_objects": _rigged("""
import gc
def add(a, b):
    rig(None, [value for value in gc.get_objects() if type(value).__module__ not in ('builtins', 're')][:2000])
    return 0
"""),
    "gc.get_referrers of the arguments": _rigged("""
import gc
def add(a, b):
    for found in gc.get_referrers(a, b):
        if isinstance(found, dict): found.update(expected=0, result=0, passed=True)
        if isinstance(found, list): found[:] = [0] * len(found)
    return 0
"""),
    "setprofile in every thread": _rigged("""
import sys, threading
def profile(frame, event, arg): rig(frame)
threading.setprofile(profile); sys.setprofile(profile)
def add(a, b): return 0
"""),
    "sys._current_frames from a thread": _rigged("""
import sys, threading, time
def watch():
    while True:
        for frame in sys._current_frames().values(): rig(frame)
        time.sleep(0.001)
threading.Thread(target=watch, daemon=True).start()
def add(a, b):
    time.sleep(0.01)
    return 0
"""),
    "inspect.stack": _rigged("""
import inspect
def add(a, b):
    for entry in inspect.stack(): rig(entry.frame)
    return 0
"""),
    "frames through a generator and a coroutine": _rigged("""
def makes():
    yield generator.gi_frame.f_back
generator = makes()
def add(a, b):
    global generator
    generator = makes()
    rig(next(generator))
    return 0
"""),
    "success at exit": """
import atexit, os, sys
def end():
    for fd in (1, 2, 3, 4, 5, 6, 63):
        try: os.write(fd, b'{"nonce": "", "passed": true, "why": ""}')
        except OSError: pass
    os._exit(0)
atexit.register(end)
def add(a, b): sys.exit(0)
""",
    "os._exit with a success text": """
import os
def add(a, b):
    os.write(1, b'....\\n----------\\nRan 2 tests in 0.001s\\n\\nOK\\n')
    os._exit(0)
""",
    "patches when it is deleted": _rigged("""
class Late:
    def __del__(self): rig()
def add(a, b):
    Late()
    return 0
"""),
    "patches in a weakref callback": _rigged("""
import weakref
class Thing: pass
def add(a, b):
    thing = Thing()
    keep = weakref.ref(thing, lambda ref: rig())
    del thing
    return 0
"""),
    "an audit hook": """
import sys
def hook(event, args):
    if event in ('compile', 'exec', 'open'): raise SystemExit(0)
def add(a, b):
    sys.addaudithook(hook)
    return 0
""",
    "unittest.mock.patch from inside": """
from unittest import mock
for name in ('assertEqual', 'assertListEqual', 'assertTrue', '_getAssertEqualityFunc', 'run'):
    mock.patch(f'unittest.TestCase.{name}').start()
mock.patch('builtins.AssertionError', ValueError).start()
def add(a, b): return 0
""",
    "__class__ spoofing": """
class Seven:
    @property
    def __class__(self): return int
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __hash__(self): return 7
    def __len__(self): return 2
    def __getitem__(self, index): return index + 1
def add(a, b): return Seven()
""",
    "subclasses of what is expected": """
class List(list):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __len__(self): return 2
    def __iter__(self): return iter([1, 2])
class Int(int):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __sub__(self, other): return 0
    def __hash__(self): return 7
def add(a, b): return List() if isinstance(a, list) else Int()
""",
    "arithmetic that is always nothing": """
class Near:
    def __sub__(self, other): return 0
    __rsub__ = __mod__ = __xor__ = __sub__
    def __abs__(self): return 0
    def __round__(self, digits=0): return 0
    def __lt__(self, other): return True
    __gt__ = __le__ = __ge__ = __eq__ = __contains__ = __lt__
    def __len__(self): return 2
def add(a, b): return Near()
""",
    "a metaclass that is an instance of everything": """
class Meta(type):
    def __instancecheck__(cls, other): return True
    def __subclasscheck__(cls, other): return True
    def __eq__(cls, other): return True
    def __len__(cls): return 2
    def __hash__(cls): return 7
class add(metaclass=Meta):
    def __new__(cls, a, b): return cls
""",
    "answers on every descriptor": """
import os
def add(a, b):
    for line in (b'[["value", 7, []], null]\\n', b'[["value", [1, 2], []], null]\\n', b'[["same", 0, []], null]\\n'):
        for fd in range(64):
            try: os.write(fd, line)
            except OSError: pass
    return 0
""",
    "asks for objects of the tests": """
import gc, os
def add(a, b):
    for port in [value for value in gc.get_objects() if type(value).__name__ == 'Port']:
        for number in range(20):
            for verb, *rest in (('get', '__globals__'), ('get', '__class__'), ('set', 'passed', 1), ('op', '__call__')):
                try:
                    port._put(['ask', verb, [['R.', number], *rest], {}])
                    print(port._get())
                except BaseException: pass
        port._put(['ask', 'get', ['{0.__class__}', 'format'], {}])
    return 0
""",
    "a nonce from memory": """
import os, re
def add(a, b):
    for pid in (os.getpid(), os.getppid()):
        try:
            memory = open(f'/proc/{pid}/mem', 'rb', 0)
            for line in open(f'/proc/{pid}/maps'):
                start, end = (int(part, 16) for part in line.split()[0].split('-'))
                if 'rw' not in line or end - start > 2**24: continue
                memory.seek(start)
                for nonce in set(re.findall(rb'[0-9a-f]{32}', memory.read(end - start))):
                    for fd in (1, 2, 63):
                        try: os.write(fd, b'{"nonce": "' + nonce + b'", "passed": true, "why": ""}')
                        except OSError: pass
        except (OSError, OverflowError, ValueError): pass
    os._exit(0)
""",
    "faulthandler leaves": """
import faulthandler, time
def add(a, b):
    faulthandler.dump_traceback_later(0.01, exit=True)
    time.sleep(1)
    return 0
""",
    "interrupts its judge": """
import os, signal
def add(a, b):
    for number in (signal.SIGINT, signal.SIGALRM, signal.SIGTERM, signal.SIGUSR1):
        try: os.kill(os.getppid(), number)
        except OSError: pass
    return 0
""",
    "two programs answer": """
import os
os.fork()
def add(a, b): return 7 if isinstance(a, int) and os.fork() else 0
""",
    "modules in the scratch directory": """
import os
for name in ('json', 'unittest', 'ast', 'traceback', 'difflib', 'sitecustomize', 'pprint'):
    for folder in ('/tmp', '.'):
        with open(f'{folder}/{name}.py', 'w') as file:
            file.write('import os; os.write(1, b"passed"); os._exit(0)')
os.environ['PYTHONPATH'] = os.environ['PYTHONHOME'] = '/tmp'
def add(a, b): return 0
""",
    "an error that skips": """
import unittest
class Skip(unittest.SkipTest, AssertionError):
    def __eq__(self, other): return True
def add(a, b): raise Skip('later')
add.__unittest_skip__ = add.__unittest_expecting_failure__ = True
""",
    "raises what ends tests early": """
import unittest.case
def add(a, b): raise unittest.case._ShouldStop()
""",
    "StopIteration, GeneratorExit and KeyboardInterrupt": """
kinds = [StopIteration, GeneratorExit, KeyboardInterrupt, StopAsyncIteration]
def add(a, b): raise kinds.pop() if kinds else StopIteration
""",
    "nested too deep to be compared": """
def add(a, b):
    value = []
    for _ in range(100000): value = [value]
    return value
""",
    "a dictionary with every key": """
class Every(dict):
    def __missing__(self, key): return 7
    def __contains__(self, key): return True
    def __eq__(self, other): return True
    def __len__(self): return 2
def add(a, b): return Every()
""",
    "JSON and repr of a liar": """
class Text(str):
    def __eq__(self, other): return True
    def __hash__(self): return hash('7')
    def __len__(self): return 2
def add(a, b): return Text('[1, 2]')
""",
    "writes over the memory of its numbers": """
import ctypes
def add(a, b):
    for value in (7, 2, 4):
        ctypes.memmove(id(value) + 24, id(0) + 24, 4)
    return 0
""",
    "an import hook": """
import sys
class Finder:
    def find_spec(self, name, path=None, target=None): raise SystemExit(0)
sys.meta_path.insert(0, Finder())
def add(a, b): return 0
""",
}

MOCKED = UnittestTests(
    code=(
        """\
import io, os, pickle, unittest
from unittest.mock import MagicMock, patch
class Sink:
    def __init__(self):
        self.lines, self.closed = [], False
    def write(self, line):
        self.lines.append(line)
    def verify(self):
        assert self.lines == ["5"], self.lines
class TestCases(unittest.TestCase):
    def setUp(self):
        patcher = patch("shutil.copy")
        self.copy = patcher.start()
        self.addCleanup(patcher.stop)
    def test_mock(self):
        send(Sink(), MagicMock(), 2, 3)
        self.copy.assert_called_once_with("a", "b")
    def test_sink(self):
        sink, peer = Sink(), MagicMock()
        peer.ask.return_value = 3
        self.assertEqual(send(sink, peer, 2, 3), 5)
        sink.verify()
        peer.ask.assert_called_once_with("?")
        self.assertTrue(sink.closed)
    def test_file(self):
        send(Sink(), MagicMock(), 2, 3)
        if os.path.exists("sum.pickle"):
            with open("sum.pickle", "rb") as file:
                self.assertEqual(pickle.load(file), 5)
    def test_handler(self):
        handler = make()
        handler.send = MagicMock()
        handler.run()
        handler.send.assert_called_with(5)
""",
    ),
)
"""Right is: ``send`` copies "a" to "b", asks its peer, writes the sum to the sink, closes it, and returns the sum."""

MOCKED_RIGHT = """\
import pickle, shutil
def send(sink, peer, a, b):
    shutil.copy("a", "b")
    peer.ask("?")
    sink.write(str(a + b))
    sink.closed = True
    with open("sum.pickle", "wb") as file:
        pickle.dump(a + b, file)
    return a + b
class Handler:
    def run(self): self.send(5)
def make(): return Handler()
"""

_START = """\
import os, pickle, shutil
class Handler:
    def run(self): self.send(5)
def make(): return Handler()
"""

MOCK_HACKS: dict[str, str] = {
    "replaces a method of the tests' object": _START
    + """
def send(sink, peer, a, b):
    shutil.copy("a", "b"); peer.ask("?")
    sink.verify = lambda: None
    sink.closed = True
    return 5
""",
    "resets and sets up a mock": _START
    + """
def send(sink, peer, a, b):
    sink.write("5"); sink.closed = True
    for mock in (shutil.copy, peer.ask, peer):
        for name in ("assert_called_once_with", "called", "call_args", "call_count", "side_effect"):
            try: setattr(mock, name, lambda *args: None)
            except Exception: pass
        for name in ("configure_mock", "reset_mock", "attach_mock"):
            try: getattr(mock, name)()
            except Exception: pass
    return 5
""",
    "reaches into a mock": _START
    + """
def send(sink, peer, a, b):
    sink.write("5"); sink.closed = True
    for path in ("_mock_parent", "__class__", "__dict__", "_mock_children", "__init__"):
        try: getattr(peer, path).__globals__["MagicMock"].assert_called_once_with = lambda *args: None
        except Exception: pass
    try: type(peer).assert_called_once_with = sink.write.__func__.__globals__["Sink"].verify = lambda *args: None
    except Exception: pass
    return 5
""",
    "an assertion of its own in the place of the mock's": _START.replace(
        "    def run(self): self.send(5)",
        "    def run(self): pass\n    def __setattr__(self, name, value): pass\n    class send:\n"
        "        def assert_called_with(*args): pass",
    )
    + """
def send(sink, peer, a, b):
    shutil.copy("a", "b"); peer.ask("?"); sink.write("5"); sink.closed = True
    return 5
""",
    "a pickle that runs": _START
    + """
class Bomb:
    def __reduce__(self): return (eval, ("__import__('os')._exit(0) or 5",))
class Rig:
    def __reduce__(self):
        return (exec, ("import unittest; unittest.TestCase.assertEqual = lambda *args: None",))
def send(sink, peer, a, b):
    shutil.copy("a", "b"); peer.ask("?"); sink.write("5"); sink.closed = True
    with open("sum.pickle", "wb") as file: pickle.dump(Rig(), file)
    return 5
""",
    "a number that a mock takes for every other": _START.replace("self.send(5)", "self.send(Five())")
    + """
class Five(int):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    __hash__ = int.__hash__
def send(sink, peer, a, b):
    shutil.copy("a", "b"); peer.ask("?"); sink.write("5"); sink.closed = True
    return 5
""",
}
