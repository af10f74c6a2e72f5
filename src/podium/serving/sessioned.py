"""A request is given its session: looked up, begun anew, held to its limit before each call."""

from collections.abc import Mapping

from podium.errors import ConfigError
from podium.serving.accounts import Accounts
from podium.serving.catalog import ModelCatalog
from podium.serving.conversation import ParsedRequest
from podium.serving.figures import prompt_size
from podium.serving.histories import begins, came_from
from podium.serving.sessions import Session, new_session_id, opened, session_exceeded, session_id, session_name
from podium.serving.store.keys import Key
from podium.serving.store.patience import patiently
from podium.serving.tasks import task_of

LONGEST_NAME = 2_000
"""Characters of a session's name."""
SHORT = 4_096
"""Characters of a prompt that no provider keeps in a cache: they do from 1,024 tokens on."""


async def sessioned(
    accounts: Accounts, catalog: ModelCatalog, key: Key | None, parsed: ParsedRequest, headers: Mapping[str, str], run: str
) -> Session | None:
    """The session that the request ``run`` belongs to.

    None where neither the client names a session nor anybody limits one, and nothing would be made of it: for a worker by its own
    name, for a small task that has a worker, and for a short first question without tools, after which nobody may ask again.
    Raises :class:`BudgetExceeded` and :class:`ConfigError`.
    """
    name = session_name(parsed, headers)
    if len(name) > LONGEST_NAME:
        raise ConfigError(f"a session's name has up to {LONGEST_NAME} characters")
    limits = [usd for usd in (parsed.options.session_usd, None if key is None else key.session_usd) if usd is not None]
    if not limits and not name and (is_worker(catalog, parsed) or _is_short(parsed) or task_worker(catalog, parsed) is not None):
        return None
    owner, limit = "" if key is None else key.id, min(limits, default=None)
    sessions = accounts.sessions
    if name:
        found: str | None = session_id(owner, name)
    else:
        found = None if begins(parsed) else await sessions.of_history(came_from(owner, parsed))
    made = found or new_session_id(owner)
    kept, spent = ("", 0.0) if found is None else await sessions.get(made)
    keeps = accounts.store_content if key is None else key.store_content
    session = opened(parsed, made, keeps_words=keeps, kept=kept, spent_usd=spent, limit_usd=limit)
    session.is_named, session.is_new = bool(name), found is None and limit is None
    if limit is not None:

        async def note() -> None:
            async def write() -> bool:  # what is so at the time it is written
                return await sessions.hold(made, run, session.costs_usd or 0.0, limit_usd=limit)

            if not await patiently(write):
                raise session_exceeded(limit, session.spent_usd or 0.0)

        session.budget.on_change = note
    return session


def task_worker(catalog: ModelCatalog, parsed: ParsedRequest) -> str | None:
    """Who gets ``parsed``, where it is a small task that a client slipped in; None: it is answered as anything else."""
    worker, options = catalog.task_worker, parsed.options
    if worker is None or is_worker(catalog, parsed) or options.policy is not None or not task_of(parsed):
        return None
    is_allowed = worker not in options.exclude_workers and (not options.workers or worker in options.workers)
    return worker if is_allowed else None


def _is_short(parsed: ParsedRequest) -> bool:
    return not parsed.call.response_options.tools and begins(parsed) and prompt_size(parsed.call) < SHORT


def is_worker(catalog: ModelCatalog, parsed: ParsedRequest) -> bool:
    """Whether a worker is asked for by its own name."""
    return parsed.options.policy is None and parsed.model in [card.name for card in catalog.cards]
