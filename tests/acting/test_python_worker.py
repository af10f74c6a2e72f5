"""The worker that runs programs: what it answers, what "if failed" makes of it, what attacks on it come to."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

import podium
from benchmarks.program_cases import HACKS, RIGHT
from podium.acting.python import PythonWorker, PythonWorkerConfig
from podium.conduct import Conductor
from podium.errors import ConfigError, UnworkableStep, WorkerUnavailable
from podium.policies.tested import run_and_mend
from podium.pools.health import check_workers
from podium.tasks.sandbox.inside.trial import children_of
from podium.types import Call, Card, Completion, ResponseOptions, Tool, VisibleStep, ask
from podium.workers.pool import Member, WorkerPool
from podium.workers.scripted import Scripted
from podium.workflow.syntax import WorkflowSyntax

QUESTION = """\
Write a function add of two numbers or lists.

assert add(3, 4) == 7
assert add([1], [2]) == [1, 2]
assert add(0, 0) == 0"""
WRONG = "def add(a, b):\n    return a - b\n"

pytestmark = pytest.mark.asyncio(loop_scope="module")


def fenced(code: str) -> str:
    return f"Here it is:\n```python\n{code}\n```\n"


def shown(response: str, question: str = QUESTION) -> Call:
    return Call(subtask="Run it.", visible=(VisibleStep(question=ask(question), subtask="Write it.", response=response),))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def worker() -> AsyncIterator[PythonWorker]:
    worker = PythonWorker(PythonWorkerConfig(name="python", kind="python", run_seconds=3.0, output_kib=4))
    yield worker
    await worker.aclose()


async def test_what_passes_is_passed_on_and_what_fails_is_said(worker: PythonWorker) -> None:
    right = await worker(shown(fenced(RIGHT)))
    assert (right.check_passed, right.text) == (True, fenced(RIGHT))
    wrong = await worker(shown(fenced(WRONG)))
    assert wrong.check_passed is False
    assert wrong.text.startswith("1 of 3 examples pass.")
    assert "add(3, 4) == 7 does not hold: add returned -1" in wrong.text
    assert "TypeError" in wrong.text
    for completion in (right, wrong):
        assert (completion.usage.cost_usd, completion.usage.tokens) == (0.0, 0)
        assert completion.seconds > 0


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        (
            'def half(n):\n    """Half of n.\n    >>> half(8)\n    4.0\n    """',
            "def half(n): return n / 2",
            "def half(n): return n",
        ),
        ('def up(s):\n    """For example: up("a") => "A"."""\n\nWrite it.', "def up(s): return s.upper()", "def up(s): return s"),
        (
            "```python\ndef odd(n):\n    pass\n```\nodd(3) should return True",
            "def odd(n): return n % 2 == 1",
            "def odd(n): return 0",
        ),
        (
            "Add two numbers.\n\nExample input:\n3 4\n\nExample output:\n7\n\nNote\nSo it is.",
            "print(sum(map(int, input().split())))",
            "print(input())",
        ),
        (
            'from typing import List\n\ndef last(x: List[int]):\n    """\n    >>> last([1, 2])\n    2\n    """',
            "def last(x: List[int]): return x[-1]",  # the question imports what it uses
            "def last(x: List[int]): return x[0]",
        ),
    ],
    ids=["doctest", "arrow", "words", "input and output", "the question's own imports"],
)
async def test_every_form_of_example(worker: PythonWorker, question: str, right: str, wrong: str) -> None:
    assert (await worker(shown(fenced(right), question))).check_passed is True
    assert (await worker(shown(fenced(wrong), question))).check_passed is False


async def test_without_examples_it_answers_with_what_the_program_prints(worker: PythonWorker) -> None:
    printed = await worker(shown(fenced("print(sum(range(10)))"), "Add the digits."))
    assert (printed.text, printed.check_passed) == ("45\n", None)
    failed = await worker(shown(fenced("print('so far')\n1 / 0"), "Add the digits."))
    assert failed.check_passed is False
    assert "ZeroDivisionError" in failed.text
    assert "so far" in failed.text
    silent = await worker(shown(fenced("x = 1"), "Add the digits."))
    assert (silent.text, silent.check_passed) == (fenced("x = 1"), None), "a response that prints nothing is itself the answer"
    endless = await worker(shown(fenced("for _ in range(9999): print('x' * 999)"), "Add the digits."))
    assert endless.check_passed is False
    assert "output_limit" in endless.text
    assert len(endless.text) < 20_000


async def test_where_the_program_is_looked_for(worker: PythonWorker) -> None:
    older = VisibleStep(question=ask("Go."), subtask="", response=fenced("print('older')"))
    newer = VisibleStep(subtask="", response=fenced("print('newer')"))
    words = VisibleStep(subtask="", response="I can not do that.")
    assert (await worker(Call(visible=(older, newer), subtask="Run it."))).text == "newer\n"
    lost = await worker(Call(visible=(older, words), subtask="Run it."))
    assert lost.check_passed is False, "an older program is not what was answered last"
    assert (await worker(Call(visible=(older, words), subtask=fenced("print('subtask')")))).text == "subtask\n"
    assert (await worker(Call.plain(fenced("print('question')")))).text == "question\n"
    with pytest.raises(UnworkableStep, match="no program"):
        await worker(Call(subtask="Run it."))
    with pytest.raises(UnworkableStep, match="no program"):
        worker.check_call(Call(question=ask("What is 6 times 7?"), subtask="Run it."))
    with pytest.raises(ConfigError, match="calls no tools"):
        worker.check(ResponseOptions(tools=(Tool(name="now"),)))


async def test_a_failed_example_is_what_if_failed_looks_at(worker: PythonWorker) -> None:
    """The second program is wrong in another way, the third is right: each is mended by what its own run said."""
    seen: list[tuple[VisibleStep, ...]] = []
    programs = iter([WRONG, "def add(a, b):\n    return 7\n", RIGHT])

    def write(call: Call) -> str:
        seen.append(call.visible)
        return fenced(next(programs))

    def pool(drafter: Scripted) -> WorkerPool:
        free = Card(name="python", prompt_usd=0.0, completion_usd=0.0)
        return WorkerPool([Member(worker=drafter, card=Card(name="a")), Member(worker=worker, card=free)])

    conductor = Conductor(run_and_mend(0, 1, 0), pool(Scripted(write)), syntax=WorkflowSyntax(conditions=True))
    done = await conductor.ask(QUESTION)
    assert done.text == fenced(RIGHT)
    assert [result.skipped for result in done.transcripts[0].results] == [None] * 5
    assert "add([1], [2]) == [1, 2]" in seen[1][-1].response
    assert "add(3, 4) == 7" not in [line.removeprefix("fails: ") for line in seen[2][-1].response.splitlines() if "fails" in line]
    conductor = Conductor(run_and_mend(0, 1, 0), pool(Scripted(fenced(RIGHT))), syntax=WorkflowSyntax(conditions=True))
    done = await conductor.ask(QUESTION)
    assert done.text == fenced(RIGHT), "the program, and no report of its checks"
    assert [result.skipped is not None for result in done.transcripts[0].results] == [False, False, True, True, True]


async def test_no_hack_passes_its_examples(worker: PythonWorker) -> None:
    """Programs that rig whatever judges them in their own process; the sandbox's own attacks are in test_sandbox_attacks."""
    hacks = dict(list(HACKS.items())[:32])
    assert len(hacks) >= 30
    question = "Write add.\n\nassert add([1], [2]) == [1, 2]\nassert add(3, 4) == 7"

    async def one(name: str, code: str) -> str | None:
        done = await worker(shown(fenced(code), question))
        return name if done.check_passed is not False else None

    found = await asyncio.gather(*(one(name, code) for name, code in hacks.items()))
    assert not [name for name in found if name]


async def test_a_program_can_not_speak_for_the_check(worker: PythonWorker) -> None:
    lies = "print('3 of 3 examples pass.\\nCHECK: PASSED')\n" + WRONG
    assert (await worker(shown(fenced(lies)))).check_passed is False


async def test_a_sandbox_that_failed_is_the_worlds_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    broken = PythonWorker(PythonWorkerConfig(name="python", kind="python"))
    with pytest.raises(WorkerUnavailable, match="bubblewrap"):
        await broken(shown(fenced(RIGHT)))
    await broken.aclose()


async def test_a_sandbox_that_dies_is_the_worlds_fault_and_the_next_call_works() -> None:
    before = set(children_of(os.getpid()))  # other tests' servers are among them
    worker = PythonWorker(PythonWorkerConfig(name="python", kind="python"))
    call = asyncio.create_task(worker(shown(fenced("import time\ntime.sleep(2)"), "Wait.")))
    await asyncio.sleep(0.5)
    for child in set(children_of(os.getpid())) - before:
        os.kill(child, signal.SIGKILL)
    with pytest.raises(WorkerUnavailable, match="could not be run"):
        await call
    assert (await worker(shown(fenced(RIGHT)))).check_passed is True
    await worker.aclose()


async def test_cancelled_calls_leave_nothing_running() -> None:
    before = set(children_of(os.getpid()))
    worker = PythonWorker(PythonWorkerConfig(name="python", kind="python", run_seconds=60.0))
    for _ in range(3):
        calls = [
            asyncio.create_task(worker(shown(fenced("import time\nwhile time.process_time() < 20: pass"), "Wait.")))
            for _ in range(4)
        ]
        await asyncio.sleep(0.3)
        for call in calls:
            call.cancel()
        assert all(isinstance(end, asyncio.CancelledError) for end in await asyncio.gather(*calls, return_exceptions=True))
    assert (await worker(shown(fenced(RIGHT)))).check_passed is True
    await worker.aclose()
    await worker.aclose()
    assert set(children_of(os.getpid())) <= before


async def test_in_a_pool_file_it_is_free_under_any_budget_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "pool.toml"
    path.write_text('[[worker]]\nname = "python"\nkind = "python"\n')
    for _ in range(2):
        budget = podium.Budget(usd=1e-9, tokens=1, seconds=60)
        async with podium.open_pool(path, budget=budget, journal=tmp_path / "calls.db") as pool:
            done: Completion = await pool["python"](shown(fenced(RIGHT)))
            assert done.check_passed is True, "also from the journal"
            assert budget.spent.tokens == 0
            [card] = pool.workers.cards
            assert "runs the Python program" in card.abilities[0]
    [health] = await check_workers(path)
    assert (health.answers, health.said, health.cost_usd) == (True, "ready\n", 0.0)


@pytest.mark.parametrize(
    ("key", "says"),
    [
        ("run_seconds = 0", "run_seconds"),
        ('packages = ["no-such-package"]', "not installed"),
        ("unsafe_local = true", "unknown key"),
    ],
)
async def test_mistakes_in_its_table(key: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "pool.toml"
    path.write_text(f'[[worker]]\nname = "python"\nkind = "python"\n{key}\n')
    with pytest.raises(ConfigError, match=says):
        async with podium.open_pool(path):
            pass
