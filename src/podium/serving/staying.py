"""Stay or switch: who acts in the next turn of a session, where the workflow names another worker than the one that acted.

A worker that goes on finds the conversation in its provider's cache and pays the cached price for it; another one reads all of it
at the full price. So a switch is weighed: what the next turn would cost with either, the conversation that is lost or found in a
cache included, and, where the dearer worker may be wanted back, what its coming back would cost.

A workflow that asks for a worker known to be abler, or clearly dearer, has its reasons, and money does not overrule them. Where a
price is unknown nothing can be weighed, and the workflow stands.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from podium.types import Card

CACHE_SECONDS = 300.0
"""How long a provider is sure to keep a prompt: what the shortest of them promises."""
CLEARLY = 1.5
"""By how much a worker has to be dearer before its price is taken for a sign that it is abler."""
WORTH_IT = 0.9
"""A switch has to save a tenth of the turn: what is in a cache is only estimated."""
_ABLER = 0.02
_FIRST_TOKENS = 400.0
"""Tokens of an answer, as long as none was seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Warm:
    """What a provider's cache holds of a session. Example: ``Warm(tokens=42_000, used=1.7e9)``."""

    tokens: int
    used: float
    """When, in seconds since 1970."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnState:
    """Where a conversation stands after a turn of its user's."""

    said: str = ""
    """A hash of what the user said last."""
    number: int = 0
    """Turns of the user so far."""
    plan: str = ""
    """The workflow of this turn, in the workflow language."""
    asked: str = ""
    """Which model, policy and workers the client chose."""
    worker: str = ""
    """Who acted."""
    calls: int = 0
    """Calls of the acting workers so far, tool rounds included."""
    prompt_tokens: int = 0
    """Of the last call."""
    answer_tokens: int = 0
    """Of all calls together."""
    returns: int = 0
    """Turns for which the workflow asked for a dearer worker than the one before."""
    warm: Mapping[str, Warm] = field(default_factory=dict)
    """By worker."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Acting:
    """Who acts, and why. Example: ``Acting(worker="large", proposed="small", why="stays: ...", saves_usd=0.02)``."""

    worker: str
    proposed: str
    """Whom the workflow named."""
    why: str
    saves_usd: float | None = None
    """What the decision is expected to save in this turn; None where nothing was weighed."""


def acting(state: TurnState, proposed: Card, cards: Mapping[str, Card], prompt_tokens: int, now: float) -> Acting:
    """Who acts in the turn that begins: ``proposed``, or the worker that acted before.

    Example: ``acting(state, cards["small"], cards, 42_000, time.time()).worker``.
    """
    before = cards.get(state.worker)
    if before is None or before.name == proposed.name:
        why = "stays: the workflow names the same worker"
        if before is None:
            why = "switches: who acted before can not be asked this" if state.worker else "the first turn of this session"
        return Acting(worker=proposed.name, proposed=proposed.name, why=why)
    if _prices(before) is None or _prices(proposed) is None:
        return Acting(worker=proposed.name, proposed=proposed.name, why="switches: a price is unknown, so nothing is weighed")
    if is_abler(proposed, before):
        return Acting(worker=proposed.name, proposed=proposed.name, why="switches: the workflow asks for an abler worker")
    calls = max(1.0, state.calls / max(1, state.number))
    stay = turn_usd(before, state, prompt_tokens, calls, now)
    switch = turn_usd(proposed, state, prompt_tokens, calls, now)
    if is_abler(before, proposed):
        prompt, cached, _ = _known(before)
        # Asked for again, it would read what it has in its cache now, and what is said until then.
        back = prompt_tokens * (prompt - cached)
        switch += back * (state.returns + 1) / (state.number + 2)
    tokens = _warm(before, state, prompt_tokens, now)
    if switch < WORTH_IT * stay:
        why = f"switches: costs about ${switch:.4f}, staying ${stay:.4f}; {tokens} cached tokens are lost"
        return Acting(worker=proposed.name, proposed=proposed.name, why=why, saves_usd=stay - switch)
    why = f"stays: {tokens} tokens are in its cache; a switch would cost about ${switch:.4f}, this ${stay:.4f}"
    return Acting(worker=before.name, proposed=proposed.name, why=why, saves_usd=switch - stay)


def is_abler(one: Card, other: Card) -> bool:
    """Whether ``one`` is known to be abler than ``other``: by measured skills, else by a clearly higher price."""
    mine, others = dict(one.skills), dict(other.skills)
    common = mine.keys() & others.keys()
    if common:
        return sum(mine[skill] - others[skill] for skill in common) / len(common) > _ABLER
    if one.prompt_usd is None or other.prompt_usd is None or one.completion_usd is None or other.completion_usd is None:
        return False
    return one.prompt_usd >= CLEARLY * other.prompt_usd and one.completion_usd >= CLEARLY * other.completion_usd


def turn_usd(card: Card, state: TurnState, prompt_tokens: int, calls: float, now: float) -> float:
    """What a turn of ``calls`` calls is expected to cost with ``card``, whose price is known."""
    prompt, cached, completion = _known(card)
    answer = state.answer_tokens / state.calls if state.calls else _FIRST_TOKENS
    warm = _warm(card, state, prompt_tokens, now)
    first = warm * cached + (prompt_tokens - warm) * prompt
    return first + (calls - 1) * prompt_tokens * cached + calls * answer * completion


def after(
    state: TurnState,
    *,
    said: str,
    plan: str,
    worker: str,
    asked: str = "",
    prompt_tokens: int,
    answer_tokens: int,
    now: float,
    is_return: bool = False,
) -> TurnState:
    """``state`` after one more call of the acting worker; another ``said`` begins another turn."""
    new = said != state.said
    return replace(
        state,
        said=said,
        number=state.number + new,
        plan=plan if new else state.plan,
        asked=asked,
        worker=worker,
        calls=state.calls + 1,
        prompt_tokens=prompt_tokens,
        answer_tokens=state.answer_tokens + answer_tokens,
        returns=state.returns + (new and is_return),
        warm={**state.warm, worker: Warm(tokens=prompt_tokens, used=now)},
    )


def _warm(card: Card, state: TurnState, prompt_tokens: int, now: float) -> int:
    found = state.warm.get(card.name)
    return 0 if found is None or now - found.used > CACHE_SECONDS else min(found.tokens, prompt_tokens)


def _prices(card: Card) -> tuple[float, float, float] | None:
    if card.prompt_usd is None or card.completion_usd is None:
        return None
    return card.prompt_usd, card.prompt_usd if card.cached_usd is None else card.cached_usd, card.completion_usd


def _known(card: Card) -> tuple[float, float, float]:
    prices = _prices(card)
    if prices is None:
        raise ValueError(f"{card.name} has no known price")
    return prices
