"""What a completion costs: the pool file's own prices first, then the price list of ``genai-prices``, else unknown.

The list is data inside the package: nothing is fetched. Unknown is None and never 0, so a free local model has to say so.
"""

from decimal import Decimal

import genai_prices
from genai_prices.types import PriceCalculation, TieredPrices
from pydantic_ai.usage import RequestUsage

from podium.workers.prices import PER_MILLION, ModelFacts, MostUsd, Price
from podium.workers.rates import most_usd

PRICE_LIST = f"genai-prices {genai_prices.__version__}"


_NOTHING = RequestUsage()


def price_of(provider: str, model: str, override: Price | None = None, base_url: str | None = None) -> Price | None:
    """The price of ``model``; None where it is unknown.

    With a ``base_url`` the address decides and the provider's name does not: a model behind your own gateway or on your
    own machine has no list price. Example: ``price_of("openai", "gpt-5-mini").completion_usd  # 2e-06``.
    """
    if override is not None:
        return override
    listed = _listed(_NOTHING, provider, model, base_url)
    if listed is None:
        return None
    prompt, completion = _base(listed.model_price.input_mtok), _base(listed.model_price.output_mtok)
    if prompt is None or completion is None:
        return None
    cached = _base(getattr(listed.model_price, "cache_read_mtok", None))
    return Price(
        prompt_usd=prompt * PER_MILLION,
        completion_usd=completion * PER_MILLION,
        cached_usd=None if cached is None else cached * PER_MILLION,
        source=PRICE_LIST,
    )


def facts_of(provider: str, model: str, base_url: str | None = None) -> ModelFacts:
    """What the list knows of ``model`` besides prices: few entries say more than the size of the context."""
    listed = _listed(_NOTHING, provider, model, base_url)
    if listed is None:
        return ModelFacts()
    sees = getattr(listed.model_price, "input_image_mtok", None) is not None
    return ModelFacts(context_tokens=listed.model.context_window, sees=sees)


def cost_of(usage: RequestUsage, provider: str, model: str, price: Price | None, base_url: str | None = None) -> float | None:
    """Dollars for ``usage``; None where the price is unknown or the provider reported no tokens.

    ``price`` is what :func:`price_of` gave. The pool file's is multiplied out; the list's is computed by the list itself,
    which knows tiers and cached tokens. Example: 1000 prompt and 100 completion tokens of gpt-5-mini cost 0.00045.
    """
    prompt, completion = usage.input_tokens, usage.output_tokens
    if price is None or not prompt + completion:
        return None
    if price.source != PRICE_LIST:
        return _flat(price, prompt, completion, usage.cache_read_tokens)
    listed = _listed(usage, provider, model, base_url)
    return None if listed is None else float(listed.total_price)


def bound_of(provider: str, model: str, price: Price | None, base_url: str | None, seconds: float) -> MostUsd:
    """What a call of so many tokens can cost at most, if it takes up to ``seconds``; ``price`` as for :func:`cost_of`.

    Never less than :func:`cost_of` gives for as many tokens. Example::

        bound_of("openai", "gpt-5-mini", price, None, 600.0)(58, 100)
    """
    if price is None:
        return lambda prompt_tokens, completion_tokens: None
    if price.source != PRICE_LIST:
        dearest = max(price.prompt_usd, price.cached_usd or 0.0)
        return lambda prompt_tokens, completion_tokens: prompt_tokens * dearest + completion_tokens * price.completion_usd
    listed = _listed(_NOTHING, provider, model, base_url)
    if listed is None:
        raise RuntimeError(f"the price list no longer knows {provider}:{model}")
    info = listed.model
    return lambda prompt_tokens, completion_tokens: most_usd(info, prompt_tokens, completion_tokens, seconds)


def _flat(price: Price, prompt_tokens: int, completion_tokens: int, cached_tokens: int) -> float:
    if not 0 <= cached_tokens <= prompt_tokens:
        cached_tokens = 0  # the provider's counts contradict each other, so none of them is taken for cheaper
    cached_usd = price.prompt_usd if price.cached_usd is None else price.cached_usd
    fresh = prompt_tokens - cached_tokens
    return fresh * price.prompt_usd + cached_tokens * cached_usd + completion_tokens * price.completion_usd


def _listed(usage: RequestUsage, provider: str, model: str, base_url: str | None) -> PriceCalculation | None:
    try:
        if base_url is not None:
            return genai_prices.calc_price(usage, model, provider_api_url=base_url)
        return genai_prices.calc_price(usage, model, provider_id=provider)
    except (LookupError, ValueError):
        # ValueError: the provider's counts contradict each other (more cached tokens than prompt tokens).
        return None


def _base(price: Decimal | TieredPrices | None) -> float | None:
    """Dollars per million tokens in the first tier."""
    if price is None:
        return None
    return float(price.base if isinstance(price, TieredPrices) else price)
