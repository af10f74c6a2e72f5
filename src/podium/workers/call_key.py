"""What makes two calls the same call: the key of the cache and of the journal, and the provider's idempotency key."""

import hashlib
import json
from contextvars import ContextVar
from dataclasses import asdict
from typing import Any

from podium.types import Call, Message, ResponseOptions, Sampling
from podium.workers.render import render
from podium.workers.tenant import tenant

idempotency_key: ContextVar[str | None] = ContextVar("idempotency_key", default=None)
"""Inside a journaled call: its key, for an ``Idempotency-Key`` header; else None.

Every try at one call has the same key, also after a crash, so a provider that honours the header bills it once. A hedge's
two attempts are two calls to a provider and have two keys: with one, it would hold the second back until the first is done.
"""


def call_key(identity: str, call: Call) -> str:
    """SHA-256, in hexadecimal, of worker, sampling parameters, rendered messages, sample, and the tenant it is made for.

    ``identity`` must change whenever the worker would answer differently: model, address, its own default parameters.
    What does not reach a chat worker (``depth``, the listener) is not part of the key. Example::

        call_key("openai:gpt-5-mini", Call.plain("6 times 7?"))
    """
    messages = [_key_part(message) for message in render(call)]
    parts: list[object] = [identity, same_numbers(call.sampling), messages, list(call.sample)]
    if call.response_options != ResponseOptions():
        options = {**asdict(call.response_options), "sampling": same_numbers(call.response_options.sampling)}
        del options["cache_tools"]  # what a provider keeps changes nothing about the answer
        parts.append(options)
    if name := tenant.get().name:
        parts.append(name)
    # ASCII escapes, so that lone surrogates in hostile text can be hashed too.
    return hashlib.sha256(json.dumps(parts, sort_keys=True, ensure_ascii=True).encode("ascii")).hexdigest()


def attempt_keys(identity: str, call: Call) -> tuple[str, str]:
    """The keys under which the reply to ``call`` may stand: its own, and that of a second attempt beside the first."""
    key = call_key(identity, call)
    return key, hashlib.sha256(f"{key} second".encode("ascii")).hexdigest()


def same_numbers(sampling: Sampling) -> dict[str, Any]:
    """The fields of ``sampling`` with one spelling for each number: 1 and 1.0 are one temperature, and so are 0.0 and -0.0."""
    fields = asdict(sampling)
    for name in ("temperature", "top_p"):
        if fields[name] is not None:
            fields[name] = float(fields[name]) + 0.0
    return fields


def _key_part(message: Message) -> list[object]:
    """A turn as part of the key; a turn without tools and files as it always was, so that old journals stay good."""
    tools = [*(asdict(call) for call in message.tool_calls), *([message.tool_call_id] if message.tool_call_id else [])]
    files = [asdict(attachment) for attachment in message.attachments]
    thoughts = [asdict(message.thoughts)] if message.thoughts is not None and message.thoughts.thoughts else []
    return [message.role, message.content, *([tools] if tools or files else []), *([files] if files else []), *thoughts]
