"""Tunes and studies started from the page: one at a time, with a cap, by those who may; stopped, and seen by another server."""

import fcntl
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from podium.errors import ConfigError
from podium.page.learning_jobs import Job, LearningJobs, dollars
from podium.tuning.run import LEAST_CALLS
from tests.page.conftest import Served, Watched

EVIL = '<img src=x onerror="window.hit=1">'
SLOW = ("--gym", "600", "--max-calls", "100000", "--no-gate")


@pytest.fixture
def jobs(tmp_path: Path) -> Iterator[LearningJobs]:
    made = LearningJobs(tmp_path / "runs", None, tmp_path)
    yield made
    made.stop()
    over(made)


def over(jobs: LearningJobs) -> Job | None:
    """What was started, when it is over."""
    until = time.monotonic() + 120
    while (job := jobs.latest()) is not None and job.under_way and time.monotonic() < until:
        time.sleep(0.1)
    return job


@pytest.mark.parametrize("cap", ["", " ", "0", "-1", "nan", "inf", "1e3", "10001", "1; rm", "٣", "1,5", "0.0000001"])
def test_there_is_no_job_without_a_cap(cap: str) -> None:
    with pytest.raises(ConfigError, match="at most, in dollars"):
        dollars(cap)


def test_one_at_a_time_seen_and_stopped_by_another_server(jobs: LearningJobs, tmp_path: Path) -> None:
    assert jobs.latest() is None
    jobs.start("tune", "mine", usd=2.5, more=SLOW)
    other = LearningJobs(tmp_path / "runs", None, tmp_path)
    for each in (jobs, other):
        with pytest.raises(ConfigError, match="under way already"):
            each.start("study", "second", usd=1.0, more=[])
    job = other.latest()
    assert job is not None
    assert (job.kind, job.name, job.usd, job.under_way) == ("tune", "mine", 2.5, True)
    until = time.monotonic() + 60
    while not (words := Path(f"/proc/{job.pid}/cmdline").read_text()) and time.monotonic() < until:
        time.sleep(0.05)  # a process that has only just begun has no words yet
    command = words.split("\0")
    assert command[command.index("--max-usd") + 1] == "2.500000"
    other.stop()
    other.stop()
    ended = over(jobs)
    assert ended is not None
    assert not ended.under_way
    jobs.stop()
    assert not (tmp_path / "runs" / "second").exists()


def test_a_killed_one_leaves_room_for_the_next_and_says_how_it_ended(jobs: LearningJobs, tmp_path: Path) -> None:
    jobs.start("tune", "mine", usd=1.0, more=SLOW)
    job = jobs.latest()
    assert job is not None
    os.kill(job.pid, 9)
    killed = over(jobs)
    assert killed is not None
    assert not killed.has_result
    jobs.start("tune", "mine", usd=1.0, more=["--file", str(tmp_path / "missing.jsonl")])
    ended = over(jobs)
    assert ended is not None
    assert "missing.jsonl" in ended.said


@pytest.mark.parametrize("name", ["", "..", "../x", "/etc", "a/b", "-x", "A", "a" * 41, "a\n", "a b"])
def test_its_folder_lies_below_that_of_the_runs(jobs: LearningJobs, name: str) -> None:
    with pytest.raises(ConfigError, match="small letters"):
        jobs.start("tune", name, usd=1.0, more=[])


def test_a_tuned_policy_is_not_written_over_and_a_report_is_its_own(jobs: LearningJobs, tmp_path: Path) -> None:
    left = tmp_path / "runs" / "mine"
    left.mkdir(parents=True)
    (left / "policy.json").touch()
    (left / "report.md").touch()
    with pytest.raises(ConfigError, match="name another folder"):
        jobs.start("tune", "mine", usd=1.0, more=SLOW)
    kept = tmp_path / "runs" / ".learning"
    kept.mkdir()
    (kept / "words.log").touch()
    for started, has_result in ((time.time() - 60, True), (time.time() + 60, False)):
        (kept / "job.json").write_text(json.dumps({"kind": "tune", "name": "mine", "pid": 4711, "started": started, "usd": 1.0}))
        job = jobs.latest()
        assert job is not None
        assert job.has_result is has_result, "a report of an earlier one is none of this one"


def test_only_what_is_listed_is_chosen(jobs: LearningJobs, tmp_path: Path) -> None:
    (tmp_path / "mine.jsonl").touch()
    (tmp_path / "pool.toml").write_text("[[worker]]\n")
    (tmp_path / "broken.toml").write_text("[")
    (tmp_path / "study.toml").write_text('title = "t"\narms = ["worker:*"]\nout = "x"\n[problems]\ngym = 20\n')
    assert jobs.problem_files() == ["mine.jsonl"]
    assert jobs.study_files() == ["study.toml"]
    assert jobs.study_arguments("study.toml") == [str(tmp_path / "study.toml")]
    assert jobs.tune_arguments("200", "300", "cheap") == ["--gym", "200", "--max-calls", "300", "--prefer", "cheap"]
    own = LearningJobs(tmp_path / "runs", tmp_path / "pool.toml", tmp_path)
    assert own.tune_arguments("mine.jsonl", "900", "cheap")[:4] == [
        "--file",
        str(tmp_path / "mine.jsonl"),
        "--pool",
        str(tmp_path / "pool.toml"),
    ]
    for wrong in ("../mine.jsonl", "/etc/passwd", "--gym", ""):
        with pytest.raises(ConfigError):
            jobs.tune_arguments(wrong, "300", "cheap")
        with pytest.raises(ConfigError):
            jobs.study_arguments(wrong)
    for calls in ("", "0", "-1", "x", "9999999", str(LEAST_CALLS - 1)):
        with pytest.raises(ConfigError, match="how many calls"):
            jobs.tune_arguments("200", calls, "cheap")
    with pytest.raises(ConfigError):
        own.tune_arguments("200", "300", "cheap")


def test_a_folder_that_somebody_else_wrote_to(jobs: LearningJobs, tmp_path: Path) -> None:
    kept = tmp_path / "runs" / ".learning"
    kept.mkdir(parents=True)
    (kept / "words.log").touch()
    right: dict[str, object] = {"kind": "tune", "name": "mine", "pid": 4711, "started": 0.0, "usd": 1.0}
    broken = [
        right | odd
        for odd in (
            {"pid": -1},
            {"pid": 1},
            {"pid": 2**40},
            {"pid": "x"},
            {"usd": "many"},
            {"started": None},
            {"pid": float("inf")},
        )
    ]
    for wrong in ("{", "[]", '"x"', *map(json.dumps, ({"kind": "tune", "pid": 1}, *broken))):
        (kept / "job.json").write_text(wrong)
        assert jobs.latest() is None
        jobs.stop()


def test_a_failure_of_many_lines_is_told_by_its_first(jobs: LearningJobs, tmp_path: Path) -> None:
    kept = tmp_path / "runs" / ".learning"
    kept.mkdir(parents=True)
    (kept / "job.json").write_text(json.dumps({"kind": "study", "name": "mine", "pid": 4711, "started": 0.0, "usd": 1.0}))
    (kept / "words.log").write_text("arm 1 of 2\nConfigError: arm 'x': there is no such policy\nArms are:\n  worker:NAME\n\n")
    ended = jobs.latest()
    assert ended is not None
    assert ended.said == "ConfigError: arm 'x': there is no such policy"
    with (kept / "lock").open("a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        going_on = jobs.latest()
    assert going_on is not None
    assert going_on.said == "worker:NAME"


def test_a_tune_is_started_and_stopped_on_the_page(served: Served, watched: Watched) -> None:
    page = watched.page
    page.goto(f"{served.address}/tuning")
    page.get_by_text("Start one").click()
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.locator("[role=alert]:visible")).to_contain_text("say what it may cost at most")
    page.get_by_label("At most, in dollars").fill("1")
    page.get_by_label("At most, in calls").fill("100000")
    page.get_by_label("Folder").fill("page_tune")
    other = page.context.new_page()
    other.goto(f"{served.address}/tuning")
    other.get_by_text("Start one").click()
    other.get_by_label("At most, in dollars").fill("1")
    kept = served.folder / "training" / ".learning"
    kept.mkdir(exist_ok=True)
    with (kept / "lock").open("w") as lock:  # as another server holds it whose job was not written down yet
        fcntl.flock(lock, fcntl.LOCK_EX)
        for each in (page, other):
            each.get_by_role("button", name="Start", exact=True).click()
            expect(each.locator("[role=alert]:visible")).to_contain_text("under way already")
    page.get_by_role("button", name="Start", exact=True).dblclick()
    state = page.get_by_role("region", name="Under way")
    expect(state).to_contain_text("A tune in page_tune is under way for 0 min, for at most $1.")
    expect(page.get_by_role("button", name="Start", exact=True)).to_be_disabled()
    expect(page.locator("[role=alert]:visible")).to_have_count(0)
    words = kept / "words.log"
    with words.open("a") as written:
        written.write(f"{EVIL}\n")
    expect(other.get_by_role("region", name="Under way")).to_contain_text("page_tune is under way")
    studies = page.context.new_page()
    studies.goto(f"{served.address}/studies")
    studies.get_by_role("button", name="Stop it").click()
    expect(state).to_contain_text("A tune in page_tune is over and left no result.")
    expect(other.get_by_role("region", name="Under way")).to_contain_text("A tune in page_tune is over and left no result.")
    expect(other.locator("[role=alert]:visible")).to_have_count(0)
    expect(page.get_by_role("button", name="Start", exact=True)).to_be_enabled()
    other.reload()
    expect(other.get_by_role("region", name="Under way")).to_contain_text("is over and left no result.")
    expect(other.get_by_role("button", name="Stop it")).to_be_hidden()
    studies.reload()
    expect(studies.get_by_role("heading", name="Studies")).to_be_visible()
    expect(studies.get_by_role("region", name="Under way")).to_be_hidden()
    assert page.evaluate("window.hit") is None
    assert other.evaluate("window.hit") is None
    other.close()
    studies.close()


def test_a_job_of_a_kind_and_a_name_that_nobody_starts_is_told_all_the_same(jobs: LearningJobs, tmp_path: Path) -> None:
    kept = tmp_path / "runs" / ".learning"
    kept.mkdir(parents=True)
    (kept / "words.log").write_text("")
    for kind, name in (("other", "mine"), ("tune", "../mine"), ("study", "x" * 5_000), ("tune", "\0")):
        (kept / "job.json").write_text(json.dumps({"kind": kind, "name": name, "pid": 4711, "started": 0.0, "usd": 1.0}))
        found = jobs.latest()
        assert found is not None, (kind, name)
        assert not found.has_result
