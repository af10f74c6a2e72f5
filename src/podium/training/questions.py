"""Questions that a recipe names beside those it trains on."""

from collections.abc import Callable, Sequence

from podium.errors import ConfigError
from podium.types import Problem


def questions_of(name: str, make: Callable[[], Sequence[Problem]]) -> list[Problem]:
    """What ``make`` makes. Raises :class:`ConfigError`, with the ``name`` of the setting, where that is anything but problems."""
    made = make()
    if not isinstance(made, list | tuple) or not all(isinstance(problem, Problem) for problem in made):
        raise ConfigError(f"{name} has to make a list of podium.Problem, as problems does; a question alone has no kind")
    return list(made)
