"""Which failures surely cost nothing, and which reports of use can be true. All else may be on the bill, also without an answer.

A provider charges for what it generated, whether or not the reply arrived. So a timeout, a cut connection, a gateway
error and a cancelled call are *uncertain*: their money stays booked, at its upper bound, and is shown apart.
"""

import math
from collections.abc import Iterator
from dataclasses import replace

from podium.errors import (
    BudgetExceeded,
    ConfigError,
    ContextOverflow,
    PodiumError,
    WorkerRefused,
    WorkerUnavailable,
    WorkerUnreachable,
)
from podium.types import Usage

OVERLOADED = frozenset({503, 529})
"""Server-side statuses by which a provider turns a call away before it generates."""

REQUEST_TIMEOUT = 408
"""The one client-side status after which generation may have begun."""


MOST_TOKENS = 100_000_000
"""More than any model reads or writes in one call: a report above it is a mistake or a lie."""


def plausible(usage: Usage) -> bool:
    """Whether a call can have used this many tokens. What can not be believed counts as not reported."""
    counts: tuple[object, ...] = (usage.prompt_tokens, usage.completion_tokens)
    return all(isinstance(count, int) and 0 <= count <= MOST_TOKENS for count in counts)


def believable(usage: Usage) -> Usage:
    """``usage`` without what can not be true: then it counts as not reported, and is booked at the bound of its call."""
    if not plausible(usage):
        return Usage(cost_usd=None)
    cost = usage.cost_usd
    return usage if cost is None or 0 <= cost < math.inf else replace(usage, cost_usd=None)


def surely_unpaid(error: BaseException) -> bool:
    """Whether ``error`` tells that nothing was generated for the call.

    - :class:`WorkerUnreachable`: there was no connection to send it over.
    - An HTTP status that says so (3xx, 4xx except 408, 503, 529) on the error or on what it was raised from.
    - :class:`WorkerUnavailable` with a Retry-After: the provider turned the call away.
    - :class:`ConfigError`; :class:`ContextOverflow` with any HTTP status.
    - :class:`ContextOverflow` and :class:`WorkerRefused` that were raised from nothing: the worker did not even ask. Raised from
      something without such a status, e.g. from a content filter, they may come after a whole answer.
    - :class:`BudgetExceeded`, unless it was raised from the timeout that cut a running call off.

    Never where it was reported inside an open stream, because generation had begun then, and never where a Conductor raised it
    that had carried out something: its ``transcripts`` may hold paid calls.
    """
    if (isinstance(error, PodiumError) and error.transcripts) or any(getattr(seen, "in_stream", False) for seen in _chain(error)):
        return False
    if isinstance(error, ConfigError | WorkerUnreachable):
        return True
    if isinstance(error, BudgetExceeded):
        return error.__cause__ is None
    status = _http_status(error)
    if status is not None:
        refused = status in OVERLOADED or (300 <= status < 500 and status != REQUEST_TIMEOUT)
        return refused or isinstance(error, ContextOverflow)
    if isinstance(error, WorkerUnavailable):
        return error.retry_after is not None
    return isinstance(error, WorkerRefused | ContextOverflow) and error.__cause__ is None


def _chain(error: BaseException) -> Iterator[BaseException]:
    """``error`` and what it was raised from, nearest first."""
    seen: BaseException | None = error
    while seen is not None:
        yield seen
        seen = seen.__cause__


def _http_status(error: BaseException) -> int | None:
    """The ``status_code`` nearest to ``error`` in the chain of what it was raised from."""
    statuses = (getattr(seen, "status_code", None) for seen in _chain(error))
    return next((status for status in statuses if isinstance(status, int)), None)
