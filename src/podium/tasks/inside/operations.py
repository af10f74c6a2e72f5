"""What one process may do with an object of another, besides its attributes: operations by their methods' names."""

import operator
import os
from collections.abc import Callable
from typing import Any

_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    **{name: getattr(operator, name) for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "xor", "matmul")},
    "and": operator.and_,
    "or": operator.or_,
    "lshift": operator.lshift,
    "rshift": operator.rshift,
}


def _swapped(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda right, left: operation(left, right)


ARITHMETIC: dict[str, Callable[..., Any]] = {
    **{f"__{name}__": operation for name, operation in _BINARY.items()},
    **{f"__r{name}__": _swapped(operation) for name, operation in _BINARY.items()},
    "__neg__": operator.neg,
    "__pos__": operator.pos,
    "__invert__": operator.invert,
    "__abs__": abs,
    "__round__": round,
}
OPERATIONS: dict[str, Callable[..., Any]] = {
    "__call__": lambda target, *args, **kwargs: target(*args, **kwargs),
    "__bool__": bool,
    "__len__": len,
    "__iter__": iter,
    "__next__": next,
    "__reversed__": reversed,
    "__str__": lambda target: str(target)[:100_000],
    "__repr__": lambda target: repr(target)[:2_000],
    "__format__": format,
    "__hash__": hash,
    "__int__": int,
    "__float__": float,
    "__index__": operator.index,
    "__bytes__": bytes,
    "__fspath__": os.fspath,
    "__contains__": operator.contains,
    "__getitem__": operator.getitem,
    "__setitem__": operator.setitem,
    "__delitem__": operator.delitem,
    "__enter__": lambda target: type(target).__enter__(target),
    "__exit__": lambda target, *error: type(target).__exit__(target, *error),
    **{f"__{name}__": getattr(operator, name) for name in ("lt", "le", "gt", "ge", "eq", "ne")},
    **ARITHMETIC,
}
