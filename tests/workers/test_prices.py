"""Prices: the pool file first, the list next, else unknown and never 0."""

import pytest
from pydantic_ai.usage import RequestUsage

from podium.workers.price_list import PRICE_LIST, cost_of, price_of
from podium.workers.prices import Price, how_to_price

THOUSAND = RequestUsage(input_tokens=1000, output_tokens=100)


def test_the_list_knows_the_large_providers() -> None:
    price = price_of("openai", "gpt-5-mini")
    assert price is not None
    assert price.prompt_usd == pytest.approx(0.25e-6)
    assert price.completion_usd == pytest.approx(2e-6)
    assert price.source == PRICE_LIST
    assert cost_of(THOUSAND, "openai", "gpt-5-mini", price) == pytest.approx(0.00045)


def test_the_list_prices_tiers_and_cached_tokens() -> None:
    price = price_of("anthropic", "claude-sonnet-4-5")
    assert price is not None
    short = cost_of(RequestUsage(input_tokens=100_000), "anthropic", "claude-sonnet-4-5", price)
    long = cost_of(RequestUsage(input_tokens=300_000), "anthropic", "claude-sonnet-4-5", price)
    cached = cost_of(RequestUsage(input_tokens=100_000, cache_read_tokens=90_000), "anthropic", "claude-sonnet-4-5", price)
    assert short == pytest.approx(0.3)
    assert long == pytest.approx(1.8)  # all of it at the higher tier
    assert cached == pytest.approx(10_000 * 3e-6 + 90_000 * 0.3e-6)


def test_the_pool_file_goes_first_and_zero_is_a_price() -> None:
    free = Price(prompt_usd=0.0, completion_usd=0.0)
    assert price_of("openai", "gpt-5-mini", free) is free
    assert cost_of(THOUSAND, "openai", "gpt-5-mini", free) == 0.0
    dear = Price(prompt_usd=1e-3, completion_usd=2e-3)
    assert cost_of(THOUSAND, "ollama", "qwen3:8b", dear) == pytest.approx(1.2)


@pytest.mark.parametrize(
    ("provider", "model", "base_url"),
    [
        ("openai", "no-such-model", None),
        ("ollama", "qwen3:8b", None),
        ("vllm", "Qwen/Qwen3-8B", "http://localhost:8000/v1"),
        ("openai", "gpt-5-mini", "http://localhost:8000/v1"),
    ],
)
def test_unknown_is_none(provider: str, model: str, base_url: str | None) -> None:
    assert price_of(provider, model, None, base_url) is None
    assert cost_of(THOUSAND, provider, model, None, base_url) is None


def test_an_address_the_list_knows_has_list_prices() -> None:
    assert price_of("openai", "gpt-5-mini", None, "https://api.openai.com/v1") == price_of("openai", "gpt-5-mini")


def test_no_reported_tokens_and_contradicting_ones_have_no_known_cost() -> None:
    price = price_of("openai", "gpt-5-mini")
    assert cost_of(RequestUsage(), "openai", "gpt-5-mini", price) is None
    assert cost_of(RequestUsage(input_tokens=5, cache_read_tokens=50), "openai", "gpt-5-mini", price) is None


def test_the_hint_names_the_worker_and_both_keys() -> None:
    hint = how_to_price("local")
    assert "'local'" in hint
    assert "prompt_usd_per_million = 0" in hint
    assert "completion_usd_per_million = 0" in hint
