"""Is it worth running what was written? ``python -m benchmarks.repairing [--data FOLDER] [--mbpp 100] [--out FOLDER]``.

HumanEval and MBPP, evaluated as ``podium evaluate`` does it. Two scripted workers stand for models, because what is measured is
the python worker between them: how many wrong programs it finds with the examples in the question, and how few right ones it
spoils.

- ``drafter`` writes the set's own solution, in half of the cases with one mistake (``benchmarks/mutations.py``) that the set's
  tests are known to reject;
- ``mender`` sees what the run said. Where that shows a failure it gives the solution, at every fourth problem only after a second
  failure; where it shows none it repeats what it was shown.

``draft`` and ``repaired``: shares of right answers of ``worker:drafter`` and of ``tested:drafter,python,mender``, judged by all
of the set's tests; ``gain``: the difference in points. ``spoiled``: right drafts whose repaired answer is wrong. ``attacks``:
programs that try to rig whatever judges them, ``contained``: those that the python worker did not let pass. One JSON object last.
"""

import argparse
import asyncio
import json
import random
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.mutations import mutants
from benchmarks.program_cases import HACKS
from podium.acting.python import PythonWorker, PythonWorkerConfig
from podium.errors import Blame, VerifierError
from podium.pools.problems import ProblemSource
from podium.pools.verifiers import open_verifiers
from podium.protocols import Verifier
from podium.registry import register
from podium.studies.run import run_study
from podium.studies.spec import Study
from podium.tasks.benchmarks.registry import load_solved
from podium.tasks.kinds import instructed
from podium.tasks.programming.code import extract_code
from podium.tasks.syntax import parse_module
from podium.types import Call, Problem, VisibleStep, ask
from podium.workers.connections import Connections
from podium.workers.kinds import WorkerKind
from podium.workers.scripted import Scripted
from podium.workers.table import WorkerConfig

DATA = Path(__file__).parents[2] / "shared" / "data"
TRIED = 6
"""Mistakes tried at a problem until one is rejected."""
FAILS = ("fails:", "The program failed.")
POOL = """\
[[worker]]
name = "drafter"
kind = "scripted-drafter"
[[worker]]
name = "mender"
kind = "scripted-mender"
[[worker]]
name = "python"
kind = "python"
run_seconds = 2.0
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """What is written at one problem."""

    draft: str
    mended: tuple[str, ...]
    """One after the other, after each failure that is shown."""


def fenced(code: str) -> str:
    """A program as a model gives it."""
    return f"```python\n{code}\n```\n"


async def script(problem: Problem, gold: str, verifier: Verifier, *, wrong: bool) -> Script:
    """What is written at ``problem``; the second mistake stands for a mend that is wrong again."""
    rng = random.Random(f"{problem.id} mistakes")
    code = extract_code(gold) or gold
    if parse_module(code) is None or not wrong:
        return Script(draft=gold, mended=(gold,))
    found: list[str] = []
    changed = [mutant.text for mutant in mutants(code)]
    for text in rng.sample(changed, min(TRIED, len(changed))):
        try:
            rejected = not (await verifier(problem, fenced(text))).correct
        except VerifierError:
            continue
        found += [fenced(text)] * rejected
        if len(found) == 2:
            break
    if not found:
        return Script(draft=gold, mended=(gold,))
    return Script(draft=found[0], mended=(*found[1:], gold) if rng.random() < 0.25 else (gold,))


async def scripts_for(problems: Sequence[Problem], golds: Mapping[str, str], rng: random.Random) -> dict[str, Script]:
    """Question -> what is written; ``rng`` draws the half in which that is wrong."""
    half = set(rng.sample(range(len(problems)), len(problems) // 2))
    gate = asyncio.Semaphore(2)
    async with open_verifiers({problem.kind for problem in problems}) as verifier:

        async def one(number: int, problem: Problem) -> Script:
            async with gate:
                return await script(problem, golds[problem.question], verifier, wrong=number in half)

        found = await asyncio.gather(*(one(number, problem) for number, problem in enumerate(problems)))
    return {problem.question: each for problem, each in zip(problems, found, strict=True)}


def register_workers(scripts: Mapping[str, Script]) -> None:
    """The two scripted workers, as kinds that a pool file can name."""

    def draft(call: Call) -> str:
        return scripts[call.question[-1].content].draft

    def mend(call: Call) -> str:
        mended = scripts[call.visible[0].question[-1].content].mended
        if not any(word in call.visible[-1].response for word in FAILS):
            return call.visible[-1].response
        # The second time it sees the draft, its own program, and what running that said.
        return mended[min(len(call.visible) - 2, len(mended) - 1)]

    for name, answer in (("scripted-drafter", draft), ("scripted-mender", mend)):
        worker = Scripted(answer)

        def make(
            table: WorkerConfig, environ: Mapping[str, str], connections: Connections, worker: Scripted = worker
        ) -> Scripted:
            return worker

        register("workers", name)(WorkerKind(about="scripted", make=make))


async def attacked() -> tuple[int, int]:
    """How many attacks there are, and how many of them do not pass the examples."""
    worker = PythonWorker(PythonWorkerConfig(name="python", kind="python", run_seconds=3.0))
    question = ask("Write add.\n\nassert add([1], [2]) == [1, 2]\nassert add(3, 4) == 7")

    async def one(code: str) -> bool:
        step = VisibleStep(question=question, subtask="Write it.", response=fenced(code))
        return (await worker(Call(subtask="Run it.", visible=(step,)))).check_passed is False

    try:
        found = await asyncio.gather(*map(one, HACKS.values()))
    finally:
        await worker.aclose()
    return len(found), sum(found)


async def measure(data: Path, mbpp: int, out: Path) -> dict[str, Any]:
    """All figures."""
    figures: dict[str, Any] = {}
    golds = {
        instructed(one.problem).question: one.gold for name in ("humaneval", "mbpp") for one in load_solved(name, data_dir=data)
    }
    scripts: dict[str, Script] = {}
    register_workers(scripts)
    (out / "pool.toml").write_text(POOL)
    totals = {"n": 0, "draft": 0, "repaired": 0}
    for name, n in (("humaneval", None), ("mbpp", mbpp)):
        source = ProblemSource(set=name, data_dir=data, n=n)
        problems = source.problems()
        scripts |= await scripts_for(problems, golds, random.Random(name))
        arms = ("worker:drafter", "tested:drafter,python,mender")
        study = Study(
            title=f"Repairing {name}", arms=arms, compare=arms[1], problems=source, pool=out / "pool.toml", out=out / name,
            concurrency=2,
        )  # fmt: skip
        report = await run_study(study)
        right = {
            arm: {r.problem for r in report.results if r.arm == arm and r.verdict is not None and r.verdict.correct}
            for arm in arms
        }
        faults = sum(r.failure is not None and r.failure.blame is Blame.WORLD for r in report.results)
        shares = [len(right[arm]) / len(problems) for arm in arms]
        figures[name] = {
            "problems": len(problems), "wrong_drafts": len(problems) - len(right[arms[0]]),
            "draft": round(shares[0], 4), "repaired": round(shares[1], 4), "spoiled": len(right[arms[0]] - right[arms[1]]),
            "faults": faults,
        }  # fmt: skip
        print(name, figures[name], flush=True)
        for key, value in zip(totals, (len(problems), *(len(right[arm]) for arm in arms)), strict=True):
            totals[key] += value
    figures["draft"] = round(totals["draft"] / totals["n"], 4)
    figures["repaired"] = round(totals["repaired"] / totals["n"], 4)
    figures["gain"] = round(100 * (totals["repaired"] - totals["draft"]) / totals["n"], 1)
    figures["attacks"], figures["contained"] = await attacked()
    return figures


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of data sets")
    parser.add_argument("--mbpp", type=int, default=100, help="how many problems of MBPP")
    parser.add_argument("--out", type=Path, help="folder of the studies; without it, a temporary one")
    flags = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        out = flags.out or Path(folder)
        out.mkdir(parents=True, exist_ok=True)
        print(json.dumps(asyncio.run(measure(flags.data, flags.mbpp, out))))


if __name__ == "__main__":
    main()
