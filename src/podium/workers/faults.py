"""A vendor's error -> Podium's: the one place that maps them.

    no connection: refused, unknown name, no TLS                               WorkerUnreachable   try again; nothing was sent
    429, 5xx, 408/409/425, timeout, cut stream, unreadable reply               WorkerUnavailable   try again
    the call does not fit                                                      ContextOverflow     not with this worker;
                                                                                                   the policy's doing
    any other 4xx, a redirect, spent credit, a content filter                  WorkerRefused       no use trying again

Messages name the worker, say what to do, quote at most a line of what the provider said, and never contain the key.
"""

import math
import re

from pydantic_ai.exceptions import (
    ContentFilterError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRequestRejectedError,
    OutputTokenLimitExceeded,
    UserError,
)

from podium.errors import ContextOverflow, WorkerError, WorkerRefused, WorkerUnavailable, WorkerUnreachable
from podium.workers.http_client import Unreachable

_QUOTED_CHARACTERS = 300
_PASSING_CLIENT_ERRORS = (408, 409, 425, 429)
# The library knows how OpenAI, OpenRouter, vLLM, Groq, Google and Anthropic word it; these are llama.cpp, Ollama, TGI, SGLang.
_OVERFLOW = re.compile(
    r"context[ _](length|window|size|limit)|prompt is too long|input is too long|too many (input )?tokens"
    r"|exceeds? the (model's )?max(imum)?( number of)? (tokens|length)",
    re.IGNORECASE,
)
_MASKED = re.compile(r"[\w.-]*\*{3,}[\w.*-]*")
_OVERFLOW_STATUSES = (400, 413, 422, 500)


def fault_of(error: Exception, worker: str, key: str | None) -> WorkerError:
    """The Podium error for ``error``, which the adapter library raised while it asked ``worker``.

    Anything the library lets through unmapped (a reply of the wrong shape raises what it raises) counts as an unreadable
    reply. Example: ``raise fault_of(error, "openai:gpt-5-mini", key) from cause_of(error, key)``.
    """
    unreachable = _unreachable(error)
    if unreachable is not None:
        return WorkerUnreachable(f"{worker}: {redacted(str(unreachable), key)}")
    said = redacted(_said(error), key)
    status = error.status_code if isinstance(error, ModelHTTPError) else _redirect_status(error)
    place = f"{worker}: " if status is None else f"{worker}: HTTP {status}: "

    overflows = status in _OVERFLOW_STATUSES and _OVERFLOW.search(said) is not None
    if isinstance(error, ModelContextWindowExceededError) or overflows or status == 413:
        return ContextOverflow(
            f"{place}{said}. The call is larger than this worker's context: give the step a worker with a larger one"
        )
    if isinstance(error, ModelQuotaExceededError):
        # Vendors send it as a 429 too, but no wait fills an account.
        return WorkerRefused(f"{place}{said}. The account's credit or quota is used up: top it up or use another worker")
    if status in _PASSING_CLIENT_ERRORS or (status is not None and status >= 500):
        return WorkerUnavailable(f"{place}{said}", retry_after=_retry_after(error))
    if isinstance(error, ModelAuthenticationError):
        return WorkerRefused(f"{place}{said}. Check the key in the variable that api_key_env names, and its access to the model")
    if isinstance(error, ModelNotFoundError):
        return WorkerRefused(f"{place}{said}. Check the model's name and base_url (OpenAI-compatible ones mostly end in /v1)")
    if isinstance(error, ContentFilterError):
        return WorkerRefused(f"{place}{said}. The provider's content filter stopped it: rephrase or use another worker")
    if isinstance(error, OutputTokenLimitExceeded):
        # Not unavailable: the same thinking mostly eats the same budget again, and every try is paid in full. Not an empty
        # Completion either: later steps and graders would take it for an answer.
        return WorkerRefused(f"{place}{said}. Raise max_tokens or lower thinking_tokens")
    if isinstance(error, UserError):
        return WorkerRefused(f"{place}{said}. The adapter can not send this call: check the worker's settings")
    if status is not None and 300 <= status < 400:
        return WorkerRefused(f"{place}the server redirects, which is not followed: set base_url to the final address")
    if status is not None or isinstance(error, ModelRequestRejectedError):
        return WorkerRefused(f"{place}{said}. The provider rejects this call: check the worker's model and settings")
    if isinstance(error, ModelAPIError):
        return WorkerUnavailable(f"{place}{said}", retry_after=_retry_after(error))
    return WorkerUnavailable(f"{place}unreadable reply ({type(error).__name__}: {said})")


class Withheld(Exception):
    """Stands for an error whose text repeats the key: it keeps what says whether the call was paid."""

    def __init__(self, status_code: int | None, in_stream: bool) -> None:
        super().__init__("the adapter's own error is left out here, because it repeats the key")
        self.status_code = status_code
        self.in_stream = in_stream


def cause_of(error: Exception, key: str | None) -> Exception:
    """``error`` as the cause to show in a traceback; :class:`Withheld` where its text repeats the key."""
    seen: BaseException | None = error
    while seen is not None and key:
        if key in str(seen):
            status = error.status_code if isinstance(error, ModelHTTPError) else _redirect_status(error)
            return Withheld(status, bool(getattr(error, "in_stream", False)))
        seen = seen.__cause__ or seen.__context__
    return error


def redacted(text: str, key: str | None) -> str:
    """``text`` on one line, cut to a readable length, with ``key`` blotted out, also as vendors mask it (``sk-...****abcd``)."""
    if key:
        text = text.replace(key, "[key]")
    line = " ".join(text.split())
    line = line if len(line) <= _QUOTED_CHARACTERS else f"{line[:_QUOTED_CHARACTERS]}..."
    return _MASKED.sub("[key]", line)


def _said(error: Exception) -> str:
    """The provider's own words where the error body has them."""
    body = getattr(error, "body", None)
    for part in (body, body.get("error") if isinstance(body, dict) else None):
        if isinstance(part, dict) and isinstance(part.get("message"), str) and part["message"].strip():
            return str(part["message"])
    if isinstance(error, ModelHTTPError):
        return body if isinstance(body, str) and body.strip() else "no reason given"
    return str(error) or type(error).__name__


def _unreachable(error: BaseException) -> Unreachable | None:
    """What the connection said, where none was made; every adapter raises its own error from it.

    Contexts do not count: that of a second worker's error is the first worker's, whose connection says nothing of this call.
    """
    seen: BaseException | None = error
    while seen is not None and not isinstance(seen, Unreachable):
        seen = seen.__cause__
    return seen


def _redirect_status(error: Exception) -> int | None:
    # The library leaves the status of a 3xx on the SDK's own exception only.
    status = getattr(error.__cause__, "status_code", None)
    return status if isinstance(status, int) and isinstance(error, ModelAPIError) else None


def _retry_after(error: Exception) -> float | None:
    """Seconds the provider asks us to wait: from its headers (seconds or a date) or, for Google, from the body."""
    seconds = getattr(error, "retry_after", None)
    if seconds is None and isinstance(error, ModelHTTPError) and error.headers is not None:
        # RFC 9110 wants whole seconds; some servers send fractions, which the library does not read.
        try:
            seconds = float(error.headers.get("retry-after", ""))
        except ValueError:
            return None
    return seconds if seconds is not None and math.isfinite(seconds) and seconds >= 0 else None
