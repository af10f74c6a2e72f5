"""Do the tests notice mistakes? ``make mutants``, or ``python -m benchmarks.mutants [--most 200] [--seed 0] [--processes 2]``.

Changes the modules of ``TESTS`` at places drawn by the seed (``mutations.py``), one at a time, each in a copy of the repository,
and runs the tests that belong to the module. A change is noticed where a test fails, or does not end in time. What is known of
a change is kept in ``runs/mutants.jsonl`` as long as module and tests are what they were, so a stopped run goes on.

Prints every change that nobody noticed, with its difference, and one JSON object last: ``mutants``, ``noticed``, ``share``.
"""

import argparse
import hashlib
import json
import os
import queue
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.mutations import Mutant, mutants

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "runs" / "mutants.jsonl"
TESTS: dict[str, tuple[str, ...]] = {
    "workflow/parse.py": ("tests/workflow/test_parse.py",),
    "workflow/execute.py": (
        "tests/workflow/test_execute.py",
        "tests/test_conduct.py",
        "tests/evaluation/test_policy_failures.py",
    ),
    "workers/budget.py": ("tests/workers/test_budget.py", "tests/workers/test_wrappers.py", "tests/workers/test_kept_first.py"),
    "workers/journal.py": ("tests/workers/test_journal.py", "tests/workers/test_kept_first.py"),
    "serving/store/quotas.py": (
        "tests/serving/test_store_quotas.py",
        "tests/serving/test_store_quota_laws.py",
        "tests/serving/test_fair_share.py",
        "tests/serving/test_store_corrections.py",
    ),
    "training/collect.py": ("tests/training/test_collect.py",),
    "evaluation/metrics.py": ("tests/evaluation/test_metrics.py", "tests/evaluation/test_policy_failures.py"),
    "tasks/verifiers.py": ("tests/tasks/test_verifiers.py",),
}
"""Module -> the tests that belong to it."""
SLOWEST = 4.0
"""A change may make the tests this many times slower before they are stopped."""
SPARE_SECONDS = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A change to be tried."""

    module: str
    mutant: Mutant
    key: str


def planned(most: int, seed: int, tests: dict[str, tuple[str, ...]] = TESTS) -> list[Planned]:
    """``most`` changes drawn by ``seed``, as evenly over the modules as there are places."""
    found: list[list[Planned]] = []
    for module, files in tests.items():
        source = (ROOT / "src" / "podium" / module).read_text(encoding="utf-8")
        texts = [source, *((ROOT / file).read_text(encoding="utf-8") for file in files)]
        known = hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]
        places = [Planned(module=module, mutant=m, key=f"{module} {known} {m.place}") for m in mutants(source)]
        random.Random(f"{seed} {module}").shuffle(places)
        found.append(places)
    turns = [plan for row in range(max(map(len, found))) for places in found for plan in places[row : row + 1]]
    return turns[:most]


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

    def __enter__(self) -> "Copy":
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def passes(self, module: str, text: str, seconds: float | None) -> bool:
        """Whether the module's tests pass with ``text`` in its place, within ``seconds``."""
        path = self._folder / "src" / "podium" / module
        before = path.read_text(encoding="utf-8")
        path.write_text(text, encoding="utf-8")
        folders = os.pathsep.join([str(self._folder / "src"), str(self._folder)])
        command = [sys.executable, "-m", "pytest", *TESTS[module], "-x", "-q", "-n", "0", "-p", "no:cacheprovider"]
        process = subprocess.Popen(
            command, cwd=self._folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
            env={**os.environ, "PYTHONPATH": folders, "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"},
        )  # fmt: skip
        try:
            return process.wait(timeout=seconds) == 0
        except subprocess.TimeoutExpired:
            return False
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)  # a group of our own: its leader is not reaped yet
                process.wait()
            path.write_text(before, encoding="utf-8")


def known() -> dict[str, bool]:
    """What earlier runs found: key of a change -> whether it was noticed."""
    if not KEPT.exists():
        return {}
    rows = [json.loads(line) for line in KEPT.read_text(encoding="utf-8").splitlines() if line.endswith("}")]
    return {row["key"]: row["noticed"] for row in rows}


def tried(plans: Sequence[Planned], processes: int) -> Iterator[tuple[Planned, bool]]:
    """Every change and whether it was noticed, as they come; earlier finds first."""
    found, waiting = known(), queue.SimpleQueue[Planned]()
    for plan in plans:
        if plan.key in found:
            yield plan, found[plan.key]
        else:
            waiting.put(plan)
    left, done = waiting.qsize(), queue.SimpleQueue[tuple[Planned, bool] | Exception]()
    limits: dict[str, float] = {}
    guard = threading.Lock()

    def limit(copy: Copy, module: str) -> float:
        with guard:
            if module not in limits:
                source = (ROOT / "src" / "podium" / module).read_text(encoding="utf-8")
                start = time.monotonic()
                if not copy.passes(module, source, None):
                    raise RuntimeError(f"the tests of {module} fail without any change: {' '.join(TESTS[module])}")
                limits[module] = SLOWEST * (time.monotonic() - start) + SPARE_SECONDS
            return limits[module]

    def work(number: int) -> None:
        try:
            with Copy(number) as copy:
                while True:
                    try:
                        plan = waiting.get_nowait()
                    except queue.Empty:
                        return
                    done.put((plan, not copy.passes(plan.module, plan.mutant.text, limit(copy, plan.module))))
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
            file.write(json.dumps({"key": one[0].key, "noticed": one[1]}) + "\n")
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
    for plan, noticed in tried(plans, options.processes):
        figures["mutants"] += 1
        figures["noticed"] += noticed
        by_module[plan.module][0] += 1
        by_module[plan.module][1] += noticed
        if not noticed:
            print(f"--- not noticed: {plan.module}, {plan.mutant.place}\n{plan.mutant.diff}\n", flush=True)
    for module, (count, seen) in by_module.items():
        print(f"{module:<28}{seen:>4} of {count}")
    print(json.dumps({**figures, "share": round(figures["noticed"] / max(1, figures["mutants"]), 3)}))


if __name__ == "__main__":
    main()
