"""Questions to the person at the terminal. Where nobody can answer, the answer is no."""

import sys
from pathlib import Path

from rich.text import Text

from podium.cli.screen import Screen
from podium.errors import ConfigError


def agreed(question: str) -> bool:
    """Whether a person says yes. Asked on standard error: standard output is the command's own."""
    return answered(f"{question} [y/N]").lower() in ("y", "yes")


def answered(question: str, default: str = "") -> str:
    """What a person writes, or ``default``.

    Ask outside the event loop, which would keep Ctrl-C to itself until there is an answer.
    """
    Screen(file=sys.stderr, stderr=True).print(Text(question), end=" ", soft_wrap=True)
    return sys.stdin.readline().strip() or default


def is_somebody_there() -> bool:
    """Whether questions can be answered."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def has_folder(flag: str, path: Path) -> None:
    """Raises :class:`ConfigError` where the folder of ``path`` is missing, and nobody says that it should be made."""
    if (folder := path.parent).is_dir():
        return
    if not (is_somebody_there() and agreed(f"There is no folder {folder} for {flag}. Make it?")):
        raise ConfigError(f"there is no folder {folder} for {flag} {path}; make it (mkdir -p {folder}), or name another file")
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise ConfigError(f"can not make {folder}: {error.strerror}") from error
