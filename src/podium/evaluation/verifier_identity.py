"""What judges, as a hash that is kept with each verdict: a changed verifier inherits no verdicts of the one before.

Counted: the class or function, its settings, and its code. Podium's own verifiers count by all code that judges and by the
libraries that they rest on. One of yours counts by the source of the package that it is in, however little of it judges; one that
declares a ``version`` counts by that instead, and one that declares an ``identity`` by that instead of by its settings.
"""

import functools
import inspect
import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import CodeType, FunctionType, MethodType
from typing import Any

import podium
from podium.protocols import Verifier
from podium.tasks.verifiers import VerifierByKind
from podium.workers.identity import content_hash, hashed

RESTS_ON = ("sympy", "pint")
"""Libraries that decide together with Podium's verifiers."""

_SCALARS = (bool, int, float, complex, str, bytes, Path, type(None))
_DEEPEST = 4


def verifier_identity(verifier: Verifier, kind: str) -> str:
    """What judges problems of this kind. Example: ``verifier_identity(CountdownVerifier(), "countdown")`` is 16 hex digits."""
    found: Any = verifier
    while isinstance(found, VerifierByKind):
        found = found.of(kind)
    return hashed(described(found))


def described(verifier: Any) -> list[Any]:
    """What is hashed: where it is from, its settings, its code."""
    if isinstance(verifier, functools.partial):
        return ["partial", described(verifier.func), _setting(verifier.args), _setting(verifier.keywords)]
    if isinstance(verifier, MethodType):
        return ["method", verifier.__name__, described(verifier.__self__)]
    if isinstance(verifier, FunctionType):
        inside = [cell.cell_contents for cell in verifier.__closure__ or ()]
        settings: Any = [_setting(each) for each in (inside, verifier.__defaults__, verifier.__kwdefaults__)]
        made: Any = verifier
    else:
        declared = getattr(verifier, "identity", None)
        settings = declared if isinstance(declared, str) else _settings_of(verifier)
        made = type(verifier)
    told = getattr(verifier, "version", None)
    code = f"version {told}" if isinstance(told, str) else _code(made)
    return [made.__module__, made.__qualname__, settings, code]


def _settings_of(verifier: Any) -> dict[str, Any]:
    names = [field.name for field in fields(verifier)] if is_dataclass(verifier) else list(getattr(verifier, "__dict__", ()))
    return {name: _setting(getattr(verifier, name)) for name in sorted(names)}


def _setting(value: Any, depth: int = 0) -> Any:
    """``value`` as far as it is plain data; of anything else its class, or the code of a function."""
    if isinstance(value, _SCALARS):
        return repr(value)
    if depth < _DEEPEST and isinstance(value, Mapping):
        return sorted([repr(key), _setting(item, depth + 1)] for key, item in value.items())
    if depth < _DEEPEST and isinstance(value, list | tuple):
        return [_setting(item, depth + 1) for item in value]
    if depth < _DEEPEST and isinstance(value, set | frozenset):
        return sorted(str(_setting(item, depth + 1)) for item in value)
    if depth < _DEEPEST and is_dataclass(value) and not isinstance(value, type):
        return [type(value).__qualname__, {f.name: _setting(getattr(value, f.name), depth + 1) for f in fields(value)}]
    if isinstance(value, FunctionType):
        return [value.__qualname__, _compiled(value.__code__)]
    if isinstance(value, type):
        return [f"{value.__module__}.{value.__qualname__}", _code(value)]
    return f"{type(value).__module__}.{type(value).__qualname__}"


def _code(made: Any) -> str:
    top = (made.__module__ or "").partition(".")[0]  # None: made by a text that was executed
    if top == podium.__name__:
        return _own_code(made.__module__)
    if top == "__main__" or getattr(sys.modules.get(top), "__file__", None) is None:  # a notebook, or typed in
        functions = [made] if isinstance(made, FunctionType) else [f for _, f in inspect.getmembers(made, inspect.isfunction)]
        return hashed([_compiled(function.__code__) for function in functions])
    return _foreign_code(top)


@functools.cache
def _own_code(module: str) -> str:
    """All that judges, but for where problems come from; and the package that the verifier is in."""
    root = Path(podium.__file__).parent
    tasks = [path for path in sorted((root / "tasks").iterdir()) if path.name != "benchmarks"]
    room = module.split(".")[1]
    return hashed(content_hash(*tasks, *([] if room == "tasks" else [root / room])), [_version(name) for name in RESTS_ON])


@functools.cache
def _foreign_code(top: str) -> str:
    file = Path(str(sys.modules[top].__file__))
    files = sorted(file.parent.rglob("*.py")) if file.name == "__init__.py" else [file]
    return content_hash(*files)


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _compiled(code: CodeType) -> list[Any]:
    """What a function does, wherever it was typed in."""
    return [code.co_code.hex(), [_constant(each) for each in code.co_consts], list(code.co_names)]


def _constant(value: Any) -> Any:
    """A constant in a function; sets have another order in each process."""
    if isinstance(value, CodeType):
        return _compiled(value)
    if isinstance(value, frozenset):
        return sorted(repr(each) for each in value)
    return [_constant(each) for each in value] if isinstance(value, tuple) else repr(value)
