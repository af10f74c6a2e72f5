"""Values of the standard library that cross as copies, not as references: dates, paths, counters, exceptions, classes by name.

A copy is only what it holds, no matter which side made it. Classes cross by name; which name is believed is for the reader to
say.
"""

import sys
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType, ModuleType, TracebackType, WrapperDescriptorType
from typing import Any

from podium.tasks.inside.mocks import is_mocks_own

_MAKE: dict[str, Any] = {}
_SPLIT: dict[str, Callable[[Any], tuple[Any, ...]]] = {
    "collections.Counter": lambda value: (dict(value),),
    "collections.OrderedDict": lambda value: (list(value.items()),),
    "collections.defaultdict": lambda value: (value.default_factory, dict(value)),
    "collections.deque": lambda value: (list(value), value.maxlen),
    "datetime.date": lambda value: (value.year, value.month, value.day),
    "datetime.time": lambda value: (value.hour, value.minute, value.second, value.microsecond, value.tzinfo),
    "datetime.datetime": lambda value: (
        *(value.year, value.month, value.day, value.hour, value.minute, value.second, value.microsecond, value.tzinfo),
    ),
    "datetime.timedelta": lambda value: (value.days, value.seconds, value.microseconds),
    "datetime.timezone": lambda value: value.__getinitargs__(),
    "pathlib.PosixPath": lambda value: (str(value),),
    "pathlib.PurePosixPath": lambda value: (str(value),),
    "uuid.UUID": lambda value: (str(value),),
    **{
        f"ipaddress.{kind}": lambda value: (str(value),)
        for kind in ("IPv4Address", "IPv6Address", "IPv4Network", "IPv6Network", "IPv4Interface", "IPv6Interface")
    },
    "builtins.range": lambda value: (value.start, value.stop, value.step),
    "builtins.slice": lambda value: (value.start, value.stop, value.step),
}
"""Type -> the arguments that make an equal one."""
_CLASSES = ("builtins", "collections", "datetime", "decimal", "fractions", "pathlib", "uuid")
"""Modules whose classes the tests take from a program; of others they get a reference, which does its work in the program."""
_SINGLE = {"Ellipsis": ..., "NotImplemented": NotImplemented}
_DEPTH = 3
_FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodDescriptorType, WrapperDescriptorType)


class Copied:
    """Encodes and decodes them; ``error_class`` finds an exception class by the names of its own and its bases.

    ``careful`` is the end of the tests, which takes few classes by name and gives all.
    """

    def __init__(self, error_class: Callable[[list[tuple[str, str]]], type[BaseException]], *, careful: bool) -> None:
        self._error_class, self._careful = error_class, careful
        self._own_errors: dict[tuple[str, str], type[BaseException]] = {}

    def encode(self, value: Any, within: Callable[[Any], Any]) -> Any:
        """``value`` as data, or None where it is none of these."""
        kind = type(value)
        if value is Ellipsis or value is NotImplemented:
            return ["S.", str(value)]
        if kind is TracebackType:
            return ["S.", "Traceback"]
        name = f"{kind.__module__}.{kind.__qualname__}"
        if name in _SPLIT and getattr(sys.modules.get(kind.__module__), kind.__name__, None) is kind:
            return ["K.", name, [within(part) for part in _SPLIT[name](value)]]
        bases = type.__dict__["__mro__"].__get__(kind)
        if tuple in bases and isinstance(getattr(kind, "_fields", None), tuple):
            return ["N.", kind.__name__, [str(field) for field in kind._fields], [within(part) for part in tuple.__iter__(value)]]
        if BaseException in bases:
            return self._error(value, within, _DEPTH)
        if isinstance(value, ModuleType) and sys.modules.get(value.__name__) is value and _is_stdlib(value.__name__):
            return ["M.", value.__name__]
        if isinstance(value, type) and issubclass(value, BaseException):
            self._remember(value)
        if kind is type and (issubclass(value, BaseException) or (self._gives(value.__module__) and _named(value) is value)):
            return ["C.", [[base.__module__, base.__qualname__] for base in value.__mro__]]
        return self._function(value, kind)

    def _function(self, value: Any, kind: type) -> Any:
        """A function of the standard library by name: the program shall call its own, never one in the tests' process."""
        if not self._careful or kind not in _FUNCTIONS:
            return None
        module = getattr(value, "__module__", None) or getattr(getattr(value, "__objclass__", None), "__module__", None)
        found = find(str(module), str(getattr(value, "__qualname__", "")))
        return ["F.", module, value.__qualname__] if found is value else None

    def decode(self, data: list[Any], within: Callable[[Any], Any]) -> Any:
        """The value of such data; raises ValueError where it is none."""
        letter, first, *rest = data
        if letter == "S.":
            return _SINGLE.get(first)
        if letter == "K." and first in _SPLIT and isinstance(rest[0], list):
            return _made(first, [within(part) for part in rest[0]])
        if letter == "N.":
            fields, parts = rest
            if self._careful and any(is_mocks_own(str(field)) for field in fields):
                raise ValueError("a value that would pass for a mock")
            return _make_named(str(first), tuple(str(field) for field in fields), [within(part) for part in parts])
        if letter == "E.":
            return self._raised([first, *rest], within)
        if letter == "M." and isinstance(first, str) and _is_stdlib(first):
            return __import__(first, fromlist=["_"])
        if letter == "F." and not self._careful:
            return find(str(first), str(rest[0]))
        if letter == "C.":
            types = [(str(module), str(name)) for module, name in first]
            if ("builtins", "BaseException") in types:
                return self._own_errors.get(types[0]) or self._error_class(types)
            found = find_class(*types[0]) if not self._careful or types[0][0] in _CLASSES else None
            if found is None:
                raise ValueError("a class that is not known here")
            return found
        raise ValueError("not encoded data")

    def _gives(self, module: str) -> bool:
        return _is_stdlib(module) if self._careful else module in _CLASSES

    def _remember(self, kind: type[BaseException]) -> None:
        """An exception class that is made here comes back as itself."""
        if self._careful and not _is_stdlib(str(kind.__module__)):
            self._own_errors.setdefault((str(kind.__module__), str(kind.__qualname__)), kind)

    def _error(self, error: BaseException, within: Callable[[Any], Any], depth: int) -> list[Any]:
        self._remember(type(error))
        types = [[kind.__module__, kind.__qualname__] for kind in type.__dict__["__mro__"].__get__(type(error))]
        try:
            shown = str(error)[:10_000]
        except Exception as broken:  # the boundary: the exception's own __str__
            shown = f"an exception that can not be shown ({type(broken).__name__})"
        held = {key: within(part) for key, part in vars(error).items() if not key.startswith("_") and _is_plain(part)}
        if isinstance(error, OSError) and _is_plain(error.filename):
            held["filename"] = within(error.filename)
        args = [within(arg) if _is_plain(arg) else str(arg)[:1_000] for arg in error.args]
        cause = error.__cause__
        return ["E.", types, args, held, shown, None if cause is None or not depth else self._error(cause, within, depth - 1)]

    def _raised(self, data: list[Any], within: Callable[[Any], Any]) -> BaseException:
        types, args, held, shown, cause = data
        names = [(str(module), str(name)) for module, name in types]
        kind = self._own_errors.get(names[0]) or self._error_class(names)
        values = tuple(within(arg) for arg in args)
        try:
            error = kind(*values) if kind.__module__ == "builtins" else kind.__new__(kind, *values)
        except TypeError:
            error = Exception(shown)
        error.args = values
        for key, part in held.items():
            is_open = isinstance(key, str) and key.isidentifier() and not key.startswith("_")
            if is_open and not (self._careful and is_mocks_own(key)):
                setattr(error, key, within(part))
        if hasattr(kind, "podium_shown"):
            error.podium_shown = str(shown)  # type: ignore[attr-defined]
        if cause is not None:
            error.__cause__ = self._raised(cause[1:], within)
        return error


def shadow_error(module: str, name: str, base: type[BaseException]) -> type[BaseException]:
    """A class that stands here for an exception class of the other process."""
    names = {"__module__": module, "podium_shown": "", "__str__": lambda self: self.podium_shown or base.__str__(self)}
    return type(name, (base,), names)


def find_class(module: str, name: str) -> type | None:
    """The class of that name in a module of the standard library that is loaded here."""
    found = find(module, name)
    return found if isinstance(found, type) else None


def find(module: str, name: str) -> Any:
    """What has that name in a module of the standard library that is loaded here; None where nothing has."""
    found: Any = sys.modules.get(module) if _is_stdlib(module) else None
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _is_stdlib(module: str) -> bool:
    return module.partition(".")[0] in sys.stdlib_module_names


def _named(kind: type) -> Any:
    return find_class(kind.__module__, kind.__qualname__)


def _is_plain(value: Any, depth: int = 0) -> bool:
    if isinstance(value, list | tuple) and depth < _DEPTH:
        return len(value) < 1_000 and all(_is_plain(part, depth + 1) for part in value)
    if type(value) is dict and depth < _DEPTH:
        return len(value) < 1_000 and all(_is_plain(part, depth + 1) for pair in value.items() for part in pair)
    return value is None or isinstance(value, bool | int | float | str | bytes)


def _made(name: str, args: list[Any]) -> Any:
    if name == "collections.defaultdict" and not (args[0] is None or isinstance(args[0], type) or callable(args[0])):
        raise ValueError("not encoded data")
    if name not in _MAKE:
        module, _, kind = name.rpartition(".")
        _MAKE[name] = getattr(__import__(module, fromlist=["_"]), kind)
    return _MAKE[name](*args)


def _make_named(name: str, fields: tuple[str, ...], parts: list[Any]) -> Any:
    key = f"{name}({','.join(fields)})"
    if key not in _MAKE:
        _MAKE[key] = __import__("collections").namedtuple(name, fields)
    return _MAKE[key]._make(parts)
