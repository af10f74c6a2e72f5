"""Which failures surely cost nothing. Everything else may be on the bill, although no answer came back.

A provider charges for what it generated, whether or not the reply arrived. So a timeout, a cut connection, a gateway
error and a cancelled call are *uncertain*: their money stays booked, at its upper bound, and is shown apart.
"""

from podium.errors import BudgetExceeded, ConfigError, ContextOverflow, WorkerRefused, WorkerUnavailable

OVERLOADED = frozenset({503, 529})
"""Server-side statuses by which a provider turns a call away before it generates."""

REQUEST_TIMEOUT = 408
"""The one client-side status after which generation may have begun."""


def surely_unpaid(error: BaseException) -> bool:
    """Whether ``error`` tells that nothing was generated for the call.

    - An HTTP status that says so (3xx, 4xx except 408, 503, 529) on the error or on what it was raised from.
    - :class:`WorkerUnavailable` with a Retry-After: the provider turned the call away.
    - :class:`ContextOverflow`, :class:`ConfigError`, and :class:`WorkerRefused` unless it was raised from something without
      such a status, e.g. from a content filter, which may have read a whole answer first.
    - :class:`BudgetExceeded`, unless it was raised from the timeout that cut a running call off.
    """
    if isinstance(error, ContextOverflow | ConfigError):
        return True
    if isinstance(error, BudgetExceeded):
        return error.__cause__ is None
    status = _http_status(error)
    if status is not None:
        return status in OVERLOADED or (300 <= status < 500 and status != REQUEST_TIMEOUT)
    if isinstance(error, WorkerUnavailable):
        return error.retry_after is not None
    return isinstance(error, WorkerRefused) and error.__cause__ is None


def _http_status(error: BaseException) -> int | None:
    """The ``status_code`` nearest to ``error`` in the chain of what it was raised from.

    None where it was reported inside an open stream: then generation had begun, whatever the status says.
    """
    seen: BaseException | None = error
    while seen is not None:
        if getattr(seen, "in_stream", False):
            return None
        status = getattr(seen, "status_code", None)
        if isinstance(status, int):
            return status
        seen = seen.__cause__
    return None
