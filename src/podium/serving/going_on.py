"""A request that brings the results of tools: what waits for them, and how far it has come is written down as it goes on."""

import asyncio
from dataclasses import replace

from podium.errors import ConfigError
from podium.jsonl import dumps
from podium.serving.accounts import Accounts, Admission
from podium.serving.catalog import ModelCatalog
from podium.serving.conversation import ParsedRequest
from podium.serving.kept_thoughts import given_back, place_of
from podium.serving.paused_step import Resumed, read
from podium.serving.store.keys import Key
from podium.types import PausedWorkflow, ProgressListener


async def with_thoughts(accounts: Accounts, key: Key | None, parsed: ParsedRequest, ids: tuple[str, ...]) -> ParsedRequest:
    """``parsed`` with what was thought before the calls ``ids``, whose results it brings."""
    state = await accounts.paused.get(place_of(ids), "" if key is None else key.id)
    return replace(parsed, call=replace(parsed.call, question=given_back(parsed.call.question, state)))


async def waits_for(
    accounts: Accounts, catalog: ModelCatalog, key: Key | None, parsed: ParsedRequest, ids: tuple[str, ...]
) -> Resumed | None:
    """What waits for the results of the calls ``ids`` that ``parsed`` brings; None: nothing does, it is conducted anew.

    Raises :class:`ApiErrorException` and :class:`ConfigError`.
    """
    if not ids:
        return None
    workers = [card.name for card in catalog.cards]
    if parsed.model in workers and parsed.options.policy is None:
        return None  # a worker by its own name is asked the conversation and nothing else
    if parsed.choices > 1:
        raise ConfigError("n: a step that waited for its tools goes on once; leave n out")
    return read(ids, await accounts.paused.get(ids, "" if key is None else key.id), parsed, workers)


def noting(accounts: Accounts, admission: Admission, resumed: Resumed) -> ProgressListener:
    """Keeps how far a workflow has come that goes on."""
    lock = asyncio.Lock()

    async def note(workflow: PausedWorkflow) -> None:
        async with lock:  # in order, whoever is faster
            await accounts.pause(resumed.ids, admission, dumps(resumed.progress(workflow)))

    return note


def is_kept(accounts: Accounts, admission: Admission, resumed: Resumed) -> bool:
    """Whether what went on is kept until it expires: who sends the results again is answered, and nobody is paid again."""
    return resumed.is_workflow and (accounts.store_content if admission.key is None else admission.key.store_content)
