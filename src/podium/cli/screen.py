"""The terminal: one kind of console for every command."""

import os
import sys

from rich.console import Console
from rich.text import Text


class Screen(Console):
    """A console that outlives its reader: after ``podium ... | head`` the run goes on, quietly, and keeps what it paid for."""

    def on_broken_pipe(self) -> None:
        """Send what is still printed nowhere."""
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


SIMULATED = "simulated: the built-in workers cost nothing"
"""Said beside dollars that nobody pays."""


def note(text: str) -> None:
    """Say something beside the output."""
    Screen(stderr=True).print(Text(text), soft_wrap=True)
