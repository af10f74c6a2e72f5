"""A pool file's ``extra_body`` can not get past the settings that budgets rest on."""

from pathlib import Path

import pytest

from podium.errors import ConfigError
from podium.workers.chat import ChatWorker
from podium.workers.config import read_pool
from podium.workers.extra_body import checked_body
from podium.workers.prices import Price

POOL = '[[worker]]\nname = "a"\nmodel = "openai:gpt-5-mini"\n'
PRICED = "prompt_usd_per_million = 1\ncompletion_usd_per_million = 2\n"


def read(folder: Path, lines: str) -> None:
    path = folder / "pool.toml"
    path.write_text(POOL + lines)
    read_pool(path)


@pytest.mark.parametrize(
    "body",
    [
        *("n = 8", "best_of = 4", "max_tokens = 9", "max_completion_tokens = 9", "maxOutputTokens = 9", "max_output_tokens = 9"),
        *("model = 'gpt-5-pro'", "models = ['gpt-5-pro']", "stream = true", "stream_options = {}", "prompt = 'x'"),
        *("tools = []", "plugins = [{ id = 'web' }]", "web_search_options = {}", "modalities = ['text', 'audio']"),
        *("generationConfig = { maxOutputTokens = 9 }", "generation_config = { candidateCount = 8 }", "N = 8"),
        *("options = { num_predict = -1 }", "extra_body = { google = { config = { max_output_tokens = 9 } } }"),
    ],
)
def test_what_a_bound_rests_on_is_refused_by_name_when_the_file_is_read(tmp_path: Path, body: str) -> None:
    name = body.partition(" ")[0]
    with pytest.raises(ConfigError, match=rf"worker 'a': extra_body: extra_body must not set '{name}"):
        read(tmp_path, f"{PRICED}extra_body = {{ {body} }}\n")


@pytest.mark.parametrize("body", ["service_tier = 'priority'", "serviceTier = 'flex'", "speed = 'fast'", "inference_geo = 'us'"])
def test_what_changes_the_price_of_a_token_needs_a_price(tmp_path: Path, body: str) -> None:
    with pytest.raises(ConfigError, match=rf"extra_body sets '{body.split()[0]}'.*prompt_usd_per_million"):
        read(tmp_path, f"extra_body = {{ {body} }}\n")
    read(tmp_path, f"{PRICED}extra_body = {{ {body} }}\n")


@pytest.mark.parametrize(
    "body",
    [
        {"top_k": 20, "min_p": 0.1, "repetition_penalty": 1.1},
        {"chat_template_kwargs": {"n": 1, "max_tokens": "a name in a template"}},
        {"reasoning": {"effort": "low"}, "provider": {"order": ["a"]}},
        {"options": {"num_ctx": 8192}},
    ],
)
def test_the_rest_goes_through(body: dict[str, object]) -> None:
    assert checked_body(body) == body


def test_a_worker_made_by_hand_is_held_to_the_same() -> None:
    with pytest.raises(ConfigError, match="'n'"):
        ChatWorker(model="openai:gpt-5-mini", extra_body={"n": 2})
    with pytest.raises(ConfigError, match="'service_tier'"):
        ChatWorker(model="openai:gpt-5-mini", extra_body={"service_tier": "flex"})
    ChatWorker(model="openai:m", extra_body={"service_tier": "flex"}, price=Price(prompt_usd=1e-6, completion_usd=1e-6))
