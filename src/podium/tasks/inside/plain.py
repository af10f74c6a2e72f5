"""Plain data as JSON and back, without losing what JSON can not say: tuples, sets, integer keys, long integers, nan.

A value is its own JSON where that says all (None, booleans, texts, finite floats, short integers); anything else is a list
of a letter and its parts: ``["t", [1, 2]]`` is ``(1, 2)``. An object that is no plain data is
``["o", type, repr, truth, parts]``: it can be told and shown but not rebuilt, and equals nothing. Subclasses
are read as their plain base, past any method that they override, so that an object that claims to equal everything is only
what it holds.

Sent into the sandbox and used on the host; :func:`decode` treats its input as hostile. ``wire.py`` adds letters of its own
for live objects, through ``foreign`` and ``known``.
"""

from collections import deque
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import islice
from typing import Any

MAX_DEPTH = 60
MAX_PARTS = 300_000
"""Of one value, all levels together."""
MAX_LAZY = 10_000
"""Parts of a generator and the like; of one that has more, none are kept."""
_SHORT = 2**63


class Opaque:
    """An object that did not cross. Equals only itself; can be gone through where it is a lazy sequence.

    Example: ``Opaque("Node", "<Node ...>", True)``; ``list(Opaque("map", "<map ...>", True, [1, 2]))`` is ``[1, 2]``.
    """

    def __init__(self, kind: str, shown: str, truth: bool, parts: list[Any] | None = None) -> None:
        self.kind, self.shown, self.truth, self.parts = kind, shown, truth, parts

    def __bool__(self) -> bool:
        return self.truth

    def __iter__(self) -> Iterator[Any]:
        if self.parts is None:
            raise TypeError(f"{self!r} is not iterable")
        return iter(self.parts)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return f"an object of the class {self.kind}"


def encode(
    value: Any, depth: int = 0, budget: list[int] | None = None, foreign: Callable[[Any, Callable[[Any], Any]], Any] | None = None
) -> Any:
    """``value`` as JSON data. Example: ``encode((1, {2})) == ["t", [1, ["s", [2]]]]``.

    ``foreign`` is asked first about all that is not exactly a plain type: it returns data, or None to go on here.
    """
    budget = [MAX_PARTS] if budget is None else budget
    budget[0] -= 1
    if value is None or value is True or value is False:
        return value
    # isinstance would believe a forged __class__; the real type does not lie.
    kind: Any = type(value)

    def within(part: Any) -> Any:
        return encode(part, depth + 1, budget, foreign)

    if foreign is not None and kind not in _EXACT and depth <= MAX_DEPTH and budget[0] >= 0:
        found = foreign(value, within)
        if found is not None:
            return found
    bases = _MRO(kind)
    if int in bases:
        number = int.__int__(value)
        return number if -_SHORT < number < _SHORT else ["i", hex(number)]
    if float in bases:
        real = float.__float__(value)
        return real if real - real == 0 else ["f", float.__repr__(real)]
    if str in bases:
        return str.__str__(value)
    if depth > MAX_DEPTH or budget[0] < 0:
        return ["o", kind.__name__, "too large", True, None]
    for base, letter in _SEQUENCES:
        if base in bases:
            return [letter, [within(part) for part in base.__iter__(value)]]
    if dict in bases:
        pairs = dict.items(value)
        return ["d", [[within(key), within(part)] for key, part in pairs]]
    if bytes in bases or bytearray in bases:
        return ["b", bytes.hex(value)] if bytes in bases else ["ba", bytearray.hex(value)]
    if complex in bases:
        return ["c", encode(value.real), encode(value.imag)]
    if foreign is None and kind.__module__ == "numpy" and kind.__name__ in _NUMBERS:
        return encode(value.item(), depth + 1, budget)  # what the graders of public sets compare as equal
    if (kind.__module__, kind.__name__) in _RATIONAL:
        return [_RATIONAL[kind.__module__, kind.__name__], str(value)]
    shown, truth = repr(value)[:200], bool(value)
    parts = None
    if kind in _LAZY:
        parts = [within(part) for part in islice(value, MAX_LAZY + 1)]
    return ["o", str(kind.__name__)[:80], shown, truth, parts if parts is not None and len(parts) <= MAX_LAZY else None]


def decode(data: Any, depth: int = 0, known: Callable[[list[Any], Callable[[Any], Any]], Any] | None = None) -> Any:
    """The value that :func:`encode` wrote as ``data``; raises ValueError for data that it can not have written.

    ``known`` reads the data of ``foreign``, whose letters end with a point.
    """
    if data is None or isinstance(data, bool | int | float | str):
        return data
    if depth > 2 * MAX_DEPTH + 4 or not isinstance(data, list) or not data or not isinstance(data[0], str):
        raise ValueError("not encoded data")
    letter, *parts = data

    def within(part: Any) -> Any:
        return decode(part, depth + 1, known)

    if known is not None and letter.endswith("."):
        return known(data, within)
    if letter == "o" and len(parts) == 4:
        held = [within(part) for part in parts[3]] if isinstance(parts[3], list) else None
        return Opaque(str(parts[0])[:80], str(parts[1])[:200], parts[2] is True, held)
    if letter == "c" and len(parts) == 2:
        return complex(*(float(within(part)) for part in parts))
    if len(parts) != 1:
        raise ValueError("not encoded data")
    body = parts[0]
    if letter in _BUILD and isinstance(body, list):
        return _BUILD[letter](within(part) for part in body)
    if letter == "d" and isinstance(body, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in body):
        return _hashed(lambda: {within(key): within(part) for key, part in body})
    if isinstance(body, str) and len(body) <= 50_000_000 and letter in _SPELLED:
        return _SPELLED[letter](body)
    raise ValueError("not encoded data")


def nodes(data: Any) -> Iterator[list[Any]]:
    """All encoded values within ``data``, itself included, that are lists; raises ValueError where ``data`` is none.

    Example: the letters of ``nodes(encode([(1,), {2}]))`` are "l", "t", "s".
    """
    left = [data]
    while left:
        node = left.pop()
        if not isinstance(node, list):
            continue
        if len(node) < 2:
            raise ValueError("not encoded data")
        yield node
        body = node[4] if node[0] == "o" and len(node) == 5 else node[1]
        if isinstance(body, list):
            left.extend(body if node[0] != "d" else (part for pair in body if isinstance(pair, list) for part in pair))


def _hashed(build: Callable[[], Any]) -> Any:
    try:
        return build()
    except TypeError as error:
        raise ValueError("an unhashable key") from error


# Importing these two takes longer than a call does, and hardly any test needs them.
def _fraction(text: str) -> Any:
    over, _, under = text.partition("/")
    if len(text) > 8000 or not int(under or "1"):
        raise ValueError("no fraction")
    return import_module("fractions").Fraction(int(over), int(under or "1"))


def _decimal(text: str) -> Any:
    try:
        number = import_module("decimal").Decimal(text[:8000])
    except ArithmeticError as error:
        raise ValueError("no decimal number") from error
    if number.is_finite() and abs(number.adjusted()) > 1000:
        raise ValueError("a decimal number out of bounds")  # turned into an integer it would fill the memory
    return number


_EXACT = frozenset({int, float, str, bytes, bytearray, complex, list, tuple, set, frozenset, dict})
_MRO: Callable[[type], tuple[type, ...]] = type.__dict__["__mro__"].__get__
_SEQUENCES: tuple[tuple[Any, str], ...] = ((list, "l"), (tuple, "t"), (set, "s"), (frozenset, "z"))
_NUMBERS = frozenset(
    [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)] + ["float16", "float32", "bool", "bool_", "longlong"]
)
"""Numbers of numpy's that are not also numbers of Python's, as its float64 is."""
_RATIONAL = {("fractions", "Fraction"): "F", ("decimal", "Decimal"): "D"}
_LAZY: tuple[type, ...] = (
    *(type(_ for _ in ()), map, filter, zip, range, enumerate, reversed, deque, type({}.keys()), type({}.values())),
    *(type({}.items()), type(iter([])), type(iter(())), type(iter({})), type(iter(set()))),
)
_BUILD: dict[str, Callable[[Any], Any]] = {
    "l": list,
    "t": tuple,
    "s": lambda parts: _hashed(lambda: set(parts)),
    "z": lambda parts: _hashed(lambda: frozenset(parts)),
}
_SPELLED: dict[str, Callable[[str], Any]] = {
    "i": lambda text: int(text, 16),
    "f": float,
    "b": bytes.fromhex,
    "ba": bytearray.fromhex,
    "F": _fraction,
    "D": _decimal,
}
