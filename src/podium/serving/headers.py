"""The extension as headers, for clients that can not send fields of their own, and what every answer's headers say."""

from collections.abc import Mapping, Sequence

from pydantic import ValidationError

from podium.errors import ConfigError
from podium.serving.asking import ChoiceDone
from podium.serving.requests import Extension
from podium.serving.service import ActiveRequest, total_usage

_LISTS = ("workers", "exclude_workers")
_PREFIX = "x-podium-"
IGNORED = "X-Podium-Ignored"
EXPOSED = (
    "X-Podium-Run",
    "X-Podium-Prompt-Tokens",
    "X-Podium-Completion-Tokens",
    "X-Podium-Cost-Usd",
    IGNORED,
    "X-Request-Id",
    "Retry-After",
    "X-Should-Retry",
)
"""What a page of another origin may read of an answer's headers."""


def with_headers(extension: Extension, headers: Mapping[str, str]) -> Extension:
    """``extension`` with what ``X-Podium-...`` headers say; a field that both name is the body's.

    ``X-Podium-Workers`` and ``X-Podium-Exclude-Workers`` hold names with commas between them. Raises :class:`ConfigError`.
    """
    named: dict[str, object] = {}
    for name in Extension.model_fields:
        value = headers.get(_PREFIX + name.replace("_", "-"))
        if value is not None and name not in extension.model_fields_set:
            named[name] = [part.strip() for part in value.split(",") if part.strip()] if name in _LISTS else value.strip()
    if not named:
        return extension
    try:
        return Extension.model_validate({**extension.model_dump(exclude_unset=True), **named})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = _PREFIX + str(first["loc"][0]).replace("_", "-")
        raise ConfigError(f"header {place}: {first['msg']}") from error


def run_headers(active: ActiveRequest, dones: Sequence[ChoiceDone] = ()) -> dict[str, str]:
    """The run's id, what of the request was left out, and what all steps used and cost and what was paid, where that is known."""
    headers = {"X-Podium-Run": active.run, "X-Request-Id": active.run}
    if active.parsed.ignored:
        headers[IGNORED] = ", ".join(active.parsed.ignored)
    if not dones:
        return headers
    total = total_usage(dones)
    headers |= {"X-Podium-Prompt-Tokens": str(total.prompt_tokens), "X-Podium-Completion-Tokens": str(total.completion_tokens)}
    dollars = {"X-Podium-Cost-Usd": total.cost_usd, "X-Podium-Paid-Usd": active.admission.budget.paid.cost_usd}
    return headers | {name: f"{usd:.9f}" for name, usd in dollars.items() if usd is not None}
