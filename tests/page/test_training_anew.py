"""A run of training that was started anew in the same folder is read anew, whatever its files look like."""

from pathlib import Path

import pytest

from podium.page.training_files import TrainingRun
from tests.page.training_run import add_iteration, write_run


def started(folder: Path, iterations: int) -> TrainingRun:
    write_run(folder, iterations=iterations)
    run = TrainingRun(folder)
    assert run.read_on()
    assert not run.read_on()
    return run


def numbers(run: TrainingRun) -> list[int]:
    return [each.number for each in run.iterations]


@pytest.mark.parametrize(("first", "count"), [(20, 2), (4, 4), (20, 4), (40, 9)])
def test_other_lines_shorter_as_long_or_longer(tmp_path: Path, first: int, count: int) -> None:
    folder = tmp_path / "a"
    run = started(folder, 4)
    for name in ("metrics.jsonl", "groups.jsonl"):
        (folder / name).write_text("")
    for number in range(first, first + count):
        add_iteration(folder, number)
    assert run.read_on()
    assert numbers(run) == list(range(first, first + count))
    assert sorted(run.workers) == list(range(first, first + count))
    assert run.early[0].iteration == first
    assert run.starts == 2
    assert not run.read_on()
    add_iteration(folder, 99)
    assert run.read_on()
    assert numbers(run)[-1] == 99
    assert run.starts == 2


def test_the_same_length_with_other_content(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    run = started(folder, 3)
    metrics = folder / "metrics.jsonl"
    before = metrics.stat().st_size
    metrics.write_text(metrics.read_text().replace('"correct": 0.2', '"correct": 0.9').replace('"steps": 2.0', '"steps": 3.0'))
    assert metrics.stat().st_size == before
    assert run.read_on()
    assert numbers(run) == [0, 1, 2]
    assert run.iterations[0].numbers["correct"] == 0.9
    assert sum(run.workers[0].values()) == 4, "the other file is read anew with it, and nothing is counted twice"


def test_a_resumed_run_that_lost_its_last_iterations(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    run = started(folder, 5)
    for name in ("metrics.jsonl", "groups.jsonl"):
        lines = (folder / name).read_text().splitlines(keepends=True)
        (folder / name).write_text("".join(lines[:3]))
    assert run.read_on()
    assert numbers(run) == [0, 1, 2]
    assert max(run.workers) == 2


def test_one_file_is_written_anew_before_the_other(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    run = started(folder, 3)
    (folder / "metrics.jsonl").write_text("")
    assert run.read_on()
    assert run.iterations == []
    (folder / "groups.jsonl").unlink()
    add_iteration(folder, 7)
    assert run.read_on()
    assert numbers(run) == [7]
    assert sorted(run.workers) == [7]


def test_a_file_that_is_away_for_a_moment_is_no_new_one(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    run = started(folder, 3)
    (folder / "metrics.jsonl").rename(tmp_path / "elsewhere")
    assert not run.read_on()
    assert numbers(run) == [0, 1, 2]
    (tmp_path / "elsewhere").rename(folder / "metrics.jsonl")
    assert not run.read_on()
    assert run.starts == 1
