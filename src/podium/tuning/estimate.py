"""What tuning would take, said before anything is asked.

Dollars are reckoned from the cards' prices and from the length of the questions, four bytes being a token (a Latin letter is one
byte, an Arabic one two, a Chinese character three); how much workers write is not known before, so a range of reply lengths is
given. Where a price is unknown, so are the dollars.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from podium.tuning.headroom import needed
from podium.tuning.run import LEAST_TESTED, checked_calls, ends_of
from podium.tuning.search import FIRST
from podium.tuning.split import shared_out
from podium.types import Card, Problem

SHORT, LONG = 100, 1_000
"""Tokens of a reply: a short answer, and a worked solution."""
STEPS = 2
"""Responses that a step usually reads along with the question, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What a run would take. Example: ``estimated(problems, pool.sort_of, pool.workers.cards, max_calls=3000)``."""

    search: int
    """Problems to search on."""
    select: int
    """Problems that decide between the best."""
    sealed: int
    """Problems that are asked once, at the end."""
    kinds: tuple[str, ...]
    """Those that are given; () where they are found on the way."""
    calls: int
    """Calls at most."""
    gate_calls: int | None
    """Calls after which it ends where there is nothing to conduct; None: they are too few to find that out before the end."""
    least_usd: float | None
    """Dollars with short replies; None: a price is unknown."""
    most_usd: float | None
    """Dollars with long replies."""
    resolves: float
    """Half the width of the 95 % interval of a share right on the sealed problems, at worst, where all of them are asked."""
    least_sealed: int
    """For how many sealed problems five calls each are kept back: so many are asked where all others are used up."""

    def as_text(self) -> str:
        """For a person."""
        usd = "dollars unknown, because a worker has no price"
        if self.least_usd is not None and self.most_usd is not None:
            usd = f"${self.least_usd:.2f} with short replies to ${self.most_usd:.2f} with long ones"
        tells = f"The sealed test tells a share right to within {100 * self.resolves:.0f} points"
        if self.least_sealed < self.sealed:
            tells += f"; where calls are left for {self.least_sealed} of its problems only, to within "
            tells += f"{100 * _resolved(self.least_sealed):.0f}"
        early = f"where there is nothing to conduct it ends after some {self.gate_calls}"
        if self.gate_calls is None:
            early = "too few to end before that where there is nothing to conduct"
        return (
            f"{self.search} problems to search on, {self.select} to select on, {self.sealed} sealed; kinds: "
            f"{', '.join(self.kinds) or 'found on the way'}.\n"
            f"{self.calls} calls at most, {usd}; {early}.\n"
            f"{tells}."
        )


def estimated(
    problems: Sequence[Problem], given: Callable[[Problem], str], cards: Sequence[Card], *, max_calls: int, seed: int = 0
) -> Estimate:
    """Nothing is asked. Raises :class:`ConfigError` for problems, and for so few calls, that can show nothing."""
    checked_calls(max_calls)
    kinds = {given(problem) for problem in problems}
    parts = shared_out(problems, given if len(kinds) > 1 else lambda problem: "", seed=seed)
    # Everybody is asked some problems of each kind before anything is decided.
    gate_calls = len(cards) * max(needed(len(cards)), FIRST * len(kinds))
    tokens = fmean(len(problem.question.encode()) for problem in problems) / 4

    def dollars(reply: int) -> float | None:
        prices = [(card.prompt_usd, card.completion_usd) for card in cards]
        known = [(prompt, completion) for prompt, completion in prices if prompt is not None and completion is not None]
        if len(known) < len(prices):
            return None
        return max_calls * fmean(prompt * (tokens + STEPS * reply) + completion * reply for prompt, completion in known)

    return Estimate(
        search=len(parts.search), select=len(parts.select), sealed=len(parts.test),
        kinds=tuple(sorted(kinds)) if len(kinds) > 1 else (), calls=max_calls,
        gate_calls=gate_calls if gate_calls <= ends_of(max_calls)[0] * max_calls else None,
        least_usd=dollars(SHORT), most_usd=dollars(LONG),
        resolves=_resolved(len(parts.test)), least_sealed=min(LEAST_TESTED, len(parts.test)),
    )  # fmt: skip


def _resolved(problems: int) -> float:
    return 0.98 / math.sqrt(problems)
