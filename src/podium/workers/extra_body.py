"""What a pool file may put into a worker's requests by itself, and what it may not.

A budget is kept because the most a call can cost is known before it is sent. So nothing goes past the settings that say how
much is asked for, and nothing that costs extra; and what a worker is shown comes from the call alone. Names are
compared as vendors write them, ``max_tokens`` or ``maxOutputTokens``, also inside the tables that vendors nest them in.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from podium.errors import ConfigError

_ASKED = "what the worker is asked comes from the call"
_LENGTH = "budgets rest on the worker's max_tokens; set max_tokens in its table of the pool file"
_ANSWERS = "a call is one answer, and budgets rest on that; ask again for another one"
_EXTRAS = "what a provider does besides answering has a price of its own, which no budget here can know"
_FORBIDDEN = {
    **dict.fromkeys(
        ("contents", "functions", "input", "messages", "model", "models", "prompt", "stream", "stream_options", "system"), _ASKED
    ),
    **dict.fromkeys(("system_instruction", "tools"), _ASKED),
    **dict.fromkeys(("best_of", "candidate_count", "n", "num_completions", "num_generations"), _ANSWERS),
    **dict.fromkeys(("max_completion_tokens", "max_new_tokens", "max_output_tokens", "max_tokens", "num_predict"), _LENGTH),
    **dict.fromkeys(("audio", "mcp_servers", "modalities", "plugins", "prediction", "response_modalities"), _EXTRAS),
    **dict.fromkeys(("search_parameters", "web_search", "web_search_options"), _EXTRAS),
}
_PRICED = ("inference_geo", "processing", "service_tier", "speed")
"""These change what a token costs, and the price list knows the usual price only."""
_TABLES = ("config", "extra_body", "generation_config", "google", "options", "parameters")
"""Where vendors nest the settings of a request."""


def checked_body(extra_body: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of ``extra_body``; :class:`ConfigError` where it can not be sent or would change what a call asks for or costs.

    Example: ``checked_body({"top_k": 20})``.
    """
    for place, name in _settings(extra_body):
        reason = _BY_NAME.get(_plain(name))
        if reason is not None:
            raise ConfigError(f"extra_body must not set {place!r}: {reason}")
    try:
        json.dumps(extra_body, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ConfigError(
            "extra_body can not be sent as JSON; use strings, finite numbers, booleans, lists and tables"
        ) from error
    return dict(extra_body)


def price_problem(extra_body: Mapping[str, Any]) -> str | None:
    """What is wrong with ``extra_body`` where no price is declared; None: nothing.

    Example: ``price_problem({"speed": "fast"})``.
    """
    for place, name in _settings(extra_body):
        if _plain(name) in map(_plain, _PRICED):
            return (
                f"extra_body sets {place!r}, which changes what a token costs: set prompt_usd_per_million and "
                "completion_usd_per_million to what it costs then"
            )
    return None


def _plain(name: str) -> str:
    """``maxTokens``, ``max-tokens`` and ``max_tokens`` are one name."""
    return "".join(character for character in name.casefold() if character.isalnum())


_BY_NAME = {_plain(name): reason for name, reason in _FORBIDDEN.items()}


def _settings(body: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    """(where it stands, its name) of each setting of a request."""
    for name, value in body.items():
        yield f"{above}{name}", name
        if isinstance(value, Mapping) and _plain(name) in map(_plain, _TABLES):
            yield from _settings(value, f"{above}{name}.")
