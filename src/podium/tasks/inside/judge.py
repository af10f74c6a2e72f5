"""Runs tests on a program in another process: unittest, and asserts about live objects.

This process runs the tests and passes the verdict. It is forked before the program is started, can not be traced or looked
into, and never runs a line of the program: the program's functions, classes and objects are references to the other process
(``wire.py``), of which only values are believed (``suspect.py``). The other process is told neither tests nor expectations.

What the program writes into files is read by the tests, and only as data: pickles name no functions, and nothing from the
scratch directory is imported or executed here.

Left out: tests that give the program their own test case, or generators; programs that keep a list of the tests and see it
change after the call.
"""

import ast
import builtins
import ctypes
import json
import linecache
import os
import signal
import sys
import types
import unittest
from importlib import import_module
from typing import Any

from podium.tasks.inside.program import run_program
from podium.tasks.inside.suspect import Suspect, TestRules, plain_set
from podium.tasks.inside.swallowed import TESTS
from podium.tasks.inside.wire import Port

PR_SET_DUMPABLE = 4
_LIBRARY = tuple({os.path.dirname(os.__file__) + os.sep, os.path.realpath(os.path.dirname(os.__file__)) + os.sep})
_PICKLED = ("builtins", "collections", "datetime", "decimal", "fractions", "uuid", "_codecs", "copyreg")
_NO_PICKLE = ("eval", "exec", "compile", "open", "getattr", "setattr", "__import__", "breakpoint", "input", "print", "delattr")


class Refused(Exception):
    """The tests would have executed something that the program wrote."""


class Watch:
    """An audit hook of this process: what comes out of a file is data."""

    def __init__(self, steered: set[str]) -> None:
        self.refused = ""
        self._steered = steered

    def __call__(self, event: str, args: tuple[Any, ...]) -> None:
        """Called by the interpreter for every audit event."""
        if event == "pickle.find_class":
            module, name = args
            if module not in _PICKLED or name in _NO_PICKLE or "." in name:
                self._refuse(f"a pickle names {module}.{name}")
        elif event == "exec":
            self._look(args[0], sys._getframe(1))
        elif (event == "import" and args[1]) or event == "ctypes.dlopen":
            path = args[1] if event == "import" else args[0]
            if isinstance(path, str) and os.sep in path and not path.startswith((*_LIBRARY, "/usr/lib", "/lib")):
                self._refuse(f"a library of the program is loaded: {path}")
        elif event in ("subprocess.Popen", "os.system", "os.posix_spawn", "os.exec"):
            self._look_at_start(args)
        elif event in ("sqlite3.enable_load_extension", "sqlite3.load_extension"):
            self._refuse("a library is loaded into a database")
        elif event == "marshal.loads" and sys._getframe(1).f_code.co_filename == TESTS:
            self._refuse("marshalled code is loaded")

    def _look_at_start(self, args: tuple[Any, ...]) -> None:
        """What the tests start may run a file of the program, but nothing of the program's in the place of what they mean."""
        if self._steered:
            self._refuse(f"the tests start a process, and the program has set {min(self._steered)}")
        command = f" {' '.join(part if isinstance(part, str) else ' '.join(map(str, part or ())) for part in args[:2])} "
        is_code = " -c " in command or " -m " in command
        if is_code and any(
            name.endswith((".py", ".pyc", ".so")) or os.path.exists(f"{name}/__init__.py") for name in os.listdir()
        ):
            self._refuse("the tests start a process that may import what the program wrote")

    def _look(self, code: Any, frame: Any) -> None:
        caller = frame.f_code.co_filename
        if caller == TESTS:
            self._refuse("the tests execute a text")
        if caller.startswith("<frozen importlib"):
            names = frame.f_locals.get("args", (None, {}))
            origin = getattr(names[1].get("__spec__") if len(names) > 1 else None, "origin", None)
            if origin and origin not in ("built-in", "frozen") and not str(origin).startswith(_LIBRARY):
                self._refuse(f"the tests import {origin}")
        elif caller.endswith(("runpy.py", "pdb.py", "code.py")):
            self._refuse("the tests run a file of the program")

    def _refuse(self, why: str) -> None:
        self.refused = self.refused or why
        raise Refused(why)


class Patches:
    """Makes ``unittest.mock.patch`` reach into the program's process too."""

    def __init__(self, port: Port) -> None:
        mock = import_module("unittest.mock")  # takes longer than all the rest, and few tests need it
        self._port = port
        kind: Any = mock._patch
        enter, leave = kind.__enter__, kind.__exit__
        self._active: dict[int, str] = {}

        def entered(patcher: Any) -> Any:
            result = enter(patcher)
            self._patch(patcher)
            return result

        def left(patcher: Any, *error: Any) -> Any:
            if self._active.pop(id(patcher), None) is not None and not port.ended:
                port.ask("unpatch", id(patcher))
            return leave(patcher, *error)

        kind.__enter__, kind.__exit__ = entered, left

    def _patch(self, patcher: Any) -> None:
        target, name = patcher.target, patcher.attribute
        if type(target) is types.ModuleType:
            module, path = target.__name__, ""
        elif type(target) is type:
            module, path = target.__module__, target.__qualname__
        else:
            return  # an object: of the program, which knows already, or of the tests
        if module.partition(".")[0] not in sys.stdlib_module_names or (module == "sys" and name.startswith("std")):
            return
        self._active[id(patcher)] = name
        self._port.ask("patch", id(patcher), module, path, name, getattr(target, name))


def judged(job: dict[str, Any], names: dict[str, Any], port: Port, watch: Watch) -> str | None:
    """Load the program and run the tests in ``names``; in words why they fail, or None."""
    stage = "the program raised "
    try:
        port.ask("load")
        stage = ""
        if "mock" in job["tests"] + job["setup"]:
            Patches(port)
        if "logging" in job["tests"] or "assertLogs" in job["tests"]:
            port.ask("logs")
        sys.modules["__main__"] = module = port.ask("module")
        for name in port.ask("defines", job["names"]):
            names[str(name)] = getattr(module, str(name))
        sys.addaudithook(watch)
        for part in ("setup", "tests"):
            linecache.cache[TESTS] = (len(job[part]), None, job[part].splitlines(keepends=True), TESTS)
            types.FunctionType(compile(job[part], TESTS, "exec"), names)()
        return unittests(job["tests"], names) if job["style"] == "unittest" else None
    except BaseException as error:  # the boundary: SystemExit and the like do not pass a test
        return f"{stage}{type(error).__name__}: {str(error)[:300]}"


def guard_sets() -> None:
    """``assertSetEqual`` asks its arguments for their difference, which an object of the program would answer as it likes."""
    original = unittest.TestCase.assertSetEqual

    def compare(self: Any, first: Any, second: Any, msg: Any = None) -> None:
        original(self, plain_set(first), plain_set(second), msg)

    unittest.TestCase.assertSetEqual = compare  # type: ignore[assignment, method-assign]


def unittests(text: str, names: dict[str, Any]) -> str | None:
    """Run the test cases that the tests define; in words why they fail, or None. A skipped test is a failed one."""
    suite = unittest.TestSuite()
    for node in ast.parse(text).body:
        found = names.get(node.name) if isinstance(node, ast.ClassDef) else None
        if type(found) is not Suspect and isinstance(found, type) and issubclass(found, unittest.TestCase):
            suite.addTests(unittest.defaultTestLoader.loadTestsFromTestCase(found))
    guard_sets()
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


def main() -> None:
    """Standard input: one JSON object. Standard output: nonce, verdict and reason, one JSON object."""
    to_program, to_tests = os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        # Whatever the tests have open is closed, before the first line of the program.
        os.dup2(os.open(os.devnull, os.O_RDWR), 0)
        os.dup2(2, 1)
        for fd in range(3, 256):
            if fd not in (to_program[0], to_tests[1]):
                try:
                    os.close(fd)
                except OSError:
                    continue
        run_program(to_program[0], to_tests[1])
    os.close(to_program[0])
    os.close(to_tests[1])
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0)  # the program can not look into this process or its descriptors
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    report = os.dup(1)
    os.dup2(2, 1)  # what the tests start writes elsewhere
    sys.stdout = sys.stderr
    job = json.load(sys.stdin)
    sys.stdin = open(os.devnull)  # noqa: SIM115 - lives as long as the process
    code = job.pop("code").encode("utf-8", "surrogatepass")
    os.write(to_program[1], len(code).to_bytes(8, "big"))
    rules = TestRules(has_classes=any(name[:1].isupper() for name in job["names"]))
    watch = Watch(rules.steered)
    rules.port = Port(to_tests[0], to_program[1], rules)
    with os.fdopen(os.dup(to_program[1]), "wb") as pipe:
        pipe.write(code)
    names: dict[str, Any] = {"__name__": "__test__", "__builtins__": builtins}
    exec(compile(job["prelude"], "<prelude>", "exec"), names)  # noqa: S102
    why = judged(job, names, rules.port, watch)
    if watch.refused:
        why = f"refused: {watch.refused}"
    why = rules.port.ended or why
    sent = json.dumps({"nonce": job["nonce"], "passed": why is None, "why": why or ""}).encode()
    while sent:
        sent = sent[os.write(report, sent) :]
    os._exit(0)
