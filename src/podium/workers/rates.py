"""The most a call can cost by the price list, whatever kinds of tokens the provider counts.

A card's two prices are those of a short call without a cache. The list knows more: prices that rise for the whole call
once its prompt passes a length, cached and reasoning tokens, a fee for each request, prices by date and hour. A bound has
to be right for all of them, so each part is taken at the dearest rate that it could meet.

Left out: sound, which no call holds, pictures as answers, and searches, which a provider makes only where it is asked to.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from genai_prices.types import ModelInfo, ModelPrice, TieredPrices

from podium.workers.bound import BYTES_PER_TOKEN
from podium.workers.prices import PER_MILLION

PER_THOUSAND = 1e-3
PRICES_HOLD = timedelta(minutes=30)
"""No listed price by the hour is in force for less."""
LONGEST_CALL = timedelta(days=1)
_NEVER_SENT = ("audio", "output_image", "video")


def most_usd(model: ModelInfo, prompt_tokens: int, completion_tokens: int, seconds: float) -> float:
    """The most that so many tokens of ``model`` can cost, in dollars, where the call may take ``seconds`` from now.

    Example: 150,000 and 1,000 tokens of claude-sonnet-4-5 are bounded at the rates of its upper tier, because a prompt that
    is estimated at 150,000 tokens can have more than the 200,000 at which that tier begins.
    """
    # A token is a byte at least, and the estimate is a part of the bytes: so many tokens can there be.
    longest = BYTES_PER_TOKEN * prompt_tokens
    sets = {id(prices): prices for prices in (model.get_prices(moment) for moment in _moments(seconds))}
    return max(_cost(prices, prompt_tokens, completion_tokens, longest) for prices in sets.values())


def _cost(prices: ModelPrice, prompt_tokens: int, completion_tokens: int, longest: int) -> float:
    prompt = completion = request = 0.0
    for name, price in vars(prices).items():
        if price is None or any(word in name for word in _NEVER_SENT):
            continue
        if name == "requests_kcount":
            request = _dearest(price, longest) * PER_THOUSAND
        elif name.endswith("_mtok") and name.startswith("output"):
            completion = max(completion, _dearest(price, longest) * PER_MILLION)
        elif name.endswith("_mtok"):  # input, cached, written to the cache
            prompt = max(prompt, _dearest(price, longest) * PER_MILLION)
    return prompt_tokens * prompt + completion_tokens * completion + request


def _dearest(price: Decimal | TieredPrices, longest: int) -> float:
    """The highest rate that a prompt of up to ``longest`` tokens can meet."""
    if isinstance(price, TieredPrices):
        return float(max([price.base, *(tier.price for tier in price.tiers if longest > tier.start)]))
    return float(price)


def _moments(seconds: float) -> Iterator[datetime]:
    """From now to the end of the call, so often that no listed price is missed: a call pays the price of its end."""
    moment = datetime.now(UTC)
    end = moment + min(timedelta(seconds=seconds), LONGEST_CALL)
    while moment < end:
        yield moment
        moment += PRICES_HOLD
    yield end
