"""The end of the tests: what they believe of the program's objects, and what the program may do with theirs.

Of the program's objects only values are believed. An object of the program never equals a value of the tests, whatever its
``__eq__`` says; it is compared by what it holds where it is a list or a dictionary of its own class. Arithmetic with it gives
objects of the program, never numbers, or ``abs(x - 7) < 1e-6`` would be its word; and it tells the program the other
operand, which may be what is expected, so it is refused where the tests name no class of the program. Two objects of the program
are equal where it says so and they hold the same. What the tests put on an object is what they find there. A context manager
of the program swallows no failure of the tests.

The program may call the tests' mocks and functions, read their public attributes, and write those that are data. It never
reaches a test case, a module, a frame, or what makes a mock an assertion.
"""

import sys
import types
import unittest
from itertools import islice
from typing import Any

from podium.tasks.inside.copied import find_class, shadow_error
from podium.tasks.inside.mirror import Mirror, Streams
from podium.tasks.inside.mocks import is_mock, is_mocks_own
from podium.tasks.inside.operations import ARITHMETIC, OPERATIONS
from podium.tasks.inside.reports import receive
from podium.tasks.inside.swallowed import is_own_error
from podium.tasks.inside.wire import Port, Remote, Rules

MAX_SEARCHED = 100_000
_ORDER = ("__lt__", "__le__", "__gt__", "__ge__")
_HELD = (list, tuple, dict, set, frozenset, bytearray)
_DATA = (*_HELD, bool, int, float, complex, str, bytes, type(None))
_NUMBERS = ("__int__", "__float__", "__index__")
_SET_METHODS = ("difference", "symmetric_difference", "intersection", "union", "issubset", "issuperset", "isdisjoint")
_CLAIMS = (*_SET_METHODS, "startswith", "endswith", "is_integer", *(name for name in dir(str) if name.startswith("is")))
"""What a test says about a value with its own methods; of an object they would be the program's word."""
_FRAMES = frozenset(
    [
        "gi_frame",
        "gi_code",
        "gi_yieldfrom",
        "cr_frame",
        "cr_code",
        "cr_await",
        "cr_origin",
        "ag_frame",
        "ag_code",
        "ag_await",
        "tb_frame",
        "tb_next",
        "f_back",
        "f_builtins",
        "f_code",
        "f_globals",
        "f_locals",
        "f_trace",
    ]
)
_WITHHELD = (
    *(types.FrameType, types.CodeType, types.TracebackType, types.ModuleType, types.MappingProxyType, types.CellType),
    *(types.CoroutineType, types.AsyncGeneratorType, unittest.TestCase, unittest.TestResult),
)
_NO_CLASSES = ("unittest", "ctypes", "code", "codeop", "subprocess", "os", "importlib", "runpy", "pdb", "bdb", "types", "_ctypes")


class Suspect(Remote):
    """An object of the program as the tests see it."""

    __slots__ = ("_podium_computed", "_podium_put")

    def __init__(self, port: Port, number: int, types: list[tuple[str, str]]) -> None:
        super().__init__(port, number, types)
        object.__setattr__(self, "_podium_put", {})
        object.__setattr__(self, "_podium_computed", False)

    def __getattr__(self, name: str) -> Any:
        if is_mocks_own(name):
            raise AttributeError(f"{name}: an object of the program is no mock of the tests")
        if name == "__bases__":  # for ``issubclass``
            types = [(str(module), str(kind)) for module, kind in self._podium_port.ask("bases", self)]
            found = self._podium_port.rules.class_of(types)
            return (object if found is None else found,)
        if name in _SET_METHODS and isinstance(held := _held_by(self), set | frozenset):
            return getattr(held, name)
        if name in _CLAIMS and not self._podium_port.rules.has_classes:
            raise AttributeError(f"{name}: an object of the program is no value")
        value = super().__getattr__(name)
        put = self._podium_put.get(name)
        # In the place of an object of the tests the program may put a number or a text, but nothing with attributes of its own.
        is_data = type(value) in _DATA or (isinstance(put, _DATA) and type(value) is not Suspect)
        return value if put is None or is_data else put

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        self._podium_put.pop(name, None)
        if type(value) is not Suspect and value is not None:
            self._podium_put[name] = value

    def __eq__(self, other: object) -> bool:
        if other is self:
            return True
        port: Port = self._podium_port
        if type(other) is not Suspect:
            held = _held_by(self)
            return NotImplemented if held is None else bool(held == other)
        agreed = port.operate(self, "__eq__", (other,), {}) is True
        return agreed and bool(port.ask("state", self) == port.ask("state", other))

    def __ne__(self, other: object) -> bool:
        equal = self.__eq__(other)
        return NotImplemented if equal is NotImplemented else not equal

    def __bool__(self) -> bool:
        if self._podium_computed:
            held = _held_by(self)
            if held is None:
                raise TypeError("whether what was computed with an object of the program is true is its word")
            return bool(held)
        return self._podium_port.operate(self, "__bool__", (), {}) is True

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        swallows = self._podium_port.operate(self, "__exit__", (kind, error, trace), {})
        return error is not None and bool(swallows) and is_own_error(error)

    def __hash__(self) -> int:
        return int(self._podium_port.operate(self, "__hash__", (), {}))

    def __contains__(self, item: object) -> bool:
        return any(part is item or part == item for part in islice(iter(self), MAX_SEARCHED))

    def __instancecheck__(self, value: object) -> bool:
        return type(value) is Suspect and self._podium_port.ask("isinstance", value, self) is True

    def __subclasscheck__(self, value: object) -> bool:
        return type(value) is Suspect and self._podium_port.ask("issubclass", value, self) is True

    def __await__(self) -> Any:
        return _waited(self).__await__()


def _ordered(name: str) -> Any:
    def compare(self: Suspect, other: object) -> Any:
        if type(other) is not Suspect:
            held = _held_by(self)
            return NotImplemented if held is None else OPERATIONS[name](held, other)
        return self._podium_port.operate(self, name, (other,), {}) is True

    return compare


def _computed(name: str) -> Any:
    def compute(self: Suspect, *others: object) -> Any:
        told = self._podium_computed or any(type(other) is not Suspect or other._podium_computed for other in others)
        held = _held_by(self) if told else None
        if isinstance(held, set | frozenset | dict):
            return OPERATIONS[name](held, *others)
        if told and held is None and not self._podium_port.rules.has_classes:
            raise TypeError(f"{name} of an object of the program, which no class that the tests name makes, is not believed")
        value = self._podium_port.operate(self, name, others, {})
        if type(value) is not Suspect:
            if held is not None and value == OPERATIONS[name](held, *others):
                return value
            raise TypeError(f"{name} of an object of the program is not believed where it is a value")
        if told:
            object.__setattr__(value, "_podium_computed", True)
        return value

    return compute


def _number(name: str) -> Any:
    def number(self: Suspect) -> Any:
        if self._podium_computed:
            raise TypeError(f"{name} of what was computed with an object of the program is its word")
        return self._podium_port.operate(self, name, (), {})

    return number


def _held_by(suspect: Suspect) -> Any:
    """The list, dictionary and the like that an object of a class of the program's own holds; None for other objects."""
    held = suspect._podium_port.ask("held", suspect)
    return held if held is None or type(held) in _HELD else suspect._podium_port.broken("what no object holds")


def plain_set(value: Any) -> Any:
    """What ``assertSetEqual`` may ask for its difference: no method of the program."""
    held = _held_by(value) if type(value) is Suspect else value
    if held is None:
        raise AssertionError("an object of the program is no set")
    return held


for _name in _ORDER:
    setattr(Suspect, _name, _ordered(_name))
for _name in ARITHMETIC:
    setattr(Suspect, _name, _computed(_name))
for _name in _NUMBERS:
    setattr(Suspect, _name, _number(_name))


async def _waited(awaitable: Suspect) -> Any:
    return awaitable._podium_port.ask("wait", awaitable)


class TestRules(Rules):
    """What the program may do, and what is believed of it."""

    remote = Suspect
    careful = True

    def __init__(self, *, has_classes: bool = True) -> None:
        self.port: Port
        self.has_classes = has_classes
        """Whether the tests name a class of the program; its functions return nothing but values otherwise."""
        self._mirror, self._streams = Mirror(careful=True), Streams()
        self.steered = self._mirror.steered
        self._errors: dict[tuple[str, str], type[BaseException]] = {}

    def class_of(self, types: list[tuple[str, str]]) -> type | None:
        """A class of the standard library that is loaded here, so that ``isinstance`` says what it would in one process."""
        for module, name in types:
            if module.partition(".")[0] not in _NO_CLASSES and (module, name) != ("builtins", "object"):
                found = find_class(module, name)
                if found is not None:
                    return found
        return None

    def error_class(self, types: list[tuple[str, str]]) -> type[BaseException]:
        """The exception class, or one that stands for it; of those of the test runner only the one that skips."""
        if types[0] in self._errors:
            return self._errors[types[0]]
        known = [find_class(*names) for names in types]
        bases = [found for found in known if found is not None and issubclass(found, BaseException) and not _ends_tests(found)]
        base = bases[0] if bases else Exception
        named = f"{base.__module__}.{base.__qualname__}" == ".".join(types[0])
        self._errors[types[0]] = base if named else shadow_error(*types[0], base)
        return self._errors[types[0]]

    def take(self, remote: Remote) -> Any:
        """A coroutine here is one that lets the program's own run to its end, in the program."""
        return _waited(remote) if remote._podium_types[0] == ("builtins", "coroutine") else remote  # type: ignore[arg-type]

    def may_give(self, value: Any) -> None:
        """The tests' functions, mocks, streams and objects; nothing that leads to the test runner."""
        kind = type(value)
        if issubclass(kind, BaseException) or (isinstance(value, type) and issubclass(value, BaseException)):
            return
        if issubclass(kind, _WITHHELD) or (isinstance(value, type) and issubclass(value, _WITHHELD)) or _is_runner(value):
            raise TypeError(f"tests can not give the program a {kind.__name__}")

    def read(self, target: Any, name: str) -> Any:
        """Public attributes, but not those that make a mock an assertion."""
        if not _is_open(target, name):
            raise AttributeError(f"{name} is not for the program")
        return getattr(target, name)

    def write(self, target: Any, name: str, value: Any) -> None:
        """Data on mocks and on the tests' own objects; never in the place of something that can be called."""
        present = None if is_mock(target) else getattr(target, name, None)
        if not _is_open(target, name) or isinstance(target, type | types.FunctionType) or callable(present):
            raise AttributeError(f"{name} is not for the program to change")
        setattr(target, name, value)

    def erase(self, target: Any, name: str) -> None:
        """Nothing of the tests is deleted by the program."""
        raise AttributeError(f"{name} is not for the program to delete")

    def operate(self, target: Any, name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """The operations on what was given."""
        if type(target) is types.MethodType and not _is_open(target.__self__, target.__name__):
            raise AttributeError(f"{target.__name__} is not for the program")
        return OPERATIONS[name](target, *args, **kwargs)

    def do(self, verb: str, args: list[Any]) -> Any:
        """Warnings and log records, nothing else."""
        return None if receive(verb, args) else super().do(verb, args)

    def leaving(self) -> Any:
        """Folder, environment, random numbers, and the streams that the tests put in place."""
        state = self._mirror.leaving()
        told = self._streams.leaving(self.port.encode)
        return state if told is None else {**(state or {}), "told": told}

    def arrived(self, state: Any) -> None:
        """What the program changed, where it is a folder, environment, or state of random numbers at all."""
        try:
            self._mirror.arrived({key: part for key, part in state.items() if key != "told"})
        except (ValueError, TypeError, AttributeError, OverflowError):
            self.port.broken("what is no state")


def _ends_tests(kind: type) -> bool:
    """Whether it is an exception of the test runner's own; skipping is one that any program may ask for."""
    return kind.__module__.partition(".")[0] == "unittest" and kind is not unittest.SkipTest


def _is_runner(value: Any) -> bool:
    """Whether it is one of a test case's own methods, or a function of the standard library that has no name."""
    if type(value) is types.MethodType:
        return isinstance(value.__self__, unittest.TestCase) and hasattr(unittest.TestCase, value.__name__)
    if type(value) is types.FunctionType:
        return str(value.__module__).partition(".")[0] in sys.stdlib_module_names and not hasattr(value, "mock")
    return type(value) is types.BuiltinFunctionType and isinstance(value.__self__, types.ModuleType | None)


def _is_open(target: Any, name: str) -> bool:
    if name.startswith("_") or name in _FRAMES:
        return False
    return not is_mock(target) or not (is_mocks_own(name) or name.startswith("assert"))
