"""``previous_response_id``, ``GET`` and ``DELETE /v1/responses/ID``: a conversation that goes on from what was kept of it.

A response is kept with the whole conversation before it, without instructions, which each request brings anew. Nothing is kept for
a key that stores no content, whatever the request says, and never for another key.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from podium.errors import ConfigError
from podium.jsonl import dumps, loads
from podium.serving.accounts import Accounts
from podium.serving.api_errors import ApiError, ApiErrorException
from podium.serving.asking import ChoiceDone
from podium.serving.conversation import ParsedRequest
from podium.serving.responses_answers import response_object
from podium.serving.responses_conversation import of_responses
from podium.serving.responses_requests import CompactRequest, ResponsesReference, ResponsesRequest
from podium.serving.service import ActiveRequest, RequestService
from podium.serving.store.keys import Key
from podium.serving.toolbox import Named
from podium.types import Message

MOST_KEPT_BYTES = 32 << 20
"""Of one conversation with its pictures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptResponse:
    """A response and what it answered."""

    conversation: tuple[Message, ...]
    """Everything that was said up to it, its own turn included."""
    body: dict[str, Any] = field(default_factory=dict)
    """As the client got it."""


async def parsed_with_kept(accounts: Accounts, key: Key | None, body: ResponsesRequest | CompactRequest) -> ParsedRequest:
    """``body`` as a call, with the kept conversation that it names before it. Raises :class:`ApiErrorException`: 404."""
    before: tuple[Message, ...] = ()
    if body.previous_response_id is not None:
        before = (await kept_response(accounts, key, body.previous_response_id)).conversation
    items: dict[str, dict[str, Any]] = {}
    if isinstance(body.input, tuple):
        for item in body.input:
            if isinstance(item, ResponsesReference) and item.id is not None and item.id not in items:
                items |= await _items_beside(accounts, key, item.id)
    return of_responses(body, before=before, items=items, stores=_stores(accounts, key) and getattr(body, "store", None) is not False)


async def kept_response(accounts: Accounts, key: Key | None, response: str) -> KeptResponse:
    """What is kept as ``response``. Raises :class:`ApiErrorException`: 404, whether it expired, never was, or is another key's."""
    state = await accounts.responses.get(response, "" if key is None else key.id)
    if state is None:
        raise no_such_response(response)
    try:
        return loads(KeptResponse, state)
    except ConfigError:  # kept by another version of Podium
        raise no_such_response(response) from None


def no_such_response(response: str) -> ApiErrorException:
    """404."""
    message = f"there is no response {response[:100]!r}, or no more: send the whole conversation as input"
    return ApiErrorException(
        ApiError(status=404, message=message, kind="invalid_request_error", code="previous_response_not_found")
    )


async def finish_kept(service: RequestService, active: ActiveRequest, dones: Sequence[ChoiceDone]) -> None:
    """As :meth:`RequestService.finish`, and keep the response, before the client learns its id."""
    await service.finish(active, dones)
    [done] = dones
    if not active.parsed.stores or done.failure is not None:
        return
    body = response_object(active, done)
    said = Message(role="assistant", content=done.completion.text, tool_calls=done.completion.tool_calls)
    question = active.parsed.call.question[1 if active.parsed.has_instructions else 0 :]
    state = dumps(KeptResponse(conversation=(*question, said), body=body))
    if len(state) > MOST_KEPT_BYTES:
        raise ConfigError("this conversation is too long to be kept: send store: false, or compact it")
    await service.accounts.keep_response(body["id"], active.admission, state)


def _stores(accounts: Accounts, key: Key | None) -> bool:
    return accounts.store_content if key is None else key.store_content


async def _items_beside(accounts: Accounts, key: Key | None, item: str) -> dict[str, dict[str, Any]]:
    """The items of the kept response that ``item`` is one of, by their ids."""
    run = item.rpartition("_")[2]
    state = await accounts.responses.get(f"resp_{run}", "" if key is None else key.id)
    return {} if state is None else {each["id"]: each for each in loads(KeptResponse, state).body["output"]}
