"""The bound in dollars is never below the real price, whatever tokens a provider counts: for every model of the list."""

import random
from datetime import UTC, datetime

import genai_prices
import pytest
from genai_prices.data_snapshot import get_snapshot
from genai_prices.types import ModelInfo, ModelPrice, Provider, TieredPrices
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic_ai.usage import RequestUsage

from podium.errors import BudgetExceeded
from podium.types import Call, Card, Completion, ResponseOptions, Sampling, Tool, Usage
from podium.workers.bound import TOKENS_FOR_TOOLS, bound, completion_cap
from podium.workers.budget import Budget
from podium.workers.chat import ChatWorker
from podium.workers.metered import Metered
from podium.workers.price_list import bound_of, cost_of, price_of
from podium.workers.prices import Price
from podium.workers.rates import most_usd


def listed() -> list[tuple[Provider, ModelInfo]]:
    return [(provider, model) for provider in get_snapshot().providers for model in provider.models]


def prices_of(model: ModelInfo) -> list[ModelPrice]:
    return [model.prices] if isinstance(model.prices, ModelPrice) else [each.prices for each in model.prices]


TIERED = [
    (provider, model)
    for provider, model in listed()
    if any(isinstance(price, TieredPrices) for prices in prices_of(model) for price in vars(prices).values())
]


def real_usd(provider: Provider, model: ModelInfo, usage: RequestUsage) -> float | None:
    try:
        return float(model.calc_price(usage, provider, genai_request_timestamp=datetime.now(UTC)).total_price)
    except ValueError:  # this model has no price for such tokens
        return None


def test_there_is_something_to_check() -> None:
    assert len(TIERED) > 100
    assert len(listed()) > 2000


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_never_below_the_real_price_of_a_model_with_tiers(data: st.DataObject) -> None:
    provider, model = data.draw(st.sampled_from(TIERED))
    starts = sorted(
        {
            tier.start
            for prices in prices_of(model)
            for price in vars(prices).values()
            if isinstance(price, TieredPrices)
            for tier in price.tiers
        }
    )
    start = data.draw(st.sampled_from(starts))
    estimated = max(0, start // data.draw(st.sampled_from([1, 2, 3])) + data.draw(st.integers(-2, 2)))
    check(provider, model, estimated, data.draw(st.integers(0, 200_000)), data.draw(st.randoms(use_true_random=False)))


def test_never_below_the_real_price_of_any_model() -> None:
    rng = random.Random(8)
    for provider, model in listed():
        check(provider, model, rng.choice([0, 1, 1000, 150_000, 1_000_000]), rng.choice([0, 1, 4096, 100_000]), rng)


def check(provider: Provider, model: ModelInfo, prompt: int, completion: int, rng: random.Random) -> None:
    """All ways to count at most ``prompt`` and ``completion`` tokens that ``rng`` finds."""
    most = most_usd(model, prompt, completion, 600.0)
    for _ in range(2):
        read = rng.randint(0, prompt)
        written = rng.randint(0, prompt - read)
        for usage in (
            RequestUsage(input_tokens=prompt, output_tokens=completion),
            RequestUsage(input_tokens=prompt, output_tokens=completion, cache_read_tokens=read, cache_write_tokens=written),
            RequestUsage(input_tokens=rng.randint(0, prompt), output_tokens=rng.randint(0, completion)),
        ):
            real = real_usd(provider, model, usage)
            assert real is None or real <= most * (1 + 1e-9), (provider.id, model.id, usage, real, most)


def test_a_prompt_that_is_longer_than_estimated_is_bounded_at_its_own_tier() -> None:
    price = price_of("anthropic", "claude-sonnet-4-5")
    at_most = bound_of("anthropic", "claude-sonnet-4-5", price, None, 600.0)(150_000, 1000)
    real = cost_of(RequestUsage(input_tokens=210_000, output_tokens=1000), "anthropic", "claude-sonnet-4-5", price)
    assert at_most is not None
    assert real is not None
    assert at_most >= 150_000 * 6e-6 + 1000 * 22.5e-6  # the estimate, at the upper tier
    assert at_most == pytest.approx(150_000 * 12e-6 + 1000 * 22.5e-6)  # which has a price for writing to the cache, too


def test_a_price_by_the_hour_is_that_of_the_calls_end_or_dearer() -> None:
    [model] = [model for provider, model in listed() if (provider.id, model.id) == ("deepseek", "deepseek-reasoner")]
    for seconds in (1.0, 86_400.0):
        now = max(float(prices.output_mtok or 0) for prices in [model.get_prices(datetime.now(UTC))])  # type: ignore[arg-type]
        assert most_usd(model, 0, 1_000_000, seconds) >= now
    dearest = max(float(prices.output_mtok) for prices in prices_of(model))  # type: ignore[arg-type]
    assert most_usd(model, 0, 1_000_000, 86_400.0) == pytest.approx(dearest)


def test_a_fee_for_each_request_is_in_the_bound() -> None:
    usage = RequestUsage(input_tokens=10, output_tokens=10)
    [(provider, model)] = [found for found in listed() if (found[0].id, found[1].id) == ("perplexity", "sonar")]
    real = real_usd(provider, model, usage)
    assert real is not None
    assert real > 0.01
    assert most_usd(model, 10, 10, 600.0) >= real


def test_the_pool_files_price_is_the_bound_and_an_unknown_one_is_none() -> None:
    price = Price(prompt_usd=1e-6, completion_usd=2e-6)
    assert bound_of("openai", "gpt-5-mini", price, None, 600.0)(10, 5) == pytest.approx(20e-6)
    assert bound_of("openai", "no-such-model", None, None, 600.0)(10, 5) is None


@pytest.mark.parametrize("model", ["google:gemini-2.5-pro", "anthropic:claude-sonnet-4-5", "openai:gpt-5.4"])
async def test_a_cap_is_kept_where_the_price_rises_with_the_prompt(model: str) -> None:
    """The bill is the list's for what the prompt really was; a budget stops before it."""
    provider, name = model.split(":")
    chat = ChatWorker(model=model, api_key="key-1")
    bill = 0.0

    async def bills(call: Call) -> Completion:
        nonlocal bill
        used = RequestUsage(input_tokens=290_000, output_tokens=4096)
        usd = cost_of(used, provider, name, chat.price)
        assert usd is not None
        bill += usd
        return Completion(text="42", usage=Usage(prompt_tokens=290_000, completion_tokens=4096, cost_usd=usd))

    assert chat.price is not None
    card = Card(name="w", prompt_usd=chat.price.prompt_usd, completion_usd=chat.price.completion_usd)
    one = genai_prices.calc_price(RequestUsage(input_tokens=290_000, output_tokens=4096), name, provider_id=provider).total_price
    cap = float(one) * 2.2
    worker = Metered(bills, card, 4096, [Budget(usd=cap)], chat.most_usd)

    async def until_it_is_spent() -> None:
        for number in range(9):
            await worker(Call.plain(f"{number} " + "x" * 600_000))

    with pytest.raises(BudgetExceeded):
        await until_it_is_spent()
    assert bill <= cap


class TestTokens:
    def test_a_client_lowers_the_workers_cap_and_never_raises_it(self) -> None:
        lower, higher = Sampling(max_tokens=10), Sampling(max_tokens=10_000)
        for asked, cap in ((Sampling(), 50), (lower, 10), (higher, 50)):
            call = Call(response_options=ResponseOptions(sampling=asked))
            assert bound(call, 50).completion_tokens == completion_cap(call, 50) == cap
        assert completion_cap(Call(response_options=ResponseOptions(sampling=lower)), None) == 10

    def test_who_runs_podium_replaces_the_workers_cap_and_a_client_lowers_that(self) -> None:
        lower, higher = Sampling(max_tokens=10), Sampling(max_tokens=10_000)
        for own, demanded, cap in (
            (higher, Sampling(), 10_000),
            (higher, lower, 10),
            (lower, higher, 10),
            (lower, Sampling(), 10),
        ):
            call = Call(sampling=own, response_options=ResponseOptions(sampling=demanded))
            assert bound(call, 50).completion_tokens == completion_cap(call, 50) == cap
        assert completion_cap(Call.plain("?"), None) is None

    def test_tools_come_with_a_prompt_of_the_providers(self) -> None:
        bare = bound(Call.plain("?"), 50).prompt_tokens
        assert bound(
            Call(question=Call.plain("?").question, response_options=ResponseOptions(tools=(Tool(name="now"),))), 50
        ).prompt_tokens > (bare + TOKENS_FOR_TOOLS)

    @pytest.mark.parametrize("tokens", [-1, 10**15, float("nan"), 1e15, "many"])
    async def test_a_report_that_can_not_be_true_is_booked_at_the_bound(self, tokens: object) -> None:
        async def lies(call: Call) -> Completion:
            usage = Usage(prompt_tokens=tokens, completion_tokens=1, cost_usd=0.0)  # type: ignore[arg-type]
            return Completion(text="42", usage=usage)

        budget = Budget(usd=1)
        worker = Metered(lies, Card(name="w", prompt_usd=1e-6, completion_usd=2e-6), 50, [budget])
        await worker(Call.plain("?"))
        assert budget.spent == bound(Call.plain("?"), 50, Card(name="w", prompt_usd=1e-6, completion_usd=2e-6))
