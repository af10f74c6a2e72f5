"""The form for one's own models: what it writes is a pool file, and nothing in it is a key or sends one elsewhere."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.acting.pool_file import read_pool
from podium.errors import ConfigError
from podium.page.pool_draft import MOST_MODELS, ModelDraft, file_name, pool_text

KEY = "sk-proj-" + "a1B2" * 10
DRAFT = ModelDraft(provider="openai", model="gpt-5-mini")


def test_what_it_writes_is_a_pool_file(tmp_path: Path) -> None:
    models = [
        ModelDraft(provider="openrouter", model="qwen/qwen3-8b", key_env="MY_API_KEY", prompt_usd="0.25", completion_usd="1"),
        ModelDraft(provider="ollama", model="qwen3:8b", prompt_usd="0", completion_usd="0"),
        ModelDraft(provider="openai", model="qwen3-8b", base_url="http://127.0.0.1:8000/v1"),
        ModelDraft(provider="openai", model="podium"),
    ]
    path = tmp_path / "pool.toml"
    path.write_text(pool_text(models))
    read = read_pool(path)
    assert [worker.name for worker in read.workers] == ["qwen3-8b", "qwen3-8b-2", "qwen3-8b-3", "podium-model"]
    assert read.conductor is not None
    assert read.conductor.worker == "qwen3-8b"
    prices = [worker.price for worker in read.workers]
    assert prices[0] is not None
    assert prices[0].completion_usd == pytest.approx(1e-6)
    assert prices[2] is None, "what is not known is not nothing"
    tables = tomllib.loads(path.read_text())["worker"]
    assert tables[0]["api_key_env"] == "MY_API_KEY"
    assert "api_key_env" not in tables[2], "an address of one's own gets no key"


@pytest.mark.parametrize(
    ("draft", "why"),
    [
        (ModelDraft(provider="openai", model=KEY), "looks like a key"),
        (ModelDraft(provider="openai", model="m", key_env=KEY), "looks like a key"),
        (ModelDraft(provider="openai", model="m", key_env="AWS_SECRET_ACCESS_KEY"), "ends in _API_KEY"),
        (ModelDraft(provider="openai", model="m", key_env="PATH"), "ends in _API_KEY"),
        (ModelDraft(provider="openai", model="m", base_url="http://evil/v1", key_env="OPENAI_API_KEY"), "gets no key"),
        (ModelDraft(provider="openai", model="m", base_url="file:///etc/passwd"), "http"),
        (ModelDraft(provider="openai", model="m", base_url="http://user:word@host/v1"), "more than scheme"),
        (ModelDraft(provider="nobody", model="m"), "providers"),
        (ModelDraft(provider="openai", model='m"\n[server]\ntask_worker="x'), "what the provider calls it"),
        (ModelDraft(provider="openai", model=""), "what the provider calls it"),
        (ModelDraft(provider="openai", model="m", prompt_usd="1"), "two parts"),
        (ModelDraft(provider="openai", model="m", prompt_usd="nan", completion_usd="1"), "dollars per million"),
        (ModelDraft(provider="openai", model="m", prompt_usd="-1", completion_usd="1"), "dollars per million"),
        (ModelDraft(provider="openai", model="m", prompt_usd="1e9", completion_usd="1"), "dollars per million"),
    ],
)
def test_what_makes_no_sense_is_said_and_no_key_is_repeated(draft: ModelDraft, why: str) -> None:
    with pytest.raises(ConfigError, match=why) as caught:
        pool_text([draft])
    assert KEY not in str(caught.value)


def test_none_or_too_many_are_refused() -> None:
    with pytest.raises(ConfigError, match="at least one"):
        pool_text([])
    with pytest.raises(ConfigError, match="takes 12"):
        pool_text([DRAFT] * (MOST_MODELS + 1))


@pytest.mark.parametrize(
    "name", ["", "../pool.toml", "/etc/pool.toml", "pool", "a/b.toml", ".toml", "pool.toml\x00", "Pool.toml", "x" * 60]
)
def test_a_file_lies_where_the_server_was_started(name: str) -> None:
    with pytest.raises(ConfigError, match=r"ends in \.toml"):
        file_name(name)


words = st.text(max_size=60)


@given(st.sampled_from(["openai", "ollama", "anthropic", "x"]), words, words, words, words, words)
def test_whatever_is_written_is_refused_or_is_the_tables_it_looks_like(
    provider: str, model: str, key_env: str, base_url: str, read: str, write: str
) -> None:
    draft = ModelDraft(provider=provider, model=model, key_env=key_env, base_url=base_url, prompt_usd=read, completion_usd=write)
    try:
        written = pool_text([draft])
    except ConfigError:
        return
    tables = tomllib.loads(written)
    assert set(tables) == {"worker", "conductor"}
    [worker] = tables["worker"]
    assert worker["model"] == f"{provider}:{model}"
    assert set(worker) <= {"name", "model", "base_url", "api_key_env", "prompt_usd_per_million", "completion_usd_per_million"}
