"""What a request chooses, as headers, for clients that can not send fields of their own, and what every answer's headers say."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from pydantic import ValidationError

from podium.errors import ConfigError
from podium.request_options import RequestOptions
from podium.serving.asking import ChoiceDone
from podium.serving.figures import total_usage
from podium.serving.requests import AnyRequest
from podium.serving.service import ActiveRequest
from podium.workflow.draw import plain

OneRequest = TypeVar("OneRequest", bound=AnyRequest)
_LISTS = ("workers", "exclude_workers")
_PREFIX = "x-podium-"
_FIELDS = {_PREFIX + name.replace("_", "-"): name for name in RequestOptions.model_fields}
"""Header, as a request's are read: in small letters -> field."""
IGNORED = "X-Podium-Ignored"
EXPOSED = (
    "X-Podium-Run",
    "X-Podium-Session",
    "X-Podium-Acting",
    "X-Podium-Prompt-Tokens",
    "X-Podium-Completion-Tokens",
    "X-Podium-Cost-Usd",
    IGNORED,
    "X-Request-Id",
    "Request-Id",
    "Retry-After",
    "X-Should-Retry",
)
"""What a page of another origin may read of an answer's headers."""


def with_headers(body: OneRequest, headers: Mapping[str, str]) -> OneRequest:
    """``body`` with what ``X-Podium-...`` headers say besides its ``podium``; a field that both name is the body's.

    ``X-Podium-Workers`` and ``X-Podium-Exclude-Workers`` hold names with commas between them. Raises :class:`ConfigError`.
    """
    named: dict[str, object] = {}
    for header, value in headers.items():
        name = _FIELDS.get(header)
        if name is not None and name not in named and name not in body.podium.model_fields_set:
            named[name] = [part.strip() for part in value.split(",") if part.strip()] if name in _LISTS else value.strip()
    if not named:
        return body
    try:
        options = RequestOptions.model_validate({**body.podium.model_dump(exclude_unset=True), **named})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = _PREFIX + str(first["loc"][0]).replace("_", "-")
        raise ConfigError(f"header {place}: {first['msg']}") from error
    return body.model_copy(update={"podium": options})


def run_headers(active: ActiveRequest, dones: Sequence[ChoiceDone] = ()) -> dict[str, str]:
    """The run's id, what of the request was left out, and what all steps used and cost and what was paid, where that is known."""
    headers = {"X-Podium-Run": active.run, "X-Request-Id": active.run, "Request-Id": active.run}
    if active.session is not None:
        headers["X-Podium-Session"] = active.session.id
        if active.session.acting is not None:
            who = plain(active.session.acting.worker).encode("ascii", "backslashreplace").decode("ascii")
            headers["X-Podium-Acting"] = f"{who}; {active.session.acting.why}"
    if active.parsed.ignored:
        headers[IGNORED] = ", ".join(active.parsed.ignored)
    if not dones:
        return headers
    total = total_usage(dones)
    headers |= {"X-Podium-Prompt-Tokens": str(total.prompt_tokens), "X-Podium-Completion-Tokens": str(total.completion_tokens)}
    dollars = {"X-Podium-Cost-Usd": total.cost_usd, "X-Podium-Paid-Usd": active.admission.budget.paid_usd}
    return headers | {name: f"{usd:.9f}" for name, usd in dollars.items() if usd is not None}
