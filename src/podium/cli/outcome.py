"""Blame -> exit code, in one place: 0 answered, 1 the policy wrote no workflow, 2 the user's mistake, 3 the world's fault."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer
from rich.text import Text

from podium.cli.screen import Screen
from podium.errors import Blame, PodiumError
from podium.workflow.draw import plain

EXIT_CODES = {Blame.POLICY: 1, Blame.USER: 2, Blame.WORLD: 3}
INTERRUPTED = 130


@contextmanager
def guarded(command: str = "", *, goes_on: bool = False) -> Iterator[None]:
    """The body of ``command``: a failure ends it with its message and exit code, a bug keeps its traceback.

    ``goes_on``: given again after an interruption, the command goes on with what it wrote.
    """
    try:
        yield
    except PodiumError as error:
        fail(error)
    except KeyboardInterrupt:
        kept = "; what was written is kept: with --out or --journal the same command goes on from there" if goes_on else ""
        _say("interrupted before anything was served" if command == "serve" else f"interrupted{kept}")
        raise typer.Exit(INTERRUPTED) from None


def fail(error: PodiumError) -> NoReturn:
    """End the command with the exit code of ``error``."""
    if error.blame is Blame.POLICY and error.transcripts:
        _say("the policy wrote:\n" + plain(error.transcripts[-1].generation.text)[-2000:])
    _say(f"{type(error).__name__}: {plain(str(error))}")
    raise typer.Exit(EXIT_CODES[error.blame]) from error


def _say(text: str) -> None:
    Screen(file=sys.stderr, stderr=True).print(Text(text), soft_wrap=True)
