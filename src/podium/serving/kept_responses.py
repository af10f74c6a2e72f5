"""``previous_response_id``, ``GET`` and ``DELETE /v1/responses/ID``: a conversation that goes on from what was kept of it.

A response is kept with the whole conversation before it, without instructions, which each request brings anew. Nothing is kept
for a key that stores no content, whatever the request says, and never for another key.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import TypeAdapter, ValidationError

from podium.errors import ConfigError
from podium.jsonl import dumps, loads
from podium.serving.accounts import Accounts
from podium.serving.api_errors import ApiError, ApiErrorException
from podium.serving.asking import ChoiceDone
from podium.serving.conversation import ParsedRequest
from podium.serving.responses_answers import response_object
from podium.serving.responses_conversation import of_responses
from podium.serving.responses_requests import Item, ResponsesReference, ResponsesRequest
from podium.serving.service import ActiveRequest, RequestService
from podium.serving.store.keys import Key
from podium.serving.store.responses import MOST_BYTES, MOST_RESPONSES
from podium.types import Message

MOST_KEPT_BYTES = 32 << 20
"""Of one conversation with its pictures; a longer one is not kept, and its response says so."""
_ITEM: TypeAdapter[Item] = TypeAdapter(Item)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptResponse:
    """A response and what it answered."""

    conversation: tuple[Message, ...]
    """Everything that was said up to it, its own turn included."""
    body: dict[str, Any] = field(default_factory=dict)
    """As the client got it."""


async def parsed_with_kept(accounts: Accounts, key: Key | None, body: ResponsesRequest) -> ParsedRequest:
    """``body`` as a call, with the kept conversation that it names before it.

    Raises :class:`ApiErrorException` (404) and :class:`ConfigError`.
    """
    whole, before = await with_kept(accounts, key, body)
    return of_responses(whole, before, stores=_may_store(accounts, key) and body.store is not False)


async def with_kept(accounts: Accounts, key: Key | None, body: ResponsesRequest) -> tuple[ResponsesRequest, tuple[Message, ...]]:
    """``body`` with the kept items that it refers to, and what was said before it."""
    before: tuple[Message, ...] = ()
    if body.previous_response_id is not None:
        before = (await kept_response(accounts, key, body.previous_response_id)).conversation
    if isinstance(body.input, str) or not any(isinstance(item, ResponsesReference) for item in body.input):
        return body, before
    found: dict[str, dict[str, Any]] = {}
    for item in body.input:
        if isinstance(item, ResponsesReference) and item.id is not None and item.id not in found:
            found |= await _items_beside(accounts, key, item.id)
    try:
        items = tuple(
            _ITEM.validate_python(found[item.id]) if isinstance(item, ResponsesReference) and item.id in found else item
            for item in body.input
        )
    except ValidationError as error:  # a worker wrote what no request may hold
        first = error.errors(include_url=False, include_input=False, include_context=False)[-1]
        raise ConfigError(f"an item_reference is to an item that can not be sent on: {first['msg']}") from error
    return body.model_copy(update={"input": items}), before


async def kept_response(accounts: Accounts, key: Key | None, response: str) -> KeptResponse:
    """What is kept as ``response``.

    Raises :class:`ApiErrorException`: 404, whether it expired, never was, or is another key's.
    """
    state = await accounts.responses.get(response, "" if key is None else key.id)
    if state is None:
        raise no_such_response(response)
    try:
        return loads(KeptResponse, state)
    except ConfigError:  # kept by another version of Podium
        raise no_such_response(response) from None


async def forget_response(accounts: Accounts, key: Key | None, response: str) -> dict[str, Any]:
    """What OpenAI answers to a deletion. Raises :class:`ApiErrorException`: 404."""
    if not await accounts.responses.delete(response, "" if key is None else key.id):
        raise no_such_response(response)
    return {"id": response, "object": "response", "deleted": True}


def no_such_response(response: str) -> ApiErrorException:
    """404."""
    message = (
        f"there is no response {response[:100]!r}, or no more: they are kept for a day, the newest {MOST_RESPONSES} of a key "
        f"and {MOST_BYTES >> 20} MiB of them; send the whole conversation as input"
    )
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
        active.parsed = replace(active.parsed, stores=False)
    else:
        await service.accounts.keep_response(body["id"], active.admission, state)


def _may_store(accounts: Accounts, key: Key | None) -> bool:
    return accounts.store_content if key is None else key.store_content


async def _items_beside(accounts: Accounts, key: Key | None, item: str) -> dict[str, dict[str, Any]]:
    """The items of the kept response that ``item`` is one of, by their ids."""
    run = item.rpartition("_")[2]
    state = await accounts.responses.get(f"resp_{run}", "" if key is None else key.id)
    if state is None:
        return {}
    try:
        return {each["id"]: each for each in loads(KeptResponse, state).body["output"]}
    except ConfigError:  # kept by another version of Podium
        return {}
