"""LiveCodeBench: contest problems by date of release, so that training and test can be kept apart in time.

``release_vN`` is what its authors published as version N: all problems up to then. ``vN`` is the window between release N-1
and N: its new problems only. The paper trains on V1 and tests on V6; taken as whole releases the test would contain the
training set, so test on the window ``v6`` (175 problems).

Hidden tests are packed as base64 of zlib of a pickle of a text. A pickle can run programs, so only a plain text is
unpickled and anything else is refused.
"""

import base64
import binascii
import io
import json
import pickle
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from podium.registry import register
from podium.tasks.benchmarks.benchmark import Benchmark, HubSource, Solved, SourceRow
from podium.tasks.benchmarks.files import jsonl_rows
from podium.tasks.programming.target import CallCase, CallTests, ProgramTests, StdinCase, StdinTests
from podium.types import Problem

KIND = "programming"
RELEASES = (400, 511, 612, 713, 880, 1_055)
"""Problems in release 1, 2, ...: as counted by its authors."""
FILES = ("test.jsonl", *(f"test{n}.jsonl" for n in range(2, 7)))
"""One file per release; ``release_vN`` is the first N of them together."""
HUB = HubSource(
    dataset="livecodebench/code_generation_lite",
    revision="0fe84c3912ea0c4d4a78037083943e8f0c4dd505",
    files={f"release_v{n}": FILES[:n] for n in range(1, 7)} | {f"v{n}": FILES[n - 1 : n] for n in range(1, 7)},
)
MAX_TEST_BYTES = 500_000_000
"""Unpacked tests of one problem; more is a bomb or a broken file."""


def parse_livecodebench(row: SourceRow, split: str, seed: int) -> Solved:
    """LiveCodeBench: ``question_content``, ``starter_code``, public and private test cases, ``metadata``."""
    public = json.loads(row["public_test_cases"] or "[]")
    tests = public + _hidden(str(row["private_test_cases"]))
    if not tests:
        raise ValueError("there are no tests")
    question = str(row["question_content"]).strip()
    styles = {test["testtype"] for test in tests}
    if styles == {"stdin"}:
        cases = tuple(StdinCase(stdin=str(test["input"]), stdout=str(test["output"])) for test in tests)
        target: ProgramTests = StdinTests(cases=cases)
    elif styles == {"functional"}:
        question += f"\n\n```python\n{str(row['starter_code']).strip()}\n```"
        entry = f"Solution().{json.loads(row['metadata'])['func_name']}"
        target = CallTests(prelude="from typing import *", entry=entry, cases=tuple(map(_call, tests)))
    else:
        raise ValueError(f"tests of the kinds {styles} in one problem")
    problem = Problem(
        question=question,
        target=target.to_json(),
        kind=KIND,
        source=f"livecodebench/{row['platform']}#{str(row['contest_date'])[:10]}",
        split=split,
    )
    return Solved(problem=problem, gold="")


def _call(test: dict[str, Any]) -> CallCase:
    """Arguments stand on one line each, as JSON."""
    args = tuple(json.loads(line) for line in str(test["input"]).split("\n") if line.strip())
    return CallCase(args=args, expected=json.loads(test["output"]))


def _hidden(packed: str) -> list[dict[str, Any]]:
    if packed.lstrip().startswith("["):
        tests = json.loads(packed)
    else:
        try:
            stream = zlib.decompressobj()
            data = stream.decompress(base64.b64decode(packed, validate=True), MAX_TEST_BYTES)
            if not stream.eof:
                raise ValueError(f"the hidden tests are cut off or larger than {MAX_TEST_BYTES} bytes")
            tests = json.loads(_TextOnly(io.BytesIO(data)).load())
        except (binascii.Error, zlib.error, pickle.UnpicklingError, EOFError, TypeError) as error:
            raise ValueError(f"the hidden tests can not be unpacked: {error}") from error
    if not isinstance(tests, list):
        raise TypeError("the hidden tests are no list")
    return tests


class _TextOnly(pickle.Unpickler):
    """Refuses every name, and with it every program, that a pickle could call."""

    def find_class(self, module_name: str, global_name: str, /) -> Any:
        raise pickle.UnpicklingError(f"the pickle wants {module_name}.{global_name}")


def _local(folder: Path, split: str) -> Iterable[SourceRow]:
    for file in HUB.files[split]:
        yield from jsonl_rows(folder / "livecodebench" / file)


register("benchmarks", "livecodebench")(
    Benchmark(
        name="livecodebench",
        kind=KIND,
        about="contest problems from AtCoder, LeetCode and Codeforces, in windows of release",
        licence="CC; statements (c) their sites",
        url="https://github.com/LiveCodeBench/LiveCodeBench",
        splits={f"release_v{n}": size for n, size in enumerate(RELEASES, start=1)}
        | {f"v{n}": size - before for n, (before, size) in enumerate(zip((0, *RELEASES), RELEASES, strict=False), start=1)},
        parse=parse_livecodebench,
        local=_local,
        hub=HUB,
        note="release_v6 contains release_v1: never train on one release and test on a later whole one; vN are disjoint windows.",
    )
)
