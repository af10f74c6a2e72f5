"""Writes docs/reference/commands.md from the command line itself: python docs/generate.py. A test holds that it is current."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer.main

from podium.cli.app import app

PAGE = Path(__file__).parent / "reference" / "commands.md"
HEAD = """# Commands

Made from the command line itself by `python docs/generate.py`. `podium COMMAND --help` prints the same.
What each exit code means: [Errors](errors.md#exit-codes). The same from Python: [Every command in Python](../howto/python.md).
"""


def commands_page() -> str:
    """The page as it should be."""
    return "\n".join((HEAD, *_sections(typer.main.get_command(app), "podium")))


def _sections(command: Any, name: str) -> Iterator[str]:
    """A command and, below it, its parts."""
    inner = getattr(command, "commands", None)  # a group has them
    if name != "podium":
        yield f"{'##' if name.count(' ') == 1 else '###'} `{name}`\n"
        yield f"{_line(command.help)}\n"
    if inner is not None:
        for part, sub in inner.items():
            yield from _sections(sub, f"{name} {part}")
        return
    params = [param for param in command.params if param.name != "help"]
    if params:
        yield "| flag | default | what it does |\n|---|---|---|"
        yield from (_row(param) for param in params)
        yield ""


def _row(param: Any) -> str:
    argument = param.param_type_name == "argument"
    names = [param.name.upper()] if argument else [*param.opts, *param.secondary_opts]
    default = param.default
    shown = "" if default is None or default is False or default == [] else str(default)
    if param.required:
        shown = "required"
    return f"| `{', '.join(names)}` | {shown} | {_line(param.help)} |"


def _line(text: str | None) -> str:
    """One line that can stand in a table, and that no Markdown reader takes for HTML."""
    return " ".join((text or "").split()).replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")


if __name__ == "__main__":
    PAGE.write_text(commands_page(), encoding="utf-8")
