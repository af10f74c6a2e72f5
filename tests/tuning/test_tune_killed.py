"""kill -9 in the middle of tuning, with faults: the same command goes on, pays nothing twice, keeps its cap, and ends alike."""

import multiprocessing
import signal
from collections import Counter
from pathlib import Path

import pytest

from tests.tuning.killed_runs import CAP_USD, tune

AT_A_TIME = 24
"""Calls that can be on their way at once: only those may be sent again."""
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["tests.tuning.killed_runs"])  # loaded once, which takes longer than a run


def run(out: Path, asked: Path, what: str, kill_at: int = 0) -> int | None:
    """How the process ended that is killed as soon as so many calls were answered and the last is not kept yet; 0: not killed."""
    out.mkdir(exist_ok=True)
    process = FORKS.Process(target=tune, args=(out, asked, what, kill_at))
    process.start()
    process.join()
    return process.exitcode


def calls(asked: Path) -> list[str]:
    return asked.read_text().split()


@pytest.mark.parametrize(("what", "kills"), [("workflows", (20, 20)), ("conducted", (250, 30))])
def test_killed_twice_it_ends_like_a_run_that_was_not(tmp_path: Path, what: str, kills: tuple[int, int]) -> None:
    out, asked = tmp_path / "killed", tmp_path / "asked"
    for kill_at in kills:
        assert run(out, asked, what, kill_at) == -signal.SIGKILL
        assert not (out / "policy.json").exists()
    for folder, heard in ((out, asked), (tmp_path / "whole", tmp_path / "whole_asked")):
        assert run(folder, heard, what) == 0
        assert (folder / "policy.json").exists()
    for name in ("policy.json", "questions.jsonl", "report.md", *(["conductor.json"] if what == "conducted" else [])):
        assert (out / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name
    once, again = Counter(calls(tmp_path / "whole_asked")), Counter(calls(asked))
    assert max(once.values()) == 1
    assert set(again) == set(once), "the killed run asked for something else"
    assert again.total() - len(again) <= len(kills) * AT_A_TIME, "more was sent again than had been on its way"
    assert 0.001 * again.total() <= CAP_USD
