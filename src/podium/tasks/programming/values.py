"""Values that programs return, read and compared on the host. Everything that comes from a program is hostile here.

Two ways to compare: as JSON values (call style: a tuple is a list, keys are texts) and as Python values (asserts: ``(1, 2)``
is not ``[1, 2]``). In both, numbers are compared with a tolerance only where the expected one is a float.
"""

import json
import reprlib
from decimal import Decimal
from fractions import Fraction
from typing import Any

from podium.tasks.inside.plain import decode, nodes
from podium.tasks.programming.outputs import is_close

MAX_HASHED = 20_000
"""Elements of sets and dictionaries in one value: keys can be made to collide, which costs quadratic time."""
MAX_CHOSEN = 2_000
"""Of these, where numbers are among them with which that can be done: texts and small numbers do not collide at will."""
_SMALL = 2**32
_CHOSEN = frozenset("ifFDc")
"""The letters of numbers that are no short integers."""

_REPR = reprlib.Repr()
_REPR.maxstring = _REPR.maxother = _REPR.maxlong = 80
_REPR.maxlist = _REPR.maxtuple = _REPR.maxset = _REPR.maxdict = 8


class UnreadableValue(ValueError):
    """A program's reply that is no value, or one too large to be judged; the message says which. Never leaves this folder."""


def read_value(text: str) -> Any:
    """The value whose encoded form is the JSON ``text``. Raises :class:`UnreadableValue`."""
    return decoded(read_reply(text))


def read_reply(text: str) -> Any:
    """The JSON ``text`` of a program. Raises :class:`UnreadableValue`."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableValue(f"the returned value can not be read: {str(error)[:100]}") from error


def decoded(data: Any) -> Any:
    """The value that ``data`` encodes. Raises :class:`UnreadableValue` where it encodes none or holds too many keys."""
    try:
        hashed = sum(len(node[1]) for node in nodes(data) if node[0] in ("s", "z", "d") and isinstance(node[1], list))
        most = MAX_CHOSEN if hashed > MAX_CHOSEN and chosen(data) > MAX_CHOSEN else MAX_HASHED
        value = decode(data) if hashed <= most else None
    except RecursionError as error:
        raise UnreadableValue("the returned value is nested too deep") from error
    except ValueError as error:
        raise UnreadableValue(f"the returned value can not be read: {str(error)[:100]}") from error
    if hashed > most:
        raise UnreadableValue(f"the returned sets and dictionaries hold more than {most} elements")
    return value


def same_value(expected: Any, actual: Any, *, as_json: bool) -> bool:
    """Whether ``actual`` is as ``expected``. Examples: ``same_value([1, 0.5], (1, 0.5000001), as_json=True)`` is true;
    ``same_value([1], (1,), as_json=False)`` and ``same_value(1, 1.0000001, as_json=True)`` are not.
    """
    if isinstance(actual, Decimal) and actual.is_snan():
        return False  # it raises where it is compared
    if isinstance(expected, float) and not isinstance(actual, bool):
        return isinstance(actual, int | float | Fraction | Decimal) and is_close(expected, _as_float(actual))
    if isinstance(expected, list | tuple):
        kinds = (list, tuple) if as_json else (list,) if isinstance(expected, list) else (tuple,)
        if not isinstance(actual, kinds) or len(actual) != len(expected):
            return False
        return all(same_value(want, have, as_json=as_json) for want, have in zip(expected, actual, strict=True))
    if isinstance(expected, dict):
        if not isinstance(actual, dict) or len(actual) != len(expected):
            return False
        found = {_json_key(key): value for key, value in actual.items()} if as_json else actual
        return all(key in found and same_value(want, found[key], as_json=as_json) for key, want in expected.items())
    return bool(expected == actual)


def chosen(value: Any) -> int:
    """How many of the numbers in a value, or in its encoded form, could be made to collide as keys: large ones, and fractions."""
    found, left = 0, [value]
    while left:
        part = left.pop()
        if isinstance(part, list | tuple):
            found += bool(part) and isinstance(part[0], str) and part[0] in _CHOSEN
            left.extend(part)
        elif isinstance(part, int | float):
            found += not -_SMALL < part < _SMALL or part % 1 != 0
        else:
            found += isinstance(part, Fraction | Decimal | complex)
    return found


def shown(value: Any) -> str:
    """``value`` in at most some 200 characters. Example: ``shown(list(range(99)))`` is ``"[0, 1, 2, 3, 4, 5, 6, 7, ...]"``."""
    try:
        text = _REPR.repr(value)
    except ValueError:
        text = "a number of thousands of digits"
    return text if len(text) <= 200 else text[:200] + "..."


def _as_float(number: int | float | Fraction | Decimal) -> float:
    try:
        return float(number)
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


def _json_key(key: Any) -> Any:
    """As ``json.dumps`` spells it."""
    if isinstance(key, bool) or key is None:
        return {True: "true", False: "false", None: "null"}[key]
    return str(key) if isinstance(key, int) and abs(key) < 10**400 else repr(key) if isinstance(key, float) else key
