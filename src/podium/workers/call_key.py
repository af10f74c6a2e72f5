"""What makes two calls the same call: the key of the cache and of the journal, and the provider's idempotency key."""

import hashlib
import json
from contextvars import ContextVar
from dataclasses import asdict

from podium.types import Call
from podium.workers.render import render

idempotency_key: ContextVar[str | None] = ContextVar("idempotency_key", default=None)
"""Inside a journaled call: its key, for an ``Idempotency-Key`` header; else None.

Every attempt at one call has the same key, also after a crash, so a provider that honours the header bills it once.
"""


def call_key(identity: str, call: Call) -> str:
    """SHA-256, in hexadecimal, of worker, sampling parameters, rendered messages and sample.

    ``identity`` must change whenever the worker would answer differently: model, address, its own default parameters.
    What does not reach a chat worker (``depth``, the listener) is not part of the key. Example::

        call_key("openai:gpt-5-mini", Call.plain("6 times 7?"))
    """
    sampling = asdict(call.sampling)
    for name in ("temperature", "top_p"):
        if sampling[name] is not None:
            sampling[name] = float(sampling[name])  # 1 and 1.0 are one temperature, and are written differently
    parts = [identity, sampling, [[message.role, message.content] for message in render(call)], list(call.sample)]
    # ASCII escapes, so that lone surrogates in hostile text can be hashed too.
    return hashlib.sha256(json.dumps(parts, sort_keys=True, ensure_ascii=True).encode("ascii")).hexdigest()
