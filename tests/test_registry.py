"""What is added by name: found, refused where it can not be, and said with the package that adds it."""

from pathlib import Path

import pytest

from podium import registry
from podium.errors import ConfigError
from podium.registry import GROUPS, register, registered
from tests.broken_plugin import broken


@pytest.fixture(autouse=True)
def empty(monkeypatch: pytest.MonkeyPatch) -> None:
    """A registry of the test's own."""
    monkeypatch.setattr(registry, "_added", {group: {} for group in GROUPS})
    monkeypatch.setattr(registry, "_installed", set())


def test_a_name_is_given_once() -> None:
    register("policies", "a")("one")
    register("policies", "a")("one")
    assert registered("policies", str) == {"a": "one"}
    with pytest.raises(ConfigError, match="policies: the name 'a' is taken"):
        register("policies", "a")("two")
    with pytest.raises(ConfigError, match="policies: 'a' is no int"):
        registered("policies", int)


@pytest.mark.parametrize("group", GROUPS)
def test_an_installed_package_is_found(group: registry.Group, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(broken(tmp_path, f"[podium.{group}]\nx = podium_broken:RECORD\n"))
    assert registered(group, int) == {"x": 42} == registered(group, int)


@pytest.mark.parametrize(
    ("entry_point", "says"),
    [
        ("x = podium_none:X", "adds 'x' to policies, but can not be loaded .ModuleNotFoundError"),
        ("x = podium_broken:NONE", "adds 'x' to policies, but can not be loaded .AttributeError"),
        ("x = podium_broken:RECORD", "adds 'x' to policies: it is no str but of type int"),
        ("vote = podium_broken:__name__", "adds 'vote' to policies: policies: the name 'vote' is taken"),
    ],
)
def test_a_broken_package_is_named_each_time(
    entry_point: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    register("policies", "vote")("ours")
    monkeypatch.syspath_prepend(broken(tmp_path, f"[podium.policies]\n{entry_point}\n"))
    for _ in range(2):
        with pytest.raises(ConfigError, match=f"podium-broken {says}"):
            registered("policies", str)
