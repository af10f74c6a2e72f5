"""What isolation costs: a fresh submission, a further test, and verdicts per second beside a runner in the judge's process.

    python -m benchmarks.sandbox [--slots 2] [--callers 8]

The runner in the judge's process (``exec`` with swapped streams) is for comparison only: it is the kind that correct
programs fail in and one-line hacks pass in. A verdict is one submission with all its tests, outputs compared outside.
The last line is one JSON object: milliseconds are medians of wall time, rates are per second of wall time.
"""

import argparse
import asyncio
import contextlib
import io
import json
import os
import resource
import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from podium.tasks.sandbox import Job, Sandbox, SandboxLimits
from podium.tasks.sandbox.launch import Isolated
from podium.tasks.sandbox.packages import Packages
from podium.tasks.sandbox.slot import Slot

FRESH = 40
FURTHER = 200
VERDICTS = 80
TESTS = 10

PROGRAMS = (
    "n = int(input())\nprint(sum(int(x) for x in input().split()))",
    "import sys\nfrom collections import Counter\n_, *xs = map(int, sys.stdin.read().split())\n"
    "counts = Counter(xs)\nprint(sum(x * k for x, k in counts.items()))",
    "def main():\n    n = int(input())\n    xs = sorted(map(int, input().split()))\n    total = 0\n"
    "    for x in xs:\n        total += x\n    print(total)\nif __name__ == '__main__':\n    main()",
    "import heapq\nn = int(input())\nheap = list(map(int, input().split()))\nheapq.heapify(heap)\ntotal = 0\n"
    "while heap:\n    total += heapq.heappop(heap)\nprint(total)",
)
INPUTS = [
    (f"{n}\n{' '.join(str(7 * k % 101) for k in range(n))}\n", f"{sum(7 * k % 101 for k in range(n))}")
    for n in range(1, 1000, 99)
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """Verdicts per second; how many cores our processes kept busy, and all of the machine with the kernel's own work."""

    per_second: float
    cores: float
    machine: float


async def start_ms(limits: SandboxLimits) -> list[float]:
    """Starting a sandbox that nobody started before: what the pool hides."""
    launch = Isolated(limits, Packages())
    times = []
    try:
        for _ in range(FRESH):
            started = time.perf_counter()
            slot = await Slot.start(launch.prepare())
            times.append(1000 * (time.perf_counter() - started))
            await slot.stop()
    finally:
        launch.close()
    return times


async def fresh_ms(sandbox: Sandbox) -> list[float]:
    """From handing over a source to the end of its sandbox, one test in between; one caller, one after the other."""
    times = []
    for number in range(FRESH):
        started = time.perf_counter()
        assert await verdict(sandbox, PROGRAMS[number % len(PROGRAMS)], 1)
        times.append(1000 * (time.perf_counter() - started))
    return times


async def test_ms(sandbox: Sandbox) -> list[float]:
    """One more test of a submission that had one."""
    times = []
    async with sandbox.submission(PROGRAMS[0]) as submission:
        for _ in range(FURTHER + 1):
            started = time.perf_counter()
            assert (await submission.run(Job(kind="script", stdin=INPUTS[0][0].encode()))).status == "ok"
            times.append(1000 * (time.perf_counter() - started))
    return times[1:]


async def verdict(sandbox: Sandbox, source: str, tests: int) -> bool:
    """Whether ``source`` is right on the first ``tests`` inputs."""
    async with sandbox.submission(source) as submission:
        for given, expected in INPUTS[:tests]:
            outcome = await submission.run(Job(kind="script", stdin=given.encode()))
            if outcome.status != "ok" or outcome.stdout.decode().split() != expected.split():
                return False
    return True


async def sandboxed(sandbox: Sandbox, callers: int, tests: int) -> Rate:
    """``callers`` at once, until all verdicts are there."""
    work = iter([PROGRAMS[number % len(PROGRAMS)] for number in range(VERDICTS)])

    async def caller() -> None:
        for source in work:
            assert await verdict(sandbox, source, tests)

    started, used, idle = time.perf_counter(), processor_seconds(), idle_seconds()
    await asyncio.gather(*(caller() for _ in range(callers)))
    return rate(started, used, idle)


def rate(started: float, used: float, idle: float) -> Rate:
    """The rate since the three clocks were read."""
    seconds = time.perf_counter() - started
    return Rate(
        per_second=VERDICTS / seconds,
        cores=(processor_seconds() - used) / seconds,
        machine=(os.cpu_count() or 1) - (idle_seconds() - idle) / seconds,
    )


def idle_seconds() -> float:
    """Seconds that the machine's cores did nothing, summed over them (``/proc/stat``)."""
    fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()
    return (int(fields[4]) + int(fields[5])) / os.sysconf("SC_CLK_TCK")


def processor_seconds() -> float:
    """Processor time of this process and of all its children that have ended."""
    return sum(
        usage.ru_utime + usage.ru_stime for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def in_process(tests: int) -> Rate:
    """The same verdicts by ``exec`` in this process: no isolation, no limits."""
    started, used, idle = time.perf_counter(), processor_seconds(), idle_seconds()
    for number in range(VERDICTS):
        for given, expected in INPUTS[:tests]:
            out, real = io.StringIO(), sys.stdin
            sys.stdin = io.StringIO(given)
            try:
                with contextlib.redirect_stdout(out):
                    exec(compile(PROGRAMS[number % len(PROGRAMS)], "<submission>", "exec"), {"__name__": "__main__"})  # noqa: S102
            finally:
                sys.stdin = real
            assert out.getvalue().split() == expected.split()
    return rate(started, used, idle)


async def main() -> None:
    """Measures, prints a table and one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--slots", type=int, default=2)
    parser.add_argument("--callers", type=int, default=8)
    options = parser.parse_args()
    limits = SandboxLimits()
    starts = await start_ms(limits)
    async with Sandbox(slots=options.slots, limits=limits) as sandbox:
        fresh, further = await fresh_ms(sandbox), await test_ms(sandbox)
        rates = [await sandboxed(sandbox, options.callers, tests) for tests in (TESTS, 1)]
    plain = [in_process(tests) for tests in (TESTS, 1)]
    for name, times in (("a start, not warm", starts), ("a fresh submission, one test", fresh), ("a further test", further)):
        ordered = sorted(times)
        print(f"{name:<32}{statistics.median(times):8.1f} ms median{ordered[int(0.95 * len(ordered))]:8.1f} ms p95")
    for tests, ours, other in zip((TESTS, 1), rates, plain, strict=True):
        print(
            f"{tests:>3} tests a verdict: {ours.per_second:7.1f} verdicts/s, in the judge's process {other.per_second:.1f}/s\n"
            f"      {options.callers} callers, {options.slots} slots, "
            f"{ours.cores:.2f} cores busy, {ours.machine:.2f} with the kernel's and the neighbours' work"
        )
    print(
        json.dumps(
            {
                "start_ms": round(statistics.median(starts), 2),
                "fresh_ms": round(statistics.median(fresh), 2),
                "test_ms": round(statistics.median(further), 2),
                "tests_per_verdict": TESTS,
                "verdicts_per_second": round(rates[0].per_second, 1),
                "in_process_per_second": round(plain[0].per_second, 1),
                "cores_busy": round(rates[0].cores, 2),
                "machine_busy": round(rates[0].machine, 2),
                "single_test_verdicts_per_second": round(rates[1].per_second, 1),
            }
        )
    )


if __name__ == "__main__":
    asyncio.run(main())
