"""The tests of one module, run again and again in a copy of the repository. ``benchmarks/mutants.py`` starts this as a process.

What each run needs and no change touches (pytest, the libraries) is imported once; every run is a fork of this process. The first
run is a survey: which functions of the module each test calls, and how long it takes. A change inside a function can be seen only
by tests that call it, so ``benchmarks/mutants.py`` asks for those only. What a test's subprocesses call is not seen: a test that
starts one counts as calling everything.

Requests and replies are lines of JSON, see ``survey`` and ``trial``.
"""

import contextlib
import importlib
import json
import os
import resource
import shutil
import signal
import sys
import threading
import time
import types
from collections.abc import Generator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import pytest_asyncio

PLUGINS = ("cacheprovider", "langsmith_plugin", "schemathesis", "xdist", "xdist.looponfail")
"""Not needed by these tests, and slow to import."""
NEVER = (hypothesis, pytest_asyncio)
"""Imported here so that no run has to."""


class Watch:
    """Notes what each test takes and calls, runs only the tests asked for, and remembers which failed."""

    def __init__(self, only: list[str] | None, module: str | None) -> None:
        self._only, self._module = only, module
        self._test = ""
        self.seconds: dict[str, float] = {}
        self.calls: dict[str, set[int]] = {}
        self.shared: set[str] = set()
        self.starts_processes: set[str] = set()
        self.failed: list[str] = []

    def trace(self, frame: types.FrameType, event: str, _: Any) -> None:
        """Note that a function of the module is called."""
        if event == "call" and frame.f_code.co_filename == self._module:
            self.calls.setdefault(self._test, set()).add(frame.f_code.co_firstlineno)

    def audit(self, event: str, _: Any) -> None:
        """Note that a process is started."""
        if event == "subprocess.Popen":
            self.starts_processes.add(self._test)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Only what is asked for, in the order asked."""
        for item in items:
            definitions = getattr(item, "_fixtureinfo").name2fixturedefs.values()  # noqa: B009
            if any(definition[-1].scope == "session" for definition in definitions if definition):
                self.shared.add(item.nodeid)
        if self._only is not None:
            order = {name: place for place, name in enumerate(self._only)}
            items[:] = sorted((item for item in items if item.nodeid in order), key=lambda item: order[item.nodeid])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Know whose calls these are."""
        self._test = item.nodeid
        if self._module is not None:
            threading.settrace(self.trace)
            sys.settrace(self.trace)
        return (yield)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note how long a test took, and whether it failed."""
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration
        if report.failed:
            self.failed.append(report.nodeid)


def run(files: list[str], watch: Watch, *options: str) -> int:
    """Run the tests of these files; pytest's exit code."""
    plugins = [part for name in PLUGINS for part in ("-p", f"no:{name}")]
    quiet = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # the plugins are imported already, on purpose
    return int(pytest.main([*files, "-q", *options, *plugins, *quiet], plugins=[watch]))


def survey(files: list[str], module: str) -> dict[str, Any]:
    """All tests of these files once, with nothing changed: what each calls and takes."""
    sys.dont_write_bytecode = False
    watch = Watch(None, str(Path(module).resolve()))
    sys.addaudithook(watch.audit)
    sys.settrace(watch.trace)
    code = run(files, watch)
    sys.settrace(None)
    cpu = sum(getattr(resource.getrusage(who), name) for who in WHO for name in ("ru_utime", "ru_stime"))
    here = str(Path.cwd())
    libraries = [
        name for name, found in list(sys.modules.items())
        if (path := getattr(found, "__file__", None)) and not path.startswith(here) and "__main__" not in name
    ]  # fmt: skip
    return {
        "code": code, "failed": watch.failed, "seconds": watch.seconds, "cpu": cpu, "libraries": libraries,
        "calls": {test: sorted(lines) for test, lines in watch.calls.items()}, "shared": sorted(watch.shared),
        "starts_processes": sorted(watch.starts_processes),
    }  # fmt: skip


WHO = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)


def trial(files: list[str], tests: list[str], cpu_seconds: float) -> dict[str, Any]:
    """The named tests, until one fails."""
    resource.setrlimit(resource.RLIMIT_CPU, (int(cpu_seconds) + 1, int(cpu_seconds) + 2))
    watch = Watch(tests, None)
    return {"code": run(files, watch, "-x"), "failed": next(iter(watch.failed), None)}


def forked(request: dict[str, Any]) -> dict[str, Any]:
    """Answer a request in a fork of this process, with a group of its own. ``ended`` is why there is no other answer."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os.setsid()
        silence = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(silence, number)
        try:
            made = survey(request["files"], request["module"]) if "module" in request else trial(
                request["files"], request["tests"], request["cpu_seconds"]
            )  # fmt: skip
            with open(writing, "w", encoding="utf-8") as file:
                json.dump(made, file)
        finally:
            os._exit(0)
    os.close(writing)
    late = threading.Event()

    def stop() -> None:
        late.set()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)

    timer = threading.Timer(request.get("wall_seconds", 3600.0), stop)
    timer.start()
    # What the tests themselves started may hold the pipe open; the child's end is what counts.
    text: list[str] = []
    reader = threading.Thread(target=lambda: text.append(os.fdopen(reading, encoding="utf-8").read()), daemon=True)
    reader.start()
    os.waitpid(child, 0)
    timer.cancel()
    timer.join()
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # what a test left running
    reader.join()
    found = text[0]
    return json.loads(found) if found else {"ended": "too slow" if late.is_set() else "died"}


def main() -> None:
    """Answer requests until there are none."""
    sys.dont_write_bytecode = True
    for line in sys.stdin:
        request = json.loads(line)
        if not request.get("again"):
            shutil.rmtree(".hypothesis", ignore_errors=True)  # what one change taught the tests is not the next one's
        start = time.monotonic()
        answer = forked(request)
        for name in answer.pop("libraries", ()):
            with contextlib.suppress(Exception):  # only a head start: who needs it imports it
                importlib.import_module(name)
        print(json.dumps({**answer, "wall": time.monotonic() - start}), flush=True)


if __name__ == "__main__":
    main()
