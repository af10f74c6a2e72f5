import asyncio
import gc
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from podium.errors import VerifierError
from podium.tasks.mathematics import pool as pool_module
from podium.tasks.mathematics import worker as worker_module
from podium.tasks.mathematics.pool import Comparison, PoolLimits, SymbolicPool

SLOW = r"\binom{99999}{49999}^{9999}+x"
"""Takes minutes to evaluate."""


@pytest.fixture(scope="module")
def pools() -> Iterator[dict[str, SymbolicPool]]:
    """All pools of this file, started at once, because a worker takes a second to start. Who ends one takes it out."""
    every = {
        "pool": SymbolicPool(limits=PoolLimits(processor_seconds=0.4)),
        "single": SymbolicPool(size=1, limits=PoolLimits(processor_seconds=0.4)),
        "hasty": SymbolicPool(size=1, limits=PoolLimits(wall_seconds=1.5)),
        "patient": SymbolicPool(
            size=1, limits=PoolLimits(address_space_bytes=400 * 1024**2, processor_seconds=20, wall_seconds=60)
        ),
        "worn": SymbolicPool(size=1, limits=PoolLimits(calls=2)),
    }
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda pool: pool.compare_blocking("x", "y"), [every["pool"], *every.values()]))
    yield every
    for left in every.values():
        left.close()


@pytest.fixture
def pool(pools: dict[str, SymbolicPool]) -> SymbolicPool:
    return pools["pool"]


@pytest.fixture
def single(pools: dict[str, SymbolicPool]) -> SymbolicPool:
    """One worker, which tests kill."""
    return pools["single"]


def forks(leader: int) -> list[int]:
    return [int(pid) for pid in Path(f"/proc/{leader}/task/{leader}/children").read_text().split()]


def gone(pids: list[int], seconds: float = 10.0) -> bool:
    end = time.monotonic() + seconds
    while any(Path(f"/proc/{pid}").exists() and "Z" not in state(pid) for pid in pids):
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


async def test_formulas_are_compared(pool: SymbolicPool) -> None:
    assert (await pool.compare("x/2", "0.5x")).equal is True
    assert (await pool.compare("x/2", "2x")).equal is False
    assert (await pool.compare("12", "36", factor="1/3")).equal is True
    assert (await pool.compare(r"\sqrt{8}", r"2\sqrt{2}", restated=True)).equal is False
    assert (await pool.compare(r"\text{no} \sqrt{", "x")).equal is None


async def test_an_answer_that_takes_too_long_is_not_equal_and_the_next_is_judged(pool: SymbolicPool) -> None:
    await pool.compare("x", "y")
    leaders = pool.process_ids
    slow = await pool.compare("x", SLOW)
    assert slow.equal is False
    assert "longer than 0.4 seconds" in slow.why
    assert (await pool.compare("x+x", "2x")).equal is True
    assert set(leaders) <= set(pool.process_ids), "only the fork had to be replaced"


async def test_a_gold_answer_that_takes_too_long_is_no_verdict(pool: SymbolicPool) -> None:
    leaders = pool.process_ids
    with pytest.raises(VerifierError, match=r"reading the gold answer|comparing"):
        await pool.compare("{x^" * 34 + "x" + "}" * 34 + "+1" * 300, "x")
    assert pool.process_ids == leaders, "only the fork had to be replaced"


HARD_TO_COMPARE = [
    # (gold, an answer over which the comparison raised, took too long, or died)
    ("x^{2n}", "x^{n^2}"),
    (r"\sqrt{2}", r"\sum_{n=1}^{\infty} n"),
    (r"\begin{pmatrix} 1 \\ 2 \end{pmatrix}", r"\begin{pmatrix} 1 \\ 2 \end{pmatrix} + 3"),
    (r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}", r"\left(\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}, 3\right)"),
    (r"\{1, 2\}", r"\{1, \begin{pmatrix} 1 \\ 2 \end{pmatrix}\}"),
    ("(1, 2)", r"(1, \{2, x^2 = 4\})"),
    ("(-\\infty, 2)", r"(x, y) \cup \{i\}"),
    (r"x > 2", r"x > i"),
    (r"\mathbb{R}", r"\{x : x^x > \sin x\}"),
    ("x+1", "+".join(["x"] * 700)),
]


@pytest.mark.parametrize(("gold", "answer"), HARD_TO_COMPARE, ids=range(len(HARD_TO_COMPARE)))
async def test_an_answer_that_can_not_be_compared_is_not_equal(pool: SymbolicPool, gold: str, answer: str) -> None:
    compared = await pool.compare(gold, answer)
    assert compared.equal is False
    assert compared.why
    assert (await pool.compare(gold, gold)).equal is True


async def test_who_is_to_blame_where_a_comparison_fails(pool: SymbolicPool, monkeypatch: pytest.MonkeyPatch) -> None:
    failing = {"gold", "both"}

    def ask(self: object, line: bytes) -> Comparison:
        request = json.loads(line)
        if request["gold"] != request["answer"] or request["gold"] in failing:
            raise pool_module._Undecided("took longer than 0.6 seconds")
        return Comparison(equal=True)

    monkeypatch.setattr(pool_module._Worker, "ask", ask)
    blamed = await pool.compare("x", "y")
    assert blamed == Comparison(equal=False, why="comparing it took longer than 0.6 seconds")
    with pytest.raises(VerifierError, match="the gold answer with itself"):
        await pool.compare("gold", "y")
    with pytest.raises(VerifierError, match="the gold answer with itself"):
        await pool.compare("both", "both")


def test_comparing_has_what_evaluating_left_over(monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[float] = []

    def compare(*_: str, enter: Callable[[str], None], **__: object) -> Comparison:
        for stage in ("answer", "compare"):
            enter(stage)
            left.append(signal.getitimer(signal.ITIMER_PROF)[0])
            signal.setitimer(signal.ITIMER_PROF, 20)  # so much is left when the stage ends
        return Comparison(equal=True)

    monkeypatch.setattr(worker_module, "compare", compare)
    with open(os.devnull, "wb") as replies:
        worker_module._reply({"gold": "x", "answer": "x", "factor": "1", "restated": False}, 60.0, replies.fileno())
    assert left[0] > 50
    assert left[1] < 21
    assert signal.getitimer(signal.ITIMER_PROF)[0] == 0


@pytest.mark.parametrize(("code", "is_fault"), [(-signal.SIGSEGV, False), (-signal.SIGKILL, True)])
async def test_a_process_that_breaks_down_over_an_answer_is_no_fault(
    pool: SymbolicPool, monkeypatch: pytest.MonkeyPatch, code: int, is_fault: bool
) -> None:
    real = pool_module._Worker.ask

    def ask(self: pool_module._Worker, line: bytes) -> Comparison:
        if json.loads(line)["answer"] != "deep":
            return real(self, line)
        replies = iter([{"stage": "answer"}, {"died": code}])
        with monkeypatch.context() as patched:
            patched.setattr(self, "_read", lambda end: next(replies))
            patched.setattr(self, "_write", lambda line: None)
            return real(self, line)

    monkeypatch.setattr(pool_module._Worker, "ask", ask)
    if is_fault:
        with pytest.raises(VerifierError, match="ended with code -9"):
            await pool.compare("x", "deep")
    else:
        assert (await pool.compare("x", "deep")).equal is False
    assert (await pool.compare("x", "x+0")).equal is True


async def test_an_answer_that_takes_too_much_memory_is_not_equal(pools: dict[str, SymbolicPool]) -> None:
    comparison = await pools["patient"].compare("x", "3^{3^{19}}+x")
    assert comparison.equal is False
    assert (await pools["patient"].compare("x", "x+0")).equal is True


def test_from_threads(pool: SymbolicPool) -> None:
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda number: pool.compare_blocking("7x", f"{number}x").equal, range(16)))
    assert found == [number == 7 for number in range(16)]


def test_from_several_event_loops_at_once(pool: SymbolicPool) -> None:
    async def ask() -> list[bool | None]:
        return [found.equal for found in await asyncio.gather(*(pool.compare("3y", f"{number}y") for number in range(6)))]

    with ThreadPoolExecutor(3) as threads:
        for found in threads.map(lambda _: asyncio.run(ask()), range(3)):
            assert found == [number == 3 for number in range(6)]


@pytest.mark.parametrize("whole_group", [True, False])
async def test_a_worker_killed_at_work_is_replaced_and_nobody_notices(single: SymbolicPool, whole_group: bool) -> None:
    await single.compare("x", "y")
    (leader,) = single.process_ids
    asked = asyncio.create_task(single.compare("x", SLOW))
    await asyncio.sleep(0.1)
    assert not asked.done()
    if whole_group:
        os.killpg(leader, signal.SIGKILL)
    else:
        os.kill(forks(leader)[0], signal.SIGKILL)
    assert "longer than" in (await asked).why, "judged by the second process"
    assert (leader in single.process_ids) is not whole_group
    assert (await single.compare("x", "x+0")).equal is True


async def test_a_worker_killed_while_idle_is_replaced(single: SymbolicPool) -> None:
    await single.compare("x", "y")
    os.kill(forks(single.process_ids[0])[0], signal.SIGKILL)
    assert (await single.compare("x", "x+0")).equal is True
    os.killpg(single.process_ids[0], signal.SIGKILL)
    assert (await single.compare("x", "x+0")).equal is True


async def test_a_worker_that_falls_silent_is_given_up(pools: dict[str, SymbolicPool]) -> None:
    (leader,) = pools["hasty"].process_ids
    os.killpg(leader, signal.SIGSTOP)
    assert (await pools["hasty"].compare("x", "x+0")).equal is True
    assert leader not in pools["hasty"].process_ids


async def test_workers_know_no_secrets_and_hear_no_ctrl_c(single: SymbolicPool) -> None:
    await single.compare("x", "y")
    (leader,) = single.process_ids
    names = {entry.partition(b"=")[0] for entry in Path(f"/proc/{leader}/environ").read_bytes().split(b"\0")}
    assert names <= {b"PATH", b"LD_LIBRARY_PATH", b"PYTHONPATH", b"PYTHONHASHSEED", b""}
    assert os.getsid(leader) != os.getsid(0)


async def test_workers_that_die_again_and_again_are_a_fault_and_no_verdict(single: SymbolicPool) -> None:
    stop = threading.Event()

    def kill_all() -> None:
        while not stop.wait(0.02):
            for leader in single.process_ids:
                os.killpg(leader, signal.SIGKILL)

    killer = threading.Thread(target=kill_all)
    killer.start()
    try:
        with pytest.raises(VerifierError, match="the process that compares formulas"):
            await single.compare("x", SLOW)
    finally:
        stop.set()
        killer.join()
    assert (await single.compare("x", "x+0")).equal is True


async def test_closing_ends_processes_and_calls(pools: dict[str, SymbolicPool]) -> None:
    pool = pools.pop("patient")
    assert (await pool.compare("x", "x+0")).equal is True
    pids = [pid for leader in pool.process_ids for pid in (leader, *forks(leader))]
    asked = asyncio.create_task(pool.compare("x", SLOW))
    await asyncio.sleep(0.1)
    pool.close()
    with pytest.raises(VerifierError):
        await asked
    with pytest.raises(VerifierError, match="closed"):
        await pool.compare("x", "x")
    assert gone(pids)


async def test_a_worn_worker_starts_afresh_and_a_forgotten_pool_ends(pools: dict[str, SymbolicPool]) -> None:
    pool = pools.pop("worn")
    assert [(await pool.compare("x", f"{number}x/3")).equal for number in range(6)] == [number == 3 for number in range(6)]
    pids = [pid for leader in pool.process_ids for pid in (leader, *forks(leader))]
    assert pids
    del pool
    gc.collect()
    assert gone(pids)


def test_no_process_outlives_a_killed_parent_at_work_or_idle() -> None:
    program = (
        "import time\n"
        "from threading import Thread\n"
        "from podium.tasks.mathematics.pool import PoolLimits, SymbolicPool\n"
        "idle, busy = (SymbolicPool(size=1, limits=PoolLimits(processor_seconds=1)) for _ in range(2))\n"
        "starts = [Thread(target=pool.compare_blocking, args=('x', 'y')) for pool in (idle, busy)]\n"
        "[start.start() for start in starts]\n"
        "[start.join() for start in starts]\n"
        f"Thread(target=busy.compare_blocking, args=('x', {SLOW!r}), daemon=True).start()\n"
        "time.sleep(0.1)\n"
        "print(*idle.process_ids, *busy.process_ids, flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        leaders = [int(pid) for pid in parent.stdout.readline().split()]
        pids = [pid for leader in leaders for pid in (leader, *forks(leader))]
        assert len(pids) == 4
        parent.kill()
    assert gone(pids)


async def test_a_forked_process_has_workers_of_its_own(pool: SymbolicPool) -> None:
    await pool.compare("x", "y")
    child = os.fork()
    if child == 0:
        code = 0 if pool.compare_blocking("x", "x+0").equal else 1
        pool.close()
        os._exit(code)
    _, status = await asyncio.to_thread(os.waitpid, child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert (await pool.compare("x", "x+0")).equal is True


async def test_a_worker_that_does_not_start_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    pool = SymbolicPool(size=1)
    with pytest.raises(VerifierError, match="math-verify"):
        await pool.compare("x", "y")
    pool.close()
