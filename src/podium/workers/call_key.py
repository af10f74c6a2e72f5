"""What makes two calls the same call: the key of the cache and of the journal, and the provider's idempotency key."""

import hashlib
import json
from contextvars import ContextVar
from dataclasses import asdict

from podium.types import Call, Demands, Message
from podium.workers.render import render
from podium.workers.tenant import tenant

idempotency_key: ContextVar[str | None] = ContextVar("idempotency_key", default=None)
"""Inside a journaled call: its key, for an ``Idempotency-Key`` header; else None.

Every attempt at one call has the same key, also after a crash, so a provider that honours the header bills it once.
"""


def call_key(identity: str, call: Call) -> str:
    """SHA-256, in hexadecimal, of worker, sampling parameters, rendered messages, sample, and the tenant it is made for.

    ``identity`` must change whenever the worker would answer differently: model, address, its own default parameters.
    What does not reach a chat worker (``depth``, the listener) is not part of the key. Example::

        call_key("openai:gpt-5-mini", Call.plain("6 times 7?"))
    """
    sampling = asdict(call.sampling)
    for name in ("temperature", "top_p"):
        if sampling[name] is not None:
            sampling[name] = float(sampling[name])  # 1 and 1.0 are one temperature, and are written differently
    messages = [_told(message) for message in render(call)]
    parts: list[object] = [identity, sampling, messages, list(call.sample)]
    if call.demands != Demands():
        parts.append(asdict(call.demands))
    if name := tenant.get().name:
        parts.append(name)
    # ASCII escapes, so that lone surrogates in hostile text can be hashed too.
    return hashlib.sha256(json.dumps(parts, sort_keys=True, ensure_ascii=True).encode("ascii")).hexdigest()


def _told(message: Message) -> list[object]:
    """A turn as part of the key; a turn without tools as it always was, so that old journals stay good."""
    tools = [*(asdict(call) for call in message.tool_calls), *([message.tool_call_id] if message.tool_call_id else [])]
    return [message.role, message.content, *([tools] if tools else [])]
