"""Two processes that work on each other's objects: plain data is copied, everything else stays where it was made.

A :class:`Port` stands at either end of a pair of pipes. What is no plain data is handed over as a number, and the other end
makes a :class:`Remote` of it, whose every use is a message back. Requests may be answered with requests: a function of the
program calls a mock of the tests while the tests wait for the function.

What an end believes, and what it lets the other do, is said by its :class:`Rules`. Nothing here decides whether a test passes.
"""

import json
import os
from _thread import RLock
from collections.abc import Callable
from typing import Any

from podium.tasks.inside.copied import Copied
from podium.tasks.inside.operations import OPERATIONS
from podium.tasks.inside.plain import decode, encode

MAX_MESSAGE = 64 * 2**20
_CHANGEABLE = (list, dict, set, bytearray)
_USES = ("get", "set", "del", "op")


class Gone(BaseException):
    """The other end hung up, or sent what is no message."""


class Remote:
    """An object of the other process. All that is done with it is done there."""

    __slots__ = ("__weakref__", "_podium_id", "_podium_port", "_podium_types")

    def __init__(self, port: "Port", number: int, types: list[tuple[str, str]]) -> None:
        object.__setattr__(self, "_podium_port", port)
        object.__setattr__(self, "_podium_id", number)
        object.__setattr__(self, "_podium_types", types)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """The class that the other end says it has, where there is one of that name here."""
        return self._podium_port.rules.class_of(self._podium_types) or type(self)

    def __getattr__(self, name: str) -> Any:
        return self._podium_port.ask("get", self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._podium_port.ask("set", self, name, value)

    def __delattr__(self, name: str) -> None:
        self._podium_port.ask("del", self, name)


def _forwarded(name: str) -> Callable[..., Any]:
    def operation(self: Any, *args: Any, **kwargs: Any) -> Any:
        return self._podium_port.operate(self, name, args, kwargs)

    operation.__name__ = name
    return operation


for _name in OPERATIONS:
    setattr(Remote, _name, _forwarded(_name))


class Rules:
    """What one end lets the other do with its objects, and believes of the other's. These are the open ones, of the program."""

    remote: type[Remote] = Remote
    careful = False
    """Whether the other end is hostile."""

    def class_of(self, types: list[tuple[str, str]]) -> type | None:
        """The local class for the (module, name) pairs of a method resolution order."""
        raise NotImplementedError

    def error_class(self, types: list[tuple[str, str]]) -> type[BaseException]:
        """The local exception class for such pairs."""
        raise NotImplementedError

    def take(self, remote: Remote) -> Any:
        """What stands here for an object of the other end."""
        return remote

    def may_give(self, value: Any) -> None:
        """Raises TypeError where the object must not be handed over."""

    def read(self, target: Any, name: str) -> Any:
        """An attribute that the other end asks for."""
        return getattr(target, name)

    def write(self, target: Any, name: str, value: Any) -> None:
        """Set an attribute for the other end."""
        setattr(target, name, value)

    def erase(self, target: Any, name: str) -> None:
        """Delete an attribute for the other end."""
        delattr(target, name)

    def operate(self, target: Any, name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """An operation that the other end asks for."""
        return OPERATIONS[name](target, *args, **kwargs)

    def do(self, verb: str, args: list[Any]) -> Any:
        """Anything else that the other end asks for."""
        raise ValueError(f"no such request: {verb}")

    def leaving(self) -> Any:
        """What else the other end must know, with every message: plain data, or None."""
        return None

    def arrived(self, state: Any) -> None:
        """Take over what the other end sent in this way."""


class Port:
    """One end. Example: ``Port(read_fd, write_fd, rules).ask("name", "add")`` is the program's function ``add``."""

    def __init__(self, read: int, write: int, rules: Rules) -> None:
        self.rules = rules
        self.ended = ""
        """In words why the other end can not be reached any more."""
        self._read, self._write = os.fdopen(read, "rb"), write
        self._send, self._dumps, self._loads = os.write, json.dumps, json.loads
        self._reading, self._writing = RLock(), RLock()
        self._given: dict[int, Any] = {}
        self._numbers: dict[int, int] = {}
        self._taken: dict[int, Any] = {}
        self._copied = Copied(rules.error_class, careful=rules.careful)

    def operate(self, target: Remote, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """An operation on an object of the other end."""
        return self.ask("op", target, name, *args, **kwargs)

    def ask(self, verb: str, *args: Any, **kwargs: Any) -> Any:
        """Send a request and wait for its answer. Raises what the other end raised, and :class:`Gone`."""
        with self._reading:
            self._put(["ask", verb, [self.encode(value) for value in args], {key: self.encode(kwargs[key]) for key in kwargs}])
            while True:
                message = self._get()
                if message[0] != "ask":
                    break
                self._serve(message)
        kind, body, after = message
        for place, data in after:
            become(args[place] if isinstance(place, int) else kwargs[place], self.decode(data))
        if kind == "same":
            return args[body]
        value = self.decode(body)
        if kind == "raised":
            if not isinstance(value, BaseException):
                self.broken("an exception that is none")
            raise value
        return value

    def serve(self) -> None:
        """Answer requests until the other end hangs up."""
        try:
            while True:
                with self._reading:
                    message = self._get()
                if message[0] != "ask":
                    self.broken("an answer that nobody waits for")
                self._serve(message)
        except Gone:
            return

    def broken(self, why: str) -> Any:
        """Stop believing the other end. Always raises :class:`Gone`."""
        self.ended = self.ended or f"the program sent {why}"
        raise Gone(self.ended)

    def encode(self, value: Any) -> Any:
        """``value`` as JSON data for the other end."""
        return encode(value, foreign=self._foreign)

    def decode(self, data: Any) -> Any:
        """The value that the other end sent."""
        try:
            return decode(data, known=self._known)
        except (ValueError, TypeError, KeyError, IndexError, OverflowError, RecursionError) as error:
            return self.broken(f"what is no value ({type(error).__name__})")

    def _serve(self, message: list[Any]) -> None:
        _, verb, sent, named = message
        if not isinstance(sent, list) or not isinstance(named, dict) or (verb in _USES and not _is_ours(sent)):
            self.broken("what is no request")
        args, kwargs = [self.decode(data) for data in sent], {key: self.decode(data) for key, data in named.items()}
        kind: str = "value"
        body: Any
        try:
            value = self._done(verb, args, kwargs)
            same = [place for place, arg in enumerate(args) if arg is value and type(value) in _CHANGEABLE]
            kind, body = ("same", same[0]) if same else ("value", self.encode(value))
        except Gone:
            raise
        except BaseException as error:  # the boundary: whatever is raised here is raised there
            kind, body = "raised", self.encode(error)
        after: list[Any] = []
        if verb == "op":
            places = [*enumerate(args), *kwargs.items()]
            for place, value in places:
                if type(value) in _CHANGEABLE:
                    data, before = self.encode(value), sent[place] if isinstance(place, int) else named[place]
                    if data != before:
                        after.append([place, data])
        self._put([kind, body, after])

    def _done(self, verb: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if verb == "op" and args[1] in OPERATIONS:
            return self.rules.operate(args[0], args[1], args[2:], kwargs)
        if verb == "get":
            return self.rules.read(args[0], str(args[1]))
        if verb == "set":
            return self.rules.write(args[0], str(args[1]), args[2])
        if verb == "del":
            return self.rules.erase(args[0], str(args[1]))
        return self.rules.do(str(verb), args)

    def _put(self, message: list[Any]) -> None:
        try:
            line = self._dumps([message, self.rules.leaving()]).encode() + b"\n"
            with self._writing:
                view = memoryview(line)
                while view:
                    view = view[self._send(self._write, view) :]
        except OSError as error:
            self.ended = self.ended or "the program ended before its tests did"
            raise Gone(self.ended) from error

    def _get(self) -> list[Any]:
        if self.ended:
            raise Gone(self.ended)
        line = self._read.readline(MAX_MESSAGE)
        if not line.endswith(b"\n"):
            self.ended = "the program ended before its tests did"
            raise Gone(self.ended)
        try:
            message, state = self._loads(line)
            kind, _, last, *rest = message
        except (ValueError, TypeError, RecursionError):
            return self.broken("what is no message")  # type: ignore[no-any-return]
        if kind not in ("ask", "value", "same", "raised") or len(rest) != (kind == "ask") or not isinstance(last, list):
            self.broken("what is no message")
        if state is not None:
            self.rules.arrived(state)
        return message  # type: ignore[no-any-return]

    def _foreign(self, value: Any, within: Callable[[Any], Any]) -> Any:
        if type(value) is self.rules.remote and value._podium_port is self:
            return ["R.", value._podium_id]
        found = self._copied.encode(value, within)
        if found is not None:
            return found
        self.rules.may_give(value)
        number = self._numbers.get(id(value))
        if number is None:
            number = self._numbers[id(value)] = len(self._given)
            self._given[number] = value
        return ["O.", number, types_of(value)]

    def _known(self, data: list[Any], within: Callable[[Any], Any]) -> Any:
        if data[0] == "R.":
            return self._given[data[1]]
        if data[0] == "O.":
            _, number, types = data
            if number not in self._taken:
                if type(number) is not int:
                    raise ValueError("an object without a number")
                self._taken[number] = self.rules.take(self.rules.remote(self, number, [(str(m), str(name)) for m, name in types]))
            return self._taken[number]
        return self._copied.decode(data, within)


def _is_ours(sent: list[Any]) -> bool:
    """Whether a request is about an object that was given, not about any text or number."""
    return bool(sent) and isinstance(sent[0], list) and sent[0][:1] == ["R."]


def types_of(value: Any) -> list[list[str]]:
    """(module, name) of the classes of an object. Example: ``types_of(object()) == [["builtins", "object"]]``."""
    return [[str(kind.__module__), str(kind.__qualname__)] for kind in type.__dict__["__mro__"].__get__(type(value))]


def become(value: Any, after: Any) -> None:
    """Give ``value`` the contents of ``after``, part by part, where it can be changed at all."""
    kind: Any = type(value)
    if kind not in _CHANGEABLE or type(after) is not kind:
        return
    if kind is list:
        pairs = list(zip(value, after, strict=False))
        for mine, other in pairs:
            become(mine, other)
        kept = [mine if type(mine) is type(other) and type(mine) in _CHANGEABLE else other for mine, other in pairs]
        value[:] = [*kept, *after[len(kept) :]]
    elif kind is dict:
        parts = {key: value[key] for key in after if key in value and type(value[key]) is type(after[key])}
        parts = {key: part for key, part in parts.items() if type(part) in _CHANGEABLE}
        for key, part in parts.items():
            become(part, after[key])
        value.clear()
        value.update({**after, **parts})
    elif kind is set:
        value.clear()
        value.update(after)
    else:
        value[:] = after
