"""A command is declared in one place (its flags and their help) and carried out in another, which is loaded when it runs."""

import asyncio
import inspect
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any

from podium.extras import need

DECLARED: list[tuple[Callable[..., None], str]] = []
"""Every declaration, and who carries it out. A test holds that both take the same flags."""


def carried_out_by(place: str, *needs: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """For the declaration of a command: the function at ``place`` (``"podium.cli.ask:ask"``) is given its flags by name.

    ``needs`` are the extras of Podium that have to be installed. The declaration's own body runs first, so it can refuse a
    mistake before anything is loaded; then the folder of a ``journal`` has to be there. Failures of either end the command as
    :func:`podium.cli.outcome.guarded` says.
    """

    def decorate(declared: Callable[..., None]) -> Callable[..., None]:
        DECLARED.append((declared, place))

        @wraps(declared)
        def run(**flags: Any) -> None:
            from podium.cli.outcome import guarded

            with guarded(declared.__name__):
                declared(**flags)
                if isinstance(journal := flags.get("journal"), Path):
                    from podium.cli.asking import has_folder

                    has_folder("--journal", journal)
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
