"""The certificate as one runs it, in small: any module with a world and workers, one table, one JSON object last."""

import json
import re
from pathlib import Path

import pytest

from benchmarks import certificate
from podium.gym import certify, opponents, optimum
from podium.gym.certify import BOUNDS

WORLD = """
from podium.gym.drawing import draw_profiles
from podium.gym.specialists import specialists
from podium.gym.world import World

WORLD = World(seed=8, profiles=draw_profiles(8, 5){more})
WORKERS = specialists(WORLD)
"""


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches of a few seconds."""
    for module, name, size in (
        (optimum, "SEARCH", 8),
        (optimum, "CHOICE", 12),
        (opponents, "SEARCH", 2),
        (opponents, "CHOICE", 6),
        (opponents, "_REFINE", 3),
        (opponents, "_FINALISTS", 2),
        (certify, "SEARCH", 2),
        (certify, "CHOICE", 6),
        (certificate, "QUICK", (12, 1)),
    ):
        monkeypatch.setattr(module, name, size)


@pytest.mark.usefixtures("small")
def test_a_module_with_a_world_and_workers_is_certified(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.py"
    file.write_text(WORLD.format(more=", difficulty=0.0"), encoding="utf-8")
    # Everybody is perfect, so that the first worker alone does it all: a world that needs no conductor.
    assert certificate.run(file, (), quick=True, store=False) == 1
    printed = capsys.readouterr().out.splitlines()
    figures = json.loads(printed[-1])
    assert {*BOUNDS, "oracle_share"} <= set(figures)
    assert any(line.startswith("needs no conductor: constant_share") for line in printed)
    assert any(line.startswith("router over solos") for line in printed)
    calls = next(line for line in printed if line.startswith("Calls: "))
    searched, against = (int(part.split()[0].replace(",", "")) for part in calls.removeprefix("Calls: ").split(", "))
    assert against > searched


def test_a_module_without_a_world_says_so(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("WORLD = 1\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="has no WORKERS"):
        certificate.run(file, (), quick=True, store=False)
    with pytest.raises(SystemExit, match="--store keeps what a whole search finds"):
        certificate.run(file, (), quick=True, store=True)


@pytest.mark.usefixtures("small")
def test_several_drawn_worlds_get_a_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    status = certificate.run(None, (6, 8), quick=True, store=False)
    *lines, last = capsys.readouterr().out.splitlines()
    assert [line.split(",")[0] for line in lines] == ["draw 6", "draw 8"]
    found = json.loads(last)
    assert [each["draw"] for each in found["worlds"]] == [6, 8]
    assert found["holding"] == sum(line.endswith("; holds") for line in lines)
    assert status == (found["holding"] < 1.8), "one in ten may be refused"
    for line in lines:
        searched, against = re.findall(r"([\d,]+) and ([\d,]+) calls", line)[0]
        assert int(against.replace(",", "")) >= int(searched.replace(",", "")), "a quick certificate makes as many"
