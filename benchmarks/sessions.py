"""Stay or switch, in money: ``python -m benchmarks.sessions``.

1,000 made-up sessions of coding agents, with the prices of the price list, cached tokens included. Each is paid for three times:
by the rule of :mod:`podium.serving.staying`, by always staying with the worker of the first turn, and by always doing what the
workflow says. What a cache holds is simulated: a prompt is found there for as long as the provider keeps it, which the rule does
not know.

Four families: the first worker is needed in some turns and a cheap one suffices in others (``mixed``); a cheap one suffices from
the second turn on (``cheap_suffices``); the strong one is always needed (``strong``); the workflows name two workers of about one
price in turns, without a reason (``sideways``). Where a turn needs the strong worker, all three ways use it.
"""

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from podium.serving.staying import TurnState, acting, after, is_abler
from podium.types import Card
from podium.workers.price_list import price_of

PAIRS = (
    ("anthropic", "claude-opus-4-5", "claude-haiku-4-5"),
    ("anthropic", "claude-sonnet-4-5", "claude-haiku-4-5"),
    ("openai", "gpt-5", "gpt-5-mini"),
    ("openai", "gpt-5.4", "gpt-5.4-mini"),
    ("google", "gemini-2.5-pro", "gemini-2.5-flash"),
)
FAMILIES = ("mixed", "cheap_suffices", "strong", "sideways")
KEPT_SECONDS = {"anthropic": 300.0, "openai": 600.0, "google": 600.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One turn of a user's."""

    wait: float
    """Seconds since the last answer."""
    calls: tuple[tuple[int, int], ...]
    """Of each call: tokens that are new in its prompt, tokens of its answer."""
    proposed: str
    """Whom the workflow names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A whole conversation."""

    family: str
    cards: dict[str, Card]
    kept_seconds: float
    turns: tuple[Turn, ...]


Choose = Callable[[TurnState, Card, dict[str, Card], int, float], str]


def made(rng: random.Random, family: str) -> Session:
    """A session of a family."""
    provider, strong, cheap = rng.choice(PAIRS)
    cards = {name: _card(provider, name) for name in (strong, cheap)}
    twin = Card(
        name="twin",
        prompt_usd=(cards[strong].prompt_usd or 0) * rng.uniform(0.95, 1.05),
        completion_usd=(cards[strong].completion_usd or 0) * rng.uniform(0.95, 1.05),
        cached_usd=cards[strong].cached_usd,
    )
    cards["twin"] = twin
    busy, turns = rng.choice((2, 5, 12)), []
    for number in range(rng.randint(2, 14)):
        wait = rng.lognormvariate(4.8, 1.4) if number else 0.0
        size = rng.randint(4_000, 40_000) if number == 0 else rng.randint(50, 1_500)
        number_of_calls = 1 + min(40, int(rng.expovariate(1 / busy)))
        calls = [(size if call == 0 else rng.randint(200, 4_000), rng.randint(60, 900)) for call in range(number_of_calls)]
        proposed = strong
        if number:
            proposed = {
                "mixed": cheap if rng.random() < 0.6 else strong,
                "cheap_suffices": cheap,
                "strong": strong,
                "sideways": rng.choice((strong, "twin")),
            }[family]
        turns.append(Turn(wait=wait, calls=tuple(calls), proposed=proposed))
    return Session(family=family, cards=cards, kept_seconds=KEPT_SECONDS[provider], turns=tuple(turns))


def cost(session: Session, choose: Choose) -> float:
    """Dollars, where ``choose`` says who acts in each turn."""
    state, usd, now, conversation = TurnState(), 0.0, 1_000_000.0, 0
    caches: dict[str, tuple[int, float]] = {}
    for number, turn in enumerate(session.turns):
        now += turn.wait
        is_return = bool(state.worker) and is_abler(session.cards[turn.proposed], session.cards[state.worker])
        name = choose(state, session.cards[turn.proposed], session.cards, conversation + turn.calls[0][0], now)
        card = session.cards[name]
        for new, said in turn.calls:
            conversation += new
            tokens, used = caches.get(name, (0, 0.0))
            found = tokens if now - used <= session.kept_seconds else 0
            usd += found * (card.cached_usd or 0) + (conversation - found) * (card.prompt_usd or 0)
            usd += said * (card.completion_usd or 0)
            caches[name] = (conversation, now)
            state = after(
                state,
                said=str(number),
                plan="",
                worker=name,
                prompt_tokens=conversation,
                answer_tokens=said,
                now=now,
                is_return=is_return,
            )
            conversation += said
            now += 5.0 + said / 60
    return usd


def compared(sessions: int = 1_000, seed: int = 1) -> dict[str, Any]:
    """Every family, and all together."""
    rng = random.Random(seed)
    rows: dict[str, list[tuple[float, float, float]]] = {family: [] for family in FAMILIES}
    for number in range(sessions):
        session = made(rng, FAMILIES[number % len(FAMILIES)])
        first = session.turns[0].proposed
        rows[session.family].append((cost(session, _rule), cost(session, lambda *_, first=first: first), cost(session, _follow)))
    return {
        "sessions": sessions,
        "families": {name: _row(found) for name, found in rows.items()},
        "all": _row([one for found in rows.values() for one in found]),
    }


def _rule(state: TurnState, proposed: Card, cards: dict[str, Card], prompt_tokens: int, now: float) -> str:
    return acting(state, proposed, cards, prompt_tokens, now).worker


def _follow(_state: TurnState, proposed: Card, _cards: dict[str, Card], _prompt_tokens: int, _now: float) -> str:
    return proposed.name


def _row(found: list[tuple[float, float, float]]) -> dict[str, float]:
    rule, stay, follow = (sum(column) for column in zip(*found, strict=True))
    worst = max(one[0] / one[1] for one in found)
    dearer = sum(one[0] > 1.01 * one[1] for one in found) / len(found)
    return {
        "rule_usd": round(rule, 2),
        "always_stay_usd": round(stay, 2),
        "follow_workflow_usd": round(follow, 2),
        "rule_to_stay": round(rule / stay, 4),
        "worst_session": round(worst, 4),
        "sessions_over_1_percent": round(dearer, 4),
    }


def _card(provider: str, name: str) -> Card:
    price = price_of(provider, name)
    if price is None:
        raise SystemExit(f"the price list does not know {provider}:{name} any more")
    return Card(name=name, prompt_usd=price.prompt_usd, completion_usd=price.completion_usd, cached_usd=price.cached_usd)


if __name__ == "__main__":
    print(json.dumps(compared()))
