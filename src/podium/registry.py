"""What can be added by name: policies, kinds of worker, verifiers, benchmarks, and places of the server's database.

A script adds one with :func:`register`. An installed package adds one with an entry point in the group ``podium.policies``,
``podium.workers``, ``podium.verifiers``, ``podium.benchmarks`` or ``podium.stores``; it is found without a line changed here.
What a group holds is described by the room that reads it: :class:`podium.policies.named.NamedPolicy`,
:class:`podium.workers.kinds.WorkerKind`, :class:`podium.tasks.kinds.ProblemKind`,
:class:`podium.tasks.benchmarks.benchmark.Benchmark`, :class:`podium.serving.store.kinds.StoreKind`.
"""

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType, ModuleType
from typing import Any, Literal, TypeVar, get_args

from podium.errors import ConfigError

Group = Literal["policies", "workers", "verifiers", "benchmarks", "stores"]
GROUPS: tuple[Group, ...] = get_args(Group)
"""Everything that can be extended."""

_Added = TypeVar("_Added")
_added: dict[str, dict[str, Any]] = {group: {} for group in GROUPS}
_installed: set[str] = set()
"""Groups whose entry points were loaded."""


def register(group: Group, name: str) -> Callable[[_Added], _Added]:
    """Add something under ``name``. Example: ``@register("verifiers", "poem")`` above a function, or called with a record.

    Raises :class:`ConfigError` for a group that does not exist and for a name that is taken.
    """
    if group not in GROUPS:
        raise ConfigError(f"there is no group {group!r} to extend; there are {', '.join(GROUPS)}")

    def add(what: _Added) -> _Added:
        if _added[group].setdefault(name, what) is not what:
            raise ConfigError(f"{group}: the name {name!r} is taken; choose another one")
        return what

    return add


def registered(group: Group, record: type[_Added]) -> Mapping[str, _Added]:
    """Everything of ``group`` by name, that of installed packages included; each is a ``record``.

    Raises :class:`ConfigError`, which names the package, where an installed package can not be loaded, takes a name that is
    taken, or adds something that is no ``record``.
    """
    if group not in _installed:
        for found in entry_points(group=f"podium.{group}"):
            _load(found, group, record)
        _installed.add(group)
    for name, what in _added[group].items():
        if not isinstance(what, record):
            raise ConfigError(f"{group}: {name!r} {_is_no(record, what)}")
    return MappingProxyType(_added[group])


def _load(found: EntryPoint, group: Group, record: type[object]) -> None:
    adds = f"{'a package' if found.dist is None else found.dist.name} adds {found.name!r} to {group}"
    try:
        what = found.load()
    except Exception as error:  # foreign code, loaded: whatever it raises is said with its package
        raise ConfigError(f"{adds}, but can not be loaded ({type(error).__name__}: {error}); mend it or uninstall it") from error
    if not isinstance(what, record):
        raise ConfigError(f"{adds}: it {_is_no(record, what)}")
    try:
        register(group, found.name)(what)
    except ConfigError as error:
        raise ConfigError(f"{adds}: {error}") from error


def _is_no(record: type[object], what: object) -> str:
    return f"is no {record.__name__} but of type {type(what).__name__}; a {record.__name__} is what is registered there"


def load_all(package: ModuleType) -> None:
    """Import every module of ``package``, so that what is registered in them is there."""
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")
