"""A database that a server of 0.1 left (made with that version, see tests/v01) becomes today's and is served."""

import json
import sqlite3
import sys
from datetime import UTC, datetime
from pathlib import Path

import httpx
import psycopg
import pytest

from benchmarks.server import started
from podium.serving.store.database import Database
from podium.serving.store.keys import Keys
from podium.serving.store.quotas import Quotas
from podium.serving.store.runs import Runs
from tests.serving.schema import differences
from tests.serving.test_serve_command import serving

V01 = Path(__file__).parents[1] / "v01"
NOW = datetime(2026, 11, 22, 12, 0, 1, tzinfo=UTC)
POOL = """
[[worker]]
name = "{name}"
model = "openai:{name}"
base_url = "http://127.0.0.1:{port}/v1"
prompt_usd_per_million = 1.0
completion_usd_per_million = 2.0
"""


@pytest.fixture
def old(url: str) -> tuple[str, dict[str, str]]:
    """The URL of the old database, the secrets of its keys, and the ids of a ``run`` and of a tool ``call`` in it."""
    kind = url.partition(":")[0]
    script = (V01 / f"{kind}.sql").read_text()
    if kind == "sqlite":
        connection = sqlite3.connect(url.removeprefix("sqlite:///"))
        connection.executescript(script)
        connection.close()
    else:
        with psycopg.connect(url) as server:
            server.execute(script.encode())
    secrets: dict[str, dict[str, str]] = json.loads((V01 / "keys.json").read_text())
    return url, secrets[kind]


async def test_its_keys_its_books_and_its_runs_are_what_they_were(old: tuple[str, dict[str, str]]) -> None:
    url, secrets = old
    for _ in range(2):  # the second time it is a database of today
        async with Database(url) as database:
            assert await database.read(differences) == []
            keys = {name: await Keys(database).find(secrets[name]) for name in ("alice", "bob", "root")}
            assert [(key.name, key.monthly_usd, key.requests_per_minute, key.store_content) for key in keys.values()] == [
                ("alice", 5.0, 60, True),
                ("bob", None, None, False),
                ("root", None, None, True),
            ]
            assert keys["root"].scopes == {"admin", "ask"}
            spent = await Quotas(database, "here", now=lambda: NOW).spent()
            assert {name: spent[keys[name].id].spent_usd for name in ("alice", "bob")} == {"alice": 39.9e-6, "bob": 19e-6}
            runs = Runs(database)
            found = await runs.search(key=keys["alice"].id)
            assert [run.question for run in found] == ["What time is it?", "Why is the sky blue?", "What is 6 times 7?"]
            assert [run.id for run in await runs.search(key=None, text="SKY")] == [found[1].id]
            whole = await runs.get(found[2].id, key=keys["alice"].id)
            assert whole is not None
            (transcript,) = whole.transcripts
            assert (transcript.answer, transcript.results[0].worker, transcript.usage.cost_usd) == ("It is 42.", "strong", 19e-6)
            (kept,) = await runs.search(key=keys["bob"].id)
            assert (kept.question, kept.answer, kept.steps) == (None, None, 1)


def test_its_clients_go_on_asking(old: tuple[str, dict[str, str]], tmp_path: Path) -> None:
    url, secrets = old
    as_key = {name: {"Authorization": f"Bearer {secret}"} for name, secret in secrets.items() if secret.startswith("pod_")}
    question = {"role": "user", "content": "What time is it?"}
    call = {"id": secrets["call"], "type": "function", "function": {"name": "now", "arguments": "{}"}}
    told = [
        question,
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call["id"], "content": "noon"},
    ]
    tools = [{"type": "function", "function": {"name": "now", "parameters": {"type": "object", "properties": {}}}}]
    with started([sys.executable, "-m", "benchmarks.mock_upstream"], r"(\d+)") as (port, _):
        (tmp_path / "pool.toml").write_text("".join(POOL.format(name=name, port=port) for name in ("strong", "cheap")))
        flags = ("--pool", str(tmp_path / "pool.toml"), "--policy", "solo:strong", "--keys")
        with serving(tmp_path, *flags, PODIUM_DB=url) as (at, _process), httpx.Client(base_url=at, timeout=30) as http:
            asked = "/v1/chat/completions"
            for name in ("alice", "bob"):
                answer = http.post(asked, json={"model": "podium", "messages": [question]}, headers=as_key[name])
                assert answer.json()["choices"][0]["message"]["content"] == "It is 42."
            # A pause of 0.1 is not gone on with: the conversation that the client brings is conducted anew.
            for _ in range(2):
                answer = http.post(asked, json={"model": "podium", "messages": told, "tools": tools}, headers=as_key["alice"])
                assert answer.json()["choices"][0]["message"]["content"] == "It is 42."
            assert http.post(asked, json={"model": "podium", "messages": [question]}).status_code == 401
            old_run = f"/v1/runs/{secrets['run']}"
            assert http.get(old_run, headers=as_key["alice"]).json()["answer"] == "It is 42."
            assert http.get(old_run, headers=as_key["root"]).status_code == 200
            assert http.get(old_run, headers=as_key["bob"]).status_code == 404
            assert http.post("/sign-in", data={"key": secrets["root"]}).status_code < 400
            page = http.get(old_run.removeprefix("/v1"))
            assert (page.status_code, "What is 6 times 7?" in page.text) == (200, True)
