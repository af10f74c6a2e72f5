"""A command is declared in one place (its flags and their help) and carried out in another, which is loaded when it runs."""

import asyncio
import inspect
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any

from podium.errors import ConfigError
from podium.extras import need

DECLARED: list[tuple[Callable[..., None], str]] = []
"""Every declaration, and who carries it out. A test holds that both take the same flags."""


def carried_out_by(place: str, *needs: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """For the declaration of a command: the function at ``place`` (``"podium.cli.ask:ask"``) is given its flags by name.

    ``needs`` are the extras of Podium that have to be installed. Before, the declaration's own body may refuse a mistake, and a
    ``journal`` needs its folder and a pool that is paid for. :func:`podium.cli.outcome.guarded` says how failures end it.
    """

    def decorate(declared: Callable[..., None]) -> Callable[..., None]:
        DECLARED.append((declared, place))

        @wraps(declared)
        def run(**flags: Any) -> None:
            from podium.cli.outcome import guarded

            with guarded(declared.__name__, goes_on=not flags.keys().isdisjoint(("out", "journal"))):
                declared(**flags)
                if isinstance(journal := flags.get("journal"), Path):
                    from podium.cli.asking import has_folder

                    has_folder("--journal", journal)
                    if flags.get("pool") is None:
                        raise ConfigError("--journal keeps paid replies, and without --pool none is paid for; leave it out")
                need(*needs)
                done = find(place)(**flags)
                if inspect.iscoroutine(done):
                    asyncio.run(done)

        return run

    return decorate


def find(place: str) -> Callable[..., Any]:
    """The function at ``place``."""
    module, _, name = place.partition(":")
    found: Callable[..., Any] = getattr(import_module(module), name)
    return found
