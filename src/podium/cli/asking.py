"""Questions to the person at the terminal. Where nobody can answer, the answer is no."""

import sys
from pathlib import Path

from rich.text import Text

from podium.cli.screen import Screen
from podium.errors import ConfigError


def agreed(question: str) -> bool:
    """Whether a person says yes; what is neither yes nor no is asked for once more."""
    said = answered(f"{question} [y/N]", "n").lower()
    return (said if said in ("y", "yes", "n", "no") else answered("Please say yes or no. [y/N]").lower()) in ("y", "yes")


def answered(question: str, default: str = "") -> str:
    """What a person writes, or ``default``. Asked outside the event loop, which would keep Ctrl-C until there is an answer."""
    Screen(file=sys.stderr, stderr=True).print(Text(question), end=" ", soft_wrap=True)
    if not (line := sys.stdin.readline()) and sys.stdin.isatty():
        raise KeyboardInterrupt  # Ctrl-D leaves; it is no yes to what is usual
    return line.strip() or default


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
