"""A request that brings the results of tools: what waits for them, and how far it has come is written down as it goes on."""

import asyncio
from dataclasses import dataclass, replace
from itertools import islice

from podium.errors import ConfigError
from podium.jsonl import dumps
from podium.serving.accounts import Accounts, Admission
from podium.serving.catalog import ModelCatalog
from podium.serving.conversation import ParsedRequest
from podium.serving.kept_thoughts import given_back, place_of, rounds_of
from podium.serving.paused_step import Resumed, read
from podium.serving.sessioned import is_worker
from podium.serving.store.keys import Key
from podium.types import PausedWorkflow, ProgressListener

MOST_TURNS = 8
"""Of calls and their results that are taken for one round."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """Calls whose results a request brings; none where the user has spoken since."""

    ids: tuple[str, ...] = ()
    state: str | None = None
    """What was kept under them."""


async def round_of(accounts: Accounts, catalog: ModelCatalog, key: Key | None, parsed: ParsedRequest) -> Round:
    """The calls whose results ``parsed`` brings, and what waits for them.

    Some clients send the calls of one turn one by one, each with its result behind it. So where nothing waits for the newest
    ones, those right before them are taken together with them.
    """
    rounds = list(islice(rounds_of(parsed.call.question), MOST_TURNS))
    if not rounds or is_worker(catalog, parsed):
        return Round(ids=rounds[0] if rounds else ())
    for ids in rounds:
        state = await accounts.paused.get(ids, "" if key is None else key.id)
        if state is not None:
            return Round(ids=ids, state=state)
    return Round(ids=rounds[0])


async def with_thoughts(accounts: Accounts, key: Key | None, parsed: ParsedRequest, ids: tuple[str, ...]) -> ParsedRequest:
    """``parsed`` with what was thought before the calls ``ids``, whose results it brings."""
    state = await accounts.paused.get(place_of(ids), "" if key is None else key.id)
    return replace(parsed, call=replace(parsed.call, question=given_back(parsed.call.question, state)))


def waits_for(catalog: ModelCatalog, parsed: ParsedRequest, found: Round) -> Resumed | None:
    """What goes on with the results that ``parsed`` brings; None: nothing does, it is conducted anew.

    Raises :class:`ApiErrorException` and :class:`ConfigError`.
    """
    if not found.ids or is_worker(catalog, parsed):
        return None  # a worker by its own name is asked the conversation and nothing else
    if parsed.choices > 1:
        raise ConfigError("n: a step that waited for its tools goes on once; leave n out")
    return read(found.ids, found.state, parsed, [card.name for card in catalog.cards])


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
