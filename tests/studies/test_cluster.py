"""A study on a cluster: the same lines as on one machine, also where a process dies in the middle."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from typer.testing import CliRunner

from podium.cli.app import app
from podium.studies.cluster import PROBLEMS

STUDY = """
title = "On a cluster"
out = "{out}"
arms = ["worker:brook", "mixture", "best"]
repeats = 2
[problems]
gym = 30
"""


def podium(*arguments: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, "-m", "podium", *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def lines(out: Path) -> list[str]:
    file = out / "results.jsonl"
    return file.read_text().splitlines() if file.exists() else []


def busy_processes() -> Iterator[int]:
    """Processes of Ray that are answering a share just now."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                if (entry / "cmdline").read_bytes().startswith(b"ray::answered"):
                    yield int(entry.name)
            except OSError:
                continue  # it has ended meanwhile


def test_a_cluster_gives_the_same_lines_though_a_process_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(STUDY.format(out=tmp_path / "here"))
    assert CliRunner().invoke(app, ["evaluate", str(path)]).exit_code == 0
    expected = lines(tmp_path / "here")
    assert len(expected) == 3 * 270 * 2

    out = tmp_path / "cluster"
    run = podium("evaluate", str(path), "--out", str(out), "--engine", "ray", "--address", "local:2")
    killed: list[int] = []
    while run.poll() is None and not killed:
        if len(lines(out)) > 3 * 2 * PROBLEMS:  # in the middle: a share is done, most are not
            for process in busy_processes():
                os.kill(process, signal.SIGKILL)
                killed.append(process)
                break
        time.sleep(0.01)
    said, _ = run.communicate(timeout=120)
    assert run.returncode == 0, said.decode()
    assert killed, "there was nothing left to kill"
    assert sorted(lines(out)) == sorted(expected)
    assert (out / "report.html").exists()


def test_a_cluster_keeps_the_cap(tmp_path: Path) -> None:
    path, out = tmp_path / "study.toml", tmp_path / "out"
    path.write_text(STUDY.format(out=out))
    run = podium("evaluate", str(path), "--engine", "ray", "--address", "local:2", "--max-usd", "0.01")
    said, _ = run.communicate(timeout=120)
    assert run.returncode == 2, said.decode()
    assert b"BudgetExceeded" in said
    assert 0 < len(lines(out)) < 3 * 270 * 2, "what was answered is kept"


def test_caps_that_a_cluster_can_not_keep_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(STUDY.format(out=tmp_path / "out"))
    run = podium("evaluate", str(path), "--engine", "ray", "--address", "local:2", "--budget-tokens", "1000")
    said, _ = run.communicate(timeout=60)
    assert run.returncode == 2, said.decode()
    assert b"a cap in dollars only" in said


def test_no_cluster_is_said(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(STUDY.format(out=tmp_path / "out"))
    run = podium("evaluate", str(path), "--engine", "ray", "--address", "local:many")
    said, _ = run.communicate(timeout=60)
    assert run.returncode == 2, said.decode()
    assert b"there is no Ray cluster at" in said
