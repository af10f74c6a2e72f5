"""What one process sees of another although it is no object: folder, environment, arguments, random numbers, standard streams.

Tests and program run in two processes that should look like one. With every message goes what changed since the last:
``random.seed(0)`` in a test is a seed for the program, and ``os.chdir`` in the program is one for the tests. The standard
streams and arguments go one way only, from the tests to the program. Plain data; the tests' end checks what it takes over: of
random numbers only that some were drawn, or the program would choose the inputs that tests draw for it.
"""

import os
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

_FOLDER, _CHANGE = os.getcwd, os.chdir
MAX_BLOCKS = 500
"""So many times 624 numbers a program may draw between two messages; after more, the tests go on with their own."""
_STEERING = ("PATH", "HOME", "ENV", "BASH_ENV", "IFS")
STREAMS = ("stdin", "stdout", "stderr")


class Mirror:
    """One end. ``leaving`` is what changed here, None where nothing did; ``arrived`` takes over what changed there.

    Example: after ``os.environ["A"] = "b"``, ``mirror.leaving() == {"environ": {"A": "b"}}``, once.
    """

    def __init__(self, *, careful: bool = False) -> None:
        self._careful = careful
        self._folder = _FOLDER()
        self._environ = dict(os.environ)
        self._random: Any = None
        self.steered: set[str] = set()
        """Of the variables that the other end set, those that say which programs and libraries a new process runs."""

    def leaving(self) -> dict[str, Any] | None:
        """What changed here since this was last asked for."""
        state: dict[str, Any] = {}
        try:
            folder = _FOLDER()
        except OSError:
            folder = self._folder  # it was removed; the other end finds that out by itself
        if folder != self._folder:
            state["folder"] = self._folder = folder
        environ = dict(os.environ)
        if environ != self._environ:
            names = environ.keys() | self._environ.keys()
            state["environ"] = {name: environ.get(name) for name in names if environ.get(name) != self._environ.get(name)}
            self._environ = environ
        random = sys.modules.get("random")
        numbers = getattr(random, "getstate", lambda: None)()
        if numbers is not None and numbers != self._random:
            state["random"] = [numbers[0], list(numbers[1]), numbers[2]]
            self._random = numbers
        return state or None

    def arrived(self, state: Any) -> None:
        """Take over what changed there. Raises TypeError or ValueError where it is no such change."""
        if not isinstance(state, dict) or not set(state) <= {"folder", "environ", "random", "told"}:
            raise ValueError("no state")
        if "folder" in state:
            try:
                _CHANGE(str(state["folder"]))
            except OSError:
                pass  # gone already, as it would be in one process
            else:
                self._folder = _FOLDER()
        for name, value in state.get("environ", {}).items():
            if name in _STEERING or name.startswith(("PYTHON", "LD_")):
                self.steered.add(name)
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        self._environ = dict(os.environ)
        if "random" in state:
            version, numbers, following = state["random"]
            random: Any = import_module("random")  # takes longer to import than most programs run
            sent = (version, tuple(numbers), following)
            if not self._careful:
                random.setstate(sent)
            elif _was_drawn(random, sent):
                random.setstate((version, tuple(numbers), None))
            self._random = random.getstate()


def _was_drawn(random: Any, sent: tuple[Any, ...]) -> bool:
    """Whether ``sent`` is the state of ``random`` after some numbers were drawn from it, and no state of anybody's choice."""
    drawn = random.Random()
    drawn.setstate(random.getstate())
    first = drawn.getstate()[1][-1]
    for block in range(MAX_BLOCKS):
        if drawn.getstate()[1][:-1] == sent[1][:-1]:
            return sent[0] == drawn.VERSION and (block > 0 or sent[1][-1] >= first)
        drawn.getrandbits(624 * 32)
    return False


class Streams:
    """The tests' standard streams and arguments, where they put others in their place."""

    def __init__(self) -> None:
        self._original = {name: getattr(sys, name) for name in STREAMS}
        self._told: dict[str, Any] = dict(self._original)
        self._argv = list(sys.argv)

    def leaving(self, encode: Callable[[Any], Any]) -> dict[str, Any] | None:
        """What the tests changed, encoded: a stream, or None for the original."""
        told: dict[str, Any] = {}
        for name, original in self._original.items():
            now = getattr(sys, name)
            if now is not self._told[name]:
                self._told[name] = now
                told[name] = encode(None if now is original else now)
        if sys.argv != self._argv:
            self._argv = list(sys.argv)
            told["argv"] = encode(self._argv)
        return told or None

    def arrived(self, told: dict[str, Any], decode: Callable[[Any], Any]) -> None:
        """Put them in place, in the program."""
        for name, data in told.items():
            value = decode(data)
            setattr(sys, name, self._original[name] if value is None and name in self._original else value)
