"""The end of the program: its objects do what the other end asks for, and its standard library can be patched from there.

This process is the program's: it may do here what it likes. What it can change is what it sends.
"""

import linecache
import os
import sys
import types
from importlib import import_module
from typing import Any

from podium.tasks.inside.copied import find_class, shadow_error
from podium.tasks.inside.mirror import Mirror, Streams
from podium.tasks.inside.plain import encode
from podium.tasks.inside.reports import SendRecords, send_warnings
from podium.tasks.inside.wire import Port, Rules

ANSWER = "<answer>"
_CONTAINERS: tuple[Any, ...] = (list, tuple, dict, set, frozenset, bytearray)


class ProgramRules(Rules):
    """All is open to the tests."""

    def __init__(self, code: str) -> None:
        self.port: Port
        self._code = code
        self._module = types.ModuleType("__answer__")
        self._mirror, self._streams = Mirror(), Streams()
        self._errors: dict[tuple[str, str], type[BaseException]] = {}
        self._patched: dict[int, tuple[Any, str, Any]] = {}
        sys.modules["__answer__"] = self._module
        linecache.cache[ANSWER] = (len(code), None, code.splitlines(keepends=True), ANSWER)

    def load(self) -> None:
        """Run the program. Raises what it raises."""
        exec(compile(self._code, ANSWER, "exec"), vars(self._module))  # noqa: S102

    def class_of(self, types: list[tuple[str, str]]) -> type | None:
        """A class of the standard library, or the program's own of the same name, for a class that the problem gives."""
        for module, name in types:
            own = vars(self._module).get(name) if module == "__test__" else None
            found = own if isinstance(own, type) else find_class(module, name)
            if found is not None and found is not object:
                return found
        return None

    def error_class(self, types: list[tuple[str, str]]) -> type[BaseException]:
        """The exception class, or one that stands for it."""
        if types[0] not in self._errors:
            base = next(found for found in (find_class(*names) for names in types) if found is not None)
            real = self._own(types[0]) or find_class(*types[0])
            self._errors[types[0]] = real or shadow_error(*types[0], base)
        return self._errors[types[0]]

    def read(self, target: Any, name: str) -> Any:
        """An attribute; the signature of a function is one, too."""
        if name == "__signature__" and not isinstance(target, type):
            return import_module("inspect").signature(target)  # hardly any test asks
        return getattr(target, name)

    def do(self, verb: str, args: list[Any]) -> Any:
        """The other requests of the tests."""
        if verb == "load":
            send_warnings(self.port)
            return self.load()
        if verb == "logs":
            SendRecords(self.port)
            return None
        if verb == "module":
            return self._module
        if verb == "defines":
            return [name for name in args[0] if name in vars(self._module)]
        if verb == "held":
            return _held(args[0])
        if verb == "state":
            return _state(args[0])
        if verb in ("isinstance", "issubclass"):
            return (isinstance if verb == "isinstance" else issubclass)(*args)
        if verb == "bases":
            return [[kind.__module__, kind.__qualname__] for kind in args[0].__mro__[1:]]
        if verb == "wait":
            return import_module("asyncio").run(args[0])  # takes longer to import than most programs run
        if verb == "patch":
            return self._patch(*args)
        if verb == "unpatch":
            return self._unpatch(*args)
        return super().do(verb, args)

    def leaving(self) -> Any:
        """Folder, environment, random numbers."""
        return self._mirror.leaving()

    def arrived(self, state: Any) -> None:
        """The same, and the streams of the tests."""
        self._mirror.arrived({key: part for key, part in state.items() if key != "told"})
        self._streams.arrived(state.get("told", {}), self.port.decode)

    def _own(self, names: tuple[str, str]) -> Any:
        module, name = names
        found: Any = self._module if module == "__answer__" else None
        for part in name.split("."):
            found = getattr(found, part, None)
        return found

    def _patch(self, number: int, module: str, path: str, name: str, value: Any) -> None:
        target: Any = __import__(module, fromlist=["_"])
        for part in path.split(".") if path else ():
            target = getattr(target, part)
        self._patched[number] = (target, name, vars(target).get(name, self))
        setattr(target, name, value)

    def _unpatch(self, number: int) -> None:
        target, name, original = self._patched.pop(number)
        if original is self:
            delattr(target, name)
        else:
            setattr(target, name, original)


def _held(value: Any) -> Any:
    """What an object holds that is a list, a dictionary and the like of a class of its own; None for other objects."""
    for base in _CONTAINERS:
        if isinstance(value, base):
            return base(value)
    return None


def _state(value: Any) -> Any:
    """What an object is made of, as plain data, so that two can be compared elsewhere."""
    names: dict[str, Any] = dict(getattr(value, "__dict__", {}))
    for kind in type(value).__mro__:
        slots = vars(kind).get("__slots__", ())
        names.update({name: getattr(value, name, None) for name in ([slots] if isinstance(slots, str) else slots)})
    return [type(value).__qualname__, _bare(encode(_held(value))), _bare(encode(names))]


def _bare(data: Any) -> Any:
    """Encoded data without the words that name objects by their place in memory."""
    if isinstance(data, list) and data and data[0] == "o":
        return ["o", data[1], _bare(data[4])]
    return [_bare(part) for part in data] if isinstance(data, list) else data


def run_program(read: int, write: int) -> None:
    """Receive the program and serve the tests until they hang up."""
    with os.fdopen(os.dup(read), "rb", buffering=0) as first:
        length = int.from_bytes(first.read(8), "big")
        code = b""
        while len(code) < length:
            code += first.read(length - len(code))
    rules = ProgramRules(code.decode("utf-8", "surrogatepass"))
    rules.port = Port(read, write, rules)
    rules.port.serve()
    os._exit(0)
