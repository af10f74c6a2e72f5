"""Failures in OpenAI's shape and in Anthropic's: which status, which type, whether it is worth another try.

| blame | status |
|---|---|
| user | 400; 401 and 403 for keys; 402 for a budget; 429 for a quota |
| policy | 502: it wrote no workflow, also when asked once more |
| world | 503, 504 after a timeout, with Retry-After; 502 where another try is no use |
| bug | 500, and a line in the log |
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from podium.errors import (
    AccessDenied,
    Blame,
    BudgetExceeded,
    ContextOverflow,
    PodiumError,
    QuotaExceeded,
    WorkerRefused,
    WorkerUnavailable,
)

_TIMEOUT = re.compile(r"timed[ -]?out|time-?out", re.IGNORECASE)


_ANTHROPIC = {
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
}
"""Anthropic's types of errors by status."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiError:
    """An answer that is an error."""

    status: int
    message: str
    kind: str
    code: str
    param: str | None = None
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def body(self) -> dict[str, Any]:
        """OpenAI's error object."""
        return {"error": {"message": self.message, "type": self.kind, "param": self.param, "code": self.code}}

    @property
    def anthropic_body(self) -> dict[str, Any]:
        """Anthropic's, with what OpenAI's says besides."""
        kind = _ANTHROPIC.get(self.status, "invalid_request_error" if self.status < 500 else "api_error")
        return {"type": "error", "error": {"type": kind, "message": self.message, "param": self.param, "code": self.code}}


BUG = ApiError(status=500, message="a bug; the server's log has it", kind="server_error", code="internal_error")


class ApiErrorException(Exception):
    """A request that is answered with an error before anything was asked of anybody."""

    def __init__(self, problem: ApiError) -> None:
        super().__init__(problem.message)
        self.problem = problem


def no_such_model(name: str, models: Sequence[str]) -> ApiErrorException:
    """404, with what there is."""
    message = f"there is no model {name[:100]!r}; there are {', '.join(models)}"
    return ApiErrorException(
        ApiError(status=404, message=message, kind="invalid_request_error", code="model_not_found", param="model")
    )


def overloaded(waiting: int) -> ApiErrorException:
    """429: more requests wait than this server lets wait."""
    message = f"{waiting} requests wait already; try again in a moment"
    return ApiErrorException(
        ApiError(status=429, message=message, kind="rate_limit_error", code="overloaded", headers={"Retry-After": "1"})
    )


def unreadable(errors: Sequence[Any], body: object) -> ApiError:
    """400: a field is not as it has to be. Of several mistakes, that of the alternative which came furthest is told."""
    first = max(errors, key=lambda error: (error["type"] in _OURS, len(_path(error["loc"][1:], body))))
    place = ".".join(_path(first["loc"][1:], body)) or None
    message = f"{place}: {first['msg']}" if place else str(first["msg"])
    code = "not_served" if first["type"] == "not_served" else "invalid_request"
    return ApiError(status=400, message=message[:1000], kind="invalid_request_error", code=code, param=place)


_OURS = ("half_character", "not_served", "too_deep", "too_many_fields", "unknown_item", "unknown_tool")
"""Mistakes that our own rules name: the others of the same place only say that no alternative fits."""


def _path(location: Sequence[int | str], body: object) -> list[str]:
    """The fields and numbers of ``location`` that stand in ``body``, or are missing there; not the names of alternatives."""
    path: list[str] = []
    here: Any = body
    for number, part in enumerate(location):
        is_last = number == len(location) - 1
        if _holds(here, part):
            here = here[part]
        elif not (is_last and isinstance(here, dict)):
            continue
        path.append(str(part))
    return path


def _holds(value: object, part: int | str) -> bool:
    if isinstance(value, dict):
        return part in value
    return isinstance(value, list) and isinstance(part, int) and part < len(value)


def problem_of(error: PodiumError) -> ApiError:
    """What a client is told: the step, the worker, and the provider's own words, cut short and without its key."""
    message = str(error)
    match error:
        case AccessDenied(known=True):
            return ApiError(status=403, message=message, kind="permission_error", code="insufficient_permissions")
        case AccessDenied():
            headers = {"WWW-Authenticate": "Bearer"}
            return ApiError(status=401, message=message, kind="authentication_error", code="invalid_api_key", headers=headers)
        case QuotaExceeded():
            monthly = error.retry_after is None or error.retry_after > 120
            kind, code = ("insufficient_quota",) * 2 if monthly else ("rate_limit_error", "rate_limit_exceeded")
            headers = _later(error.retry_after) | ({"X-Should-Retry": "false"} if monthly else {})
            return ApiError(status=429, message=message, kind=kind, code=code, headers=headers)
        case BudgetExceeded():
            return ApiError(status=402, message=message, kind="invalid_request_error", code="budget_exceeded")
        case ContextOverflow():
            return ApiError(status=400, message=message, kind="invalid_request_error", code="context_length_exceeded")
        case WorkerRefused():
            never = {"X-Should-Retry": "false"}
            return ApiError(status=502, message=message, kind="server_error", code="worker_refused", headers=never)
        case WorkerUnavailable():
            late = _TIMEOUT.search(message) is not None  # the adapter says so in words only
            headers = _later(error.retry_after if error.retry_after is not None else 1.0)
            code = "worker_timeout" if late else "worker_unavailable"
            return ApiError(status=504 if late else 503, message=message, kind="server_error", code=code, headers=headers)
    match error.blame:
        case Blame.USER:
            return ApiError(status=400, message=message, kind="invalid_request_error", code="invalid_request")
        case Blame.POLICY:
            return ApiError(status=502, message=message, kind="server_error", code="no_workflow")
        case Blame.WORLD:
            return ApiError(status=503, message=message, kind="server_error", code="unavailable", headers=_later(1.0))


def _later(seconds: float | None) -> dict[str, str]:
    return {} if seconds is None else {"Retry-After": str(max(1, math.ceil(seconds)))}
