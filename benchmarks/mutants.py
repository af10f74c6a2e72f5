"""Do the tests notice mistakes? ``make mutants``, or ``python -m benchmarks.mutants [--most 200] [--seed 0] [--processes 2]``.

Changes the modules of ``TESTS`` at places drawn by the seed (``mutations.py``), one at a time, each in a copy of the repository,
and runs the module's tests that call the changed function (``mutant_tests.py``), fast ones first. A change is noticed where a
test fails, and fails again, or does not end in time. What fails only once was the machine's doing: the tests after it decide.
What is known of a change is kept in ``runs/mutants.jsonl`` as long as the module and the file of the test that noticed it are
what they were (all of the module's tests where none did), so a stopped run goes on.

Prints every change that nobody noticed, with its difference, and one JSON object last: ``mutants``, ``noticed``, ``share``.
"""

import argparse
import hashlib
import json
import os
import queue
import random
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.mutations import Mutant, mutants

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "runs" / "mutants.jsonl"
TESTS: dict[str, tuple[str, ...]] = {
    "workflow/parse.py": ("tests/workflow/test_parse.py", "tests/workflow/test_parse_messages.py"),
    "workflow/execute.py": (
        "tests/workflow/test_execute.py",
        "tests/workflow/test_conditional.py",
        "tests/workflow/test_pausing.py",
        "tests/workflow/test_deciding_waits.py",
        "tests/test_conduct.py",
        "tests/evaluation/test_policy_failures.py",
    ),
    "workers/budget.py": (
        "tests/workers/test_budget.py",
        "tests/workers/test_budget_books.py",
        "tests/workers/test_wrappers.py",
        "tests/workers/test_kept_first.py",
    ),
    "workers/journal.py": (
        "tests/workers/test_journal.py",
        "tests/workers/test_journal_waits.py",
        "tests/workers/test_kept_first.py",
    ),
    "serving/store/quotas.py": (
        "tests/serving/test_store_quotas.py",
        "tests/serving/test_store_admissions.py",
        "tests/serving/test_store_quota_laws.py",
        "tests/serving/test_fair_share.py",
        "tests/serving/test_store_corrections.py",
    ),
    "training/collect.py": ("tests/training/test_collect.py", "tests/training/test_collect_stops.py"),
    "evaluation/metrics.py": ("tests/evaluation/test_metrics.py", "tests/evaluation/test_policy_failures.py"),
    "tasks/verifiers.py": ("tests/tasks/test_verifiers.py",),
}
"""Module -> the tests that belong to it."""
SLOWEST = 4.0
"""A change may make the tests this many times slower before they are stopped."""
SPARE_SECONDS = 20.0
NO_TESTS = 5
"""pytest's exit code where nothing was left to run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A change to be tried."""

    module: str
    mutant: Mutant
    key: str


def _hash(texts: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]


@cache
def _texts() -> dict[str, str]:
    """All tests as they were when this run began."""
    return {file: (ROOT / file).read_text(encoding="utf-8") for files in TESTS.values() for file in files}


def _decided_by(module: str, by: str | None) -> str:
    """Hash of the tests that a result rests on: the file of the test that failed, or all of them."""
    name = (by or "").split("::")[0]
    files = (name,) if name in TESTS[module] else TESTS[module]
    return _hash([_texts()[file] for file in files])


def planned(most: int, seed: int, tests: dict[str, tuple[str, ...]] = TESTS) -> list[Planned]:
    """``most`` changes drawn by ``seed``, as evenly over the modules as there are places."""
    found: list[list[Planned]] = []
    for module in tests:
        source = (ROOT / "src" / "podium" / module).read_text(encoding="utf-8")
        text = _hash([source])
        places = [Planned(module=module, mutant=m, key=f"{module} {text} {m.place}") for m in mutants(source)]
        random.Random(f"{seed} {module}").shuffle(places)
        found.append(places)
    turns = [plan for row in range(max(map(len, found))) for places in found for plan in places[row : row + 1]]
    return turns[:most]


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What a module's tests call and take when nothing is changed."""

    calls: dict[str, list[int]]
    seconds: dict[str, float]
    last: frozenset[str]
    """Tests that begin with something slow that is shared, such as a database server."""
    cpu: float
    wall: float

    def tests(self, function: int | None) -> list[str]:
        """The tests that can see a change in the function that begins in this line, fast ones first. None: all of them."""
        anyway = function is None or function in self.calls.get("", ())
        found = [test for test in self.seconds if anyway or function in self.calls.get(test, ())]
        return sorted(found, key=lambda test: (test in self.last, self.seconds[test]))


class Copy:
    """A copy of the repository in which modules are changed one at a time. Use as a context manager."""

    def __init__(self, number: int) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix=f"podium-mutants-{number}-"))
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT, check=True, capture_output=True, text=True,
        ).stdout  # fmt: skip
        for name in filter(None, listed.split("\0")):
            if (ROOT / name).is_file():
                (self._folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self._folder / name)
        folders = os.pathsep.join([str(self._folder / "src"), str(self._folder)])
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.mutant_tests"], cwd=self._folder, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": folders, "OMP_NUM_THREADS": "1"},
        )  # fmt: skip
        self._surveys: dict[str, Survey] = {}

    def __enter__(self) -> "Copy":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _asked(self, **request: Any) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def _survey(self, module: str) -> Survey:
        if module not in self._surveys:
            path = self._folder / "src" / "podium" / module
            found = self._asked(files=TESTS[module], module=str(path))
            if found.get("code") not in (0, 1):
                raise RuntimeError(f"the tests of {module} can not be run: {found}")
            for test in found["failed"]:  # such as one that needs a quicker machine: what it would say means nothing
                print(f"left out, it fails without any change: {test}", flush=True)
            for old in path.parent.glob(f"__pycache__/{path.stem}.*"):
                old.unlink()  # a change within the same second would not be seen
            calls, everything = found["calls"], sorted({line for lines in found["calls"].values() for line in lines})
            calls.update((test, everything) for test in found["starts_processes"])
            seconds = {test: took for test, took in found["seconds"].items() if test not in found["failed"]}
            self._surveys[module] = Survey(
                calls=calls, seconds=seconds, last=frozenset(found["shared"]), cpu=found["cpu"], wall=found["wall"]
            )
        return self._surveys[module]

    def noticed_by(self, plan: Planned) -> str | None:
        """The test that fails, twice, with this change in place, or why the tests do not end. None: nothing noticed it."""
        survey = self._survey(plan.module)
        path = self._folder / "src" / "podium" / plan.module
        before = path.read_text(encoding="utf-8")
        path.write_text(plan.mutant.text, encoding="utf-8")
        limits = {"cpu_seconds": SLOWEST * survey.cpu + 1, "wall_seconds": SLOWEST * survey.wall + SPARE_SECONDS}
        tests = survey.tests(plan.mutant.function)
        try:
            while tests:
                found = self._asked(files=TESTS[plan.module], tests=tests, **limits)
                if "ended" in found:
                    return str(found["ended"])
                if found["code"] not in (0, 1, NO_TESTS):
                    return "import"  # the module can not even be imported
                if (failed := found["failed"]) is None:
                    return None
                again = self._asked(files=TESTS[plan.module], tests=[failed], again=True, **limits)
                if again.get("failed") is not None or "ended" in again:
                    return str(failed)
                tests = tests[tests.index(failed) + 1 :]
            return None
        finally:
            path.write_text(before, encoding="utf-8")


def known(plans: Sequence[Planned]) -> dict[str, str | None]:
    """What earlier runs found, as far as it still holds: key of a change -> what noticed it."""
    if not KEPT.exists():
        return {}
    rows = [json.loads(line) for line in KEPT.read_text(encoding="utf-8").splitlines() if line.endswith("}")]
    modules = {plan.key: plan.module for plan in plans}
    mine = [row for row in rows if row["key"] in modules]
    return {row["key"]: row["by"] for row in mine if row["tests"] == _decided_by(modules[row["key"]], row["by"])}


def tried(plans: Sequence[Planned], processes: int) -> Iterator[tuple[Planned, str | None]]:
    """Every change and what noticed it, as they come; earlier finds first."""
    _texts()  # now, before the copies are made
    found = known(plans)
    waiting: dict[str, list[Planned]] = {}
    for plan in plans:
        if plan.key in found:
            yield plan, found[plan.key]
        else:
            waiting.setdefault(plan.module, []).append(plan)
    left, done = sum(map(len, waiting.values())), queue.SimpleQueue[tuple[Planned, str | None] | Exception]()
    guard, modules = threading.Lock(), list(waiting)

    def work(number: int) -> None:
        # A process begins with modules of its own, because it has to survey the tests of each that it changes.
        order = sorted(modules, key=lambda module: (modules.index(module) - number) % processes)
        try:
            with Copy(number) as copy:
                while True:
                    with guard:
                        plan = next((waiting[module].pop(0) for module in order if waiting[module]), None)
                    if plan is None:
                        return
                    done.put((plan, copy.noticed_by(plan)))
        except Exception as error:  # raised again where the results are read: a thread of its own would lose it
            done.put(error)

    threads = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(min(processes, left))]
    for thread in threads:
        thread.start()
    KEPT.parent.mkdir(exist_ok=True)
    for _ in range(left):
        one = done.get()
        if isinstance(one, Exception):
            raise one
        with KEPT.open("a", encoding="utf-8") as file:
            row = {"key": one[0].key, "by": one[1], "tests": _decided_by(one[0].module, one[1])}
            file.write(json.dumps(row) + "\n")
        yield one
    for thread in threads:
        thread.join()


def main() -> None:
    """Print what was not noticed, and the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--module", help="only this one, e.g. workflow/parse.py")
    options = parser.parse_args()
    tests = {module: files for module, files in TESTS.items() if options.module in (None, module)}
    plans = planned(options.most, options.seed, tests)
    figures: dict[str, Any] = {"mutants": 0, "noticed": 0}
    by_module = {module: [0, 0] for module in tests}
    for plan, by in tried(plans, options.processes):
        figures["mutants"] += 1
        figures["noticed"] += by is not None
        by_module[plan.module][0] += 1
        by_module[plan.module][1] += by is not None
        if by is None:
            print(f"--- not noticed: {plan.module}, {plan.mutant.place}\n{plan.mutant.diff}\n", flush=True)
    for module, (count, seen) in by_module.items():
        print(f"{module:<28}{seen:>4} of {count}")
    print(json.dumps({**figures, "share": round(figures["noticed"] / max(1, figures["mutants"]), 3)}))


if __name__ == "__main__":
    main()
