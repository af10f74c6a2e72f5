"""A package can say where the database is; what it says is held to the same rules as a URL of the user's."""

from pathlib import Path

import pytest

from podium import registry
from podium.errors import ConfigError
from podium.registry import GROUPS, register
from podium.serving.store.address import shown_address
from podium.serving.store.database import Database
from podium.serving.store.keys import Keys
from podium.serving.store.kinds import StoreKind


@pytest.fixture(autouse=True)
def own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_added", {group: dict(registry._added[group]) for group in GROUPS})


def kind(there: str) -> StoreKind:
    return StoreKind(form="there://", about="there", find=lambda url: there)


async def test_it_is_the_same_database_under_both_names(url: str) -> None:
    register("stores", "there")(kind(url))
    async with Database("there://anything") as database:
        await Keys(database).create("web")
    async with Database(url, must_exist=True) as database:
        assert [key.name for key in await Keys(database).list()] == ["web"]
    assert shown_address("there://anything") == shown_address(url)


def test_what_it_names_must_exist_where_that_is_asked(tmp_path: Path) -> None:
    register("stores", "there")(kind(f"sqlite:///{tmp_path / 'none.db'}"))
    with pytest.raises(ConfigError, match="there is no database at"):
        Database("there://", must_exist=True)


@pytest.mark.parametrize("there", ["mysql://user:secret@host/base", "there://again", "", "secret"])
def test_it_names_nothing_else_and_its_secret_is_not_shown(there: str) -> None:
    register("stores", "there")(kind(there))
    with pytest.raises(ConfigError, match="the store 'there' names no SQLite or PostgreSQL database") as refused:
        Database("there://")
    assert not there or "secret" not in str(refused.value)


def test_the_names_of_ours_are_taken() -> None:
    with pytest.raises(ConfigError, match="the name 'postgresql' is taken"):
        register("stores", "postgresql")(kind("sqlite:///x.db"))
