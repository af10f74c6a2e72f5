"""Runs an answer and its tests in one process: the last resort, for tests on live objects (unittest, own classes).

What protects the verdict, as far as one process allows:

- The answer's code has run before the tests are sent to its process; the verdict is passed on by a parent process that never
  runs a line of the answer, and only if the child ran to the end of the tests.
- Whatever the answer changed in ``builtins``, ``unittest`` and every module loaded before it is put back before the tests, and
  names of its own hide no builtin from them. What it changes later is found afterwards.
- It may not look into the frames of others (``sys._getframe``, tracebacks, generators, ``gc``, trace functions).
- An object that equals a random number and a random text as well is no answer.
- A skipped test is a failed one; only classes that the tests define are run.

What remains: an answer that waits in a thread or in a called function and reads the tests by other ways (``ctypes``,
``/proc``), or fakes a third-party module that the tests use.
"""

import ast
import builtins
import collections
import contextlib
import copy
import ctypes
import functools
import itertools
import json
import linecache
import math
import operator
import os
import random
import re
import secrets
import shutil
import string
import sys
import tempfile
import types
import unittest
import unittest.case
import unittest.loader
import unittest.result
import unittest.suite
from typing import Any

GUARDED = (
    *(builtins, unittest, unittest.case, unittest.loader, unittest.result, unittest.suite, ast, collections, copy, functools),
    *(itertools, json, math, operator, os, os.path, random, re, shutil, string, tempfile, types),
)
CLASSES = (
    *(unittest.TestCase, unittest.TestSuite, unittest.TestLoader, unittest.TestResult, unittest.case.FunctionTestCase),
    *(unittest.suite.BaseTestSuite, unittest.case._AssertRaisesContext, unittest.case._AssertRaisesBaseContext),
)
ANSWER, FORBIDDEN = "<answer>", "looks into the frames of its judge"
PR_SET_DUMPABLE = 4
FRAMES = ("tb_frame", "gi_frame", "cr_frame", "ag_frame", "__code__")
EVENTS = (
    *("sys._getframe", "sys._current_frames", "sys._current_exceptions", "sys.settrace", "sys.setprofile"),
    *("gc.get_objects", "gc.get_referrers", "gc.get_referents"),
)
LIBRARY = tuple({os.path.dirname(os.__file__) + os.sep, "<frozen", os.path.realpath(os.path.dirname(os.__file__)) + os.sep})


class Watch:
    """An audit hook that refuses looks into frames, unless a library asks for its own purposes."""

    def __init__(self) -> None:
        self.refused: list[str] = []
        self.tests_file = "<no tests yet>"
        self._asking = False
        self._frame = sys._getframe

    def __call__(self, event: str, args: tuple[Any, ...]) -> None:
        """Called by the interpreter for every audit event."""
        if self._asking or (event not in EVENTS and not (event.startswith("object.__") and args[1] in FRAMES)):
            return
        self._asking = True
        try:
            frame: Any = self._frame(1)
            while frame is not None and frame.f_code.co_filename.endswith(f"{os.sep}inspect.py"):
                frame = frame.f_back
            file = "" if frame is None else frame.f_code.co_filename
        finally:
            self._asking = False
        if event == "object.__getattr__" and args[1] == "__code__":
            return
        if file == self.tests_file or file.startswith(LIBRARY) or file == Watch.__call__.__code__.co_filename:
            return
        self.refused.append(f"{FORBIDDEN} ({event})")
        raise PermissionError(f"the program {FORBIDDEN} ({event})")


class Snapshot:
    """What the judge relies on, as it was before the answer ran."""

    def __init__(self) -> None:
        self._modules = [(module, dict(vars(module))) for module in GUARDED]
        self._loaded = {name: sys.modules[name] for name in list(sys.modules) if name != "__main__"}
        self._classes = [(owner, dict(vars(owner))) for owner in CLASSES]
        functions = [value for owner in (*GUARDED, *CLASSES) for value in vars(owner).values() if type(value) is _FUNCTION]
        self._code = [(function, function.__code__, function.__defaults__, function.__kwdefaults__) for function in functions]

    def restore(self) -> None:
        """Put everything back."""
        for module, names in self._modules:
            vars(module).update(names)
        sys.modules.update(self._loaded)
        for owner, names in self._classes:
            for name in set(vars(owner)) - set(names):
                delattr(owner, name)
            for name, value in names.items():
                if vars(owner).get(name) is not value:
                    setattr(owner, name, value)
        for function, code, defaults, kwdefaults in self._code:
            if function.__code__ is not code:
                function.__code__ = code
            function.__defaults__, function.__kwdefaults__ = defaults, kwdefaults

    def changed(self) -> str | None:
        """The first thing that is not as it was."""
        for module, names in self._modules:
            if module is builtins or module.__name__.startswith("unittest"):
                for name, value in names.items():
                    if name not in ("_", "__warningregistry__") and vars(module).get(name) is not value:
                        return f"{module.__name__}.{name}"
        for owner, names in self._classes:
            for name, value in names.items():
                if name != "_classSetupFailed" and vars(owner).get(name) is not value:
                    return f"{owner.__name__}.{name}"
        for function, code, _, _ in self._code:
            if function.__code__ is not code:
                return function.__qualname__
        return None


_FUNCTION = types.FunctionType
_PLAIN = (int, float, str, bytes, bool, type(None), complex)


def lies(value: Any, depth: int = 0) -> bool:
    """Whether ``value`` holds an object that equals things that are not equal to each other."""
    kind = type(value)
    if kind in _PLAIN or depth > 20:
        return False
    if kind in (list, tuple, set, frozenset):
        return any(lies(part, depth + 1) for part in itertools.islice(value, 10_000))
    if kind is dict:
        return any(lies(part, depth + 1) for pair in itertools.islice(value.items(), 10_000) for part in pair)
    number, text = secrets.randbits(60) + 2, secrets.token_hex(8)
    probes = (number, number / 7, text, [number], {text: number}, (text,), object(), True)
    hits = 0
    for probe in probes:
        with contextlib.suppress(Exception):  # the boundary: a comparison that fails is not one that lies
            hits += (value == probe) is True
    return hits > 1


class Guarded:
    """A function of the answer that is checked for lying results. Passes for the function everywhere else."""

    def __init__(self, function: Any, refused: list[str]) -> None:
        functools.update_wrapper(self, function)
        self._function, self._refused = function, refused

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The function's result, unless it lies."""
        value = self._function(*args, **kwargs)
        if lies(value):
            self._refused.append("returns an object that equals everything")
            raise AssertionError("an object that equals everything")
        return value


class Child:
    """The process in which answer and tests run."""

    def __init__(self, answer: dict[str, str]) -> None:
        self._watch = Watch()
        self._names: dict[str, Any] = {}
        self._answer = answer
        self._snapshot = Snapshot()

    def load(self) -> str | None:
        """Run the answer's code; in words why that failed, or None."""
        module = types.ModuleType("__answer__")
        sys.modules["__answer__"] = module
        self._names = vars(module)
        code = self._answer["code"]
        linecache.cache[ANSWER] = (len(code), None, code.splitlines(keepends=True), ANSWER)
        sys.addaudithook(self._watch)
        try:
            exec(compile(code, ANSWER, "exec"), self._names)  # noqa: S102
        except BaseException as error:  # the boundary: nothing that the answer raises leaves here
            return f"the program raised {type(error).__name__}: {str(error)[:300]}"
        return None

    def test(self, job: dict[str, Any]) -> str | None:
        """Run the tests; in words why they fail, or None."""
        self._snapshot.restore()
        sys.settrace(None)
        sys.setprofile(None)
        self._watch.tests_file = file = f"<tests {secrets.token_hex(6)}>"
        linecache.cache[file] = (len(job["tests"]), None, job["tests"].splitlines(keepends=True), file)
        names = self._visible(set(job["names"]))
        try:
            exec(compile(job["setup"], file, "exec"), names)  # noqa: S102
            exec(compile(job["tests"], file, "exec"), names)  # noqa: S102
            why = self._unittest(job["tests"], names) if job["style"] == "unittest" else None
        except BaseException as error:  # the boundary: SystemExit and the like do not pass a test
            why = f"{type(error).__name__}: {str(error)[:300]}"
        if self._watch.refused:
            return f"refused: the program {self._watch.refused[0]}"
        changed = self._snapshot.changed()
        if changed:
            return f"refused: the program changed {changed} during the tests"
        return why

    def _visible(self, tested: set[str]) -> dict[str, Any]:
        names = {key: value for key, value in self._names.items() if key in tested or key not in vars(builtins)}
        for key, value in names.items():
            if type(value) is _FUNCTION and value.__globals__ is self._names:
                names[key] = Guarded(value, self._watch.refused)
        return {**names, "__name__": "__test__"}

    def _unittest(self, text: str, names: dict[str, Any]) -> str | None:
        suite = unittest.TestSuite()
        for node in ast.parse(text).body:
            found = names.get(node.name) if isinstance(node, ast.ClassDef) else None
            if isinstance(found, type) and issubclass(found, unittest.TestCase):
                suite.addTests(unittest.defaultTestLoader.loadTestsFromTestCase(found))
        expected = suite.countTestCases()
        if not expected:
            return "the tests hold no test case"
        result = unittest.TestResult()
        suite.run(result)
        for kind, cases in (("failed", result.failures), ("raised", result.errors), ("was skipped", result.skipped)):
            if cases:
                lines = cases[0][1].strip().splitlines() or [""]
                return f"{cases[0][0].id().removeprefix('__test__.')} {kind}: {lines[-1][:300]}"
        if result.unexpectedSuccesses or result.testsRun != expected:
            return f"{result.testsRun} of {expected} tests ran as expected"
        return None


def serve_child(read: int, write: int) -> None:
    """Receive the answer, run it, receive the tests, run them, report."""
    send = os.write
    leave = os._exit
    with os.fdopen(read, "rb") as orders:
        child = Child(json.loads(orders.readline()))
        parse = json.loads
        failed = child.load()
        send(write, b"ready\n")
        job = parse(orders.readline())
    why = failed or child.test(job)
    report = "\x00".join((job["token"], "failed" if why else "passed", (why or "").replace("\n", " ").replace("\x00", " ")))
    send(write, report.encode("utf-8", "replace")[:4000] + b"\n")
    leave(0)


def serve_parent(read: int, write: int, pid: int) -> tuple[bool, str, str]:
    """Pass on the answer, then the tests; what the child reports: passed, why, and the host's nonce."""
    with contextlib.suppress(OSError):
        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0)  # the child can not look into this process or its descriptors
    job = json.load(sys.stdin)
    with contextlib.suppress(OSError):
        os.truncate("/proc/self/fd/0", 0)  # the tests are not to be found on disk by the answer
    token = secrets.token_hex(16)
    nonce = job.pop("nonce")
    with os.fdopen(write, "wb", buffering=0) as orders, os.fdopen(read, "rb") as reports:
        try:
            orders.write(json.dumps({"code": job.pop("code")}).encode() + b"\n")
            if reports.readline(100) == b"ready\n":
                orders.write(json.dumps({**job, "token": token}).encode() + b"\n")
                for _ in range(100):
                    said, _, rest = reports.readline(5000).decode("utf-8", "replace").rstrip("\n").partition("\x00")
                    if said == token:
                        outcome, _, why = rest.partition("\x00")
                        return outcome == "passed", why, nonce
        except BrokenPipeError:
            pass
    _, status = os.waitpid(pid, 0)
    return False, f"the program ended before its tests did (exit code {os.waitstatus_to_exitcode(status)})", nonce


def main() -> None:
    """Standard input: one JSON object. Standard output: nonce, verdict and reason, one JSON object."""
    child_read, parent_write = os.pipe()
    parent_read, child_write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(parent_write)
        os.close(parent_read)
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        os.dup2(2, 1)
        serve_child(child_read, child_write)
    os.close(child_read)
    os.close(child_write)
    passed, why, nonce = serve_parent(parent_read, parent_write, pid)
    sys.stdout.write(json.dumps({"nonce": nonce, "passed": passed, "why": why}))
    sys.stdout.flush()
