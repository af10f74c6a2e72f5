"""What one workflow would take, before any worker is asked: calls and dollars, expected and at most.

At most: every step is carried out once and every reply is as long as its worker may write. Expected: replies of usual length, and
of the steps with a condition only the share that is carried out. Where workers agree as often as they are right, "unless K agree"
is needed where fewer than K of those it looks at are right, which measured skills say; where they are not measured, and for
"if failed", half of the time is assumed.

Deliberately left out: retries, hedges and fallbacks, which are other calls with reservations of their own, and the policy, which
is paid by then.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean
from types import MappingProxyType

from podium.access import call_for
from podium.conditions import ALWAYS, read_condition
from podium.types import Call, Card, Step, Workflow
from podium.workers.bound import BYTES_PER_TOKEN, bound, price
from podium.workers.prices import MostUsd

CHARACTERS_PER_TOKEN = 4
REPLY_TOKENS = 600
"""Tokens an LLM is assumed to write a call: the paper's 1,820 a question (its table of costs) in three steps."""
CARRIED_OUT = 0.5
"""How often a step with a condition is assumed to be carried out where nothing is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """Calls of workers and their dollars, None where a price is unknown. Example: ``Forecast(calls=2.4, calls_at_most=3)``."""

    calls: float
    calls_at_most: int
    usd: float | None = None
    usd_at_most: float | None = None


def forecast(
    workflow: Workflow,
    call: Call,
    cards: Sequence[Card],
    max_tokens: Mapping[str, int],
    most_usd: Mapping[str, MostUsd] = MappingProxyType({}),
) -> Forecast:
    """What ``workflow`` takes to answer ``call``. By worker: the longest reply in tokens, and the bound on a call's price.

    A worker that is not in ``max_tokens`` leaves the dollars unknown, one that is not in ``most_usd`` costs what its card says.
    """
    runs = _shares(workflow, cards)
    names = [cards[step.worker].name for step in workflow.steps]
    counted = Forecast(calls=sum(runs), calls_at_most=len(runs))
    if any(name not in max_tokens for name in names):
        return counted
    usual = [min(REPLY_TOKENS, max_tokens[name]) for name in names]
    longest = _longest(workflow, [max_tokens[name] for name in names])
    expected, most = list[float | None](), list[float | None]()
    for index, step in enumerate(workflow.steps):
        card, name = cards[step.worker], names[index]
        nothing = call_for(workflow, index, call.question, dict.fromkeys(step.access, ""), sampling=call.sampling)
        prompt, reply = _sizes(nothing, max_tokens[name])
        seen = sum(usual[each] for each in step.access)
        one = price(card, round(prompt * BYTES_PER_TOKEN / CHARACTERS_PER_TOKEN) + seen, min(reply, usual[index]))
        expected.append(None if one is None else runs[index] * one)
        # A reply's tokens are counted anew from its bytes by whoever sees it, as budgets do.
        shown = sum(longest[each] for each in step.access) * CHARACTERS_PER_TOKEN // BYTES_PER_TOKEN
        if index == len(workflow.steps) - 1:
            prompt, reply = _sizes(replace(nothing, response_options=call.response_options), max_tokens[name])
        most.append(most_usd.get(name, partial(price, card))(prompt + shown, reply))
    return replace(counted, usd=_sum(expected), usd_at_most=_sum(most))


def _sizes(call: Call, max_tokens: int) -> tuple[int, int]:
    """Tokens of the prompt and of the reply, at most."""
    most = bound(call, max_tokens)
    return most.prompt_tokens, most.completion_tokens


def _longest(workflow: Workflow, own: Sequence[int]) -> list[int]:
    """The longest response of each step, which a skipped one has from a step it saw."""
    found: list[int] = []
    for index, step in enumerate(workflow.steps):
        passed_on = [found[seen] for seen in step.access] if step.condition != ALWAYS else []
        found.append(max(own[index], *passed_on, 0))
    return found


def _shares(workflow: Workflow, cards: Sequence[Card]) -> list[float]:
    """For each step, how often it is carried out."""
    skills = [
        fmean(rate for _, rate in cards[step.worker].skills) if cards[step.worker].skills else None for step in workflow.steps
    ]
    found: list[float] = []
    for step in workflow.steps:
        condition = read_condition(step.condition)
        rates = [
            None if (skill := skills[seen]) is None else skill * (1.0 if _skipped_too(workflow, seen, step) else found[seen])
            for seen in step.access
        ]
        known = [rate for rate in rates if rate is not None]
        if step.condition == ALWAYS:
            found.append(1.0)
        elif condition.agree is None or len(known) < len(rates):
            found.append(CARRIED_OUT)
        else:
            found.append(_fewer_than(condition.agree, known))
    return found


def _skipped_too(workflow: Workflow, seen: int, step: Step) -> bool:
    """Whether ``step`` is skipped wherever the step ``seen`` is: so many agree in what both see.

    Then it is carried out where fewer than so many would be right if all were asked.
    """
    earlier, condition = workflow.steps[seen], read_condition(workflow.steps[seen].condition)
    enough = (condition.agree or 0) >= (read_condition(step.condition).agree or 0)
    return enough and set(earlier.access) <= set(step.access)


def _fewer_than(count: int, rates: Sequence[float]) -> float:
    """How likely fewer than ``count`` of independent events come about. Example: ``_fewer_than(2, [0.8, 0.8])`` is 0.36."""
    chances = [1.0]
    for rate in rates:
        chances = [
            (chances[n] * (1 - rate) if n < len(chances) else 0.0) + (chances[n - 1] * rate if n else 0.0)
            for n in range(len(chances) + 1)
        ]
    return sum(chances[:count])


def _sum(parts: Sequence[float | None]) -> float | None:
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None
