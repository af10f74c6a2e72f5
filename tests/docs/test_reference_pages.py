"""The reference says what the code says: commands, errors, public names, floors, old and new names."""

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

import podium
from docs.generate import PAGE, commands_page
from podium.cli.app import app
from podium.cli.outcome import EXIT_CODES, INTERRUPTED
from podium.errors import Blame
from podium.serving.api_errors import problem_of
from tests.test_architecture import FLOORS, all_errors

DOCS = Path(__file__).parents[2] / "docs"
PACKAGE = Path(podium.__file__).parent


def rows(page: str, heading: str) -> list[list[str]]:
    """The cells of the first table below a heading, without its head."""
    text = (DOCS / page).read_text().split(f"## {heading}\n", 1)[1]
    table = re.search(r"(?:^\|.*\n)+", text, re.MULTILINE)
    assert table is not None
    return [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in table.group().splitlines()[2:]]


def test_the_page_of_commands_is_what_the_command_line_says() -> None:
    assert PAGE.read_text() == commands_page(), "run: python docs/generate.py"


def test_every_error_is_described_with_its_blame_and_its_status() -> None:
    described = {name: (blame, int(status)) for name, blame, status, *_ in rows("reference/errors.md", "All of them")}
    assert described == {error.__name__: (str(error.blame), problem_of(error("why")).status) for error in all_errors()}
    assert all(meaning and advice for *_, meaning, advice in rows("reference/errors.md", "All of them"))


def test_the_exit_codes_are_those_of_the_command_line() -> None:
    codes = {int(code): means for code, means in rows("reference/errors.md", "Exit codes")}
    assert {codes[code] for code in EXIT_CODES.values()} == set(Blame)
    assert all(codes[EXIT_CODES[blame]] == blame for blame in Blame)
    assert set(codes) == {0, *EXIT_CODES.values(), INTERRUPTED}


def test_every_public_name_has_its_place() -> None:
    shown = re.findall(r"^::: podium\.(\w+)$", (DOCS / "reference" / "python.md").read_text(), re.MULTILINE)
    assert sorted(shown) == podium.__all__


def test_the_floors_are_those_of_the_test() -> None:
    drawn = [set(re.findall(r"\w+", names)) for _, names, _ in rows("architecture.md", "Floors")]
    assert drawn[::-1] == FLOORS


@pytest.mark.parametrize(("old", "new", "module"), rows("changes_0_2.md", "Classes"))
def test_new_names_are_there_and_old_ones_are_not(old: str, new: str, module: str) -> None:
    found = importlib.import_module(module)
    assert hasattr(found, new)
    assert not hasattr(found, old) or getattr(found, old).__module__ != module


@pytest.mark.parametrize(("old", "new"), rows("changes_0_2.md", "Modules"))
def test_moved_files_have_moved(old: str, new: str) -> None:
    assert (PACKAGE / new).exists()
    assert not (PACKAGE / old).exists()


TWINS = re.findall(r"^\| (`podium .*?) \| (.*) \|$", (DOCS / "howto" / "python.md").read_text(), re.MULTILINE)
"""Commands, and what they are in Python."""


def commands(command: Any, name: str) -> Iterator[str]:
    """The names of all commands below ``command``."""
    inner = getattr(command, "commands", None)
    if inner is None:
        yield name
    else:
        for part, sub in inner.items():
            yield from commands(sub, f"{name} {part}")


@pytest.mark.parametrize("command", sorted(commands(typer.main.get_command(app), "podium")))
def test_every_command_has_a_twin_in_python(command: str) -> None:
    assert [python for shown, python in TWINS if re.match(rf"`{command}( |`)", shown)]


@pytest.mark.parametrize(
    "twin", sorted({name for _, shown in TWINS for name in re.findall(r"(?:podium|store)(?:\.\w+)+", shown)})
)
def test_what_a_command_is_in_python_is_there(twin: str) -> None:
    """Every dotted name of the tables, methods included."""
    first, *rest = twin.replace("store.", "podium.serving.store.").split(".")
    found: object = importlib.import_module(first)
    for depth, part in enumerate(rest, 1):
        path = ".".join((first, *rest[:depth]))
        found = getattr(found, part) if hasattr(found, part) else importlib.import_module(path)


def test_roles_of_docstrings_become_names() -> None:
    pytest.importorskip("griffe", reason="comes with the extra that builds the site: make docs")
    plain = importlib.import_module("docs.roles").plain
    assert plain("Raises :class:`podium.errors.ConfigError`. Example::\n\n    x") == "Raises `ConfigError`. Example:\n\n    x"
