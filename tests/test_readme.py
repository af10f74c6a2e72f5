"""What the README and the examples say is true: every Python block and every example runs, every file linked exists."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import podium
from podium.workers.config import read_pool

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[tuple[str, str]]:
    found = [(page.name, text) for page in PAGES for kind, text in BLOCK.findall(page.read_text()) if kind == language]
    assert found
    return found


@pytest.mark.parametrize(("page", "code"), blocks("python"))
def test_python_blocks_run(page: str, code: str) -> None:
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=60)


@pytest.mark.parametrize(("page", "text"), blocks("toml"))
def test_pool_files_are_valid(page: str, text: str, tmp_path: Path) -> None:
    (tmp_path / "pool.toml").write_text(text)
    assert read_pool(tmp_path / "pool.toml").workers


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.name)
def test_examples_are_short_and_run(example: Path) -> None:
    assert len(example.read_text().splitlines()) <= 40
    done = subprocess.run([sys.executable, "-W", "error", example], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_named_in_backticks_exist(page: Path) -> None:
    places = (ROOT, ROOT / "src" / "podium", ROOT / "src" / "podium" / "workflow")
    for name in re.findall(r"`([\w/]+\.(?:py|toml|json))`", page.read_text()):
        if name != "pool.toml":
            assert any((place / name).exists() for place in places), f"{page.name} names {name}"


COMMAND = re.compile(
    r"^podium (\w+)(?: (list|show|check|serve|problems|ledger|probe|create|change|correct|revoke|export|delete))?([^#\n]*)",
    re.MULTILINE,
)


def test_commands_shown_exist_with_their_flags() -> None:
    flags: dict[str, set[str]] = {}
    for _, text in blocks("sh"):
        for command, part, rest in COMMAND.findall(text):
            flags.setdefault(f"{command} {part}".strip(), set()).update(re.findall(r"--[a-z-]+", rest))
    assert flags["evaluate"] >= {"--max-usd", "--set"}
    for command, named in flags.items():
        done = subprocess.run(
            [sys.executable, "-m", "podium", *command.split(), "--help"],
            check=True,
            capture_output=True,
            text=True,
            env={**os.environ, "COLUMNS": "200"},
        )
        assert not [flag for flag in named if flag not in done.stdout], command


def test_public_names_are_sorted_and_there() -> None:
    assert podium.__all__ == sorted(podium.__all__)
    assert all(hasattr(podium, name) for name in podium.__all__)
    ours = {name for name, value in vars(podium).items() if getattr(value, "__module__", "").startswith("podium.")}
    assert ours <= set(podium.__all__)
