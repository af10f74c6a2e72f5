"""Which rule for which kind of question: every rule is tried out on training questions whose answers are known.

Nothing is asked anew: who would have been asked, what they would have agreed on and whether that was right follows from the
recorded answers. What few questions of a kind say is drawn towards what all questions say (``WEIGHT``), and a call costs
``PRICE`` of accuracy, so that a rule asks more often only where that is worth it. Orders are those of learned accuracy.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np
from numpy.typing import NDArray

from podium.errors import ConfigError
from podium.policies.router_data import RouterDataset
from podium.policies.rules import Rule, cascade, stop

Array = NDArray[np.float64]
WEIGHT = 16.0
"""Questions' worth of what all kinds say, against which a kind's own questions count."""
PRICE = 0.002
"""What a call costs, in shares of right answers, where nobody says."""
MOST = 10
"""Workers among which rules are tried, the best ones: the number of cascades grows with the cube."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedRule:
    """A rule and what training questions say of it. Example: ``found.rule.named(names)``, ``found.calls``."""

    rule: Rule
    right: float
    """Expected share of right answers, drawn towards that of all questions."""
    calls: float
    """Expected calls a question."""


def learned_order(data: RouterDataset) -> tuple[int, ...]:
    """The workers by how often they were right; of equals the one that stands first in the pool."""
    return tuple(int(worker) for worker in np.argsort(-np.array(data.right).mean(axis=0), kind="stable"))


class Trials:
    """Every rule, tried out on all of ``data``. Example: ``Trials(data).rules(price=0.01)["gsm8k"].rule``.

    Raises :class:`ConfigError` where the answers are not known.
    """

    def __init__(self, data: RouterDataset) -> None:
        if not data.answers:
            raise ConfigError("a rule learns from what the workers answered; there are no answers")
        right, same = np.array(data.right), said_the_same(data.answers)
        self._rules = list(candidates(learned_order(data)))
        tried = [outcome(rule, right, same) for rule in self._rules]
        self._kinds = np.array(data.kinds)
        self._all = [np.array([each[place] for each in tried]) for place in (0, 1)]
        self._means = [values.mean(axis=1) for values in self._all]

    def rules(self, *, price: float = PRICE, weight: float = WEIGHT) -> dict[str, LearnedRule]:
        """The best rule of each kind, and under "" of a question whose kind is unknown."""
        return {kind: self._best(kind, price, weight) for kind in ("", *dict.fromkeys(self._kinds.tolist()))}

    def _best(self, kind: str, price: float, weight: float) -> LearnedRule:
        here = self._kinds == kind
        right, calls = (
            (values[:, here].sum(axis=1) + weight * mean) / (here.sum() + weight)
            for values, mean in zip(self._all, self._means, strict=True)
        )
        best = int((right - price * calls).argmax())
        return LearnedRule(rule=self._rules[best], right=float(right[best]), calls=float(calls[best]))


def candidates(order: Sequence[int]) -> Iterator[Rule]:
    """The rules that are tried, the cheapest first, over workers in the ``order`` of their accuracy."""
    best = order[:MOST]
    yield from (Rule(order=(worker,)) for worker in order)
    for a, b in combinations(best, 2):
        yield from (cascade((a, b, c)) for c in best if c not in (a, b))
    yield from (stop(len(order), 2, three) for three in permutations(best, 3))
    for count in range(4, len(order) + 1):
        yield from (stop(len(order), agree, order[:count]) for agree in (2, 3))
    yield from (Rule(order=tuple(order[:count])) for count in range(3, len(order) + 1))


def outcome(rule: Rule, right: Array, same: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Per question, whether the answer of ``rule`` is right, and how many calls it took.

    ``right``: questions x workers; ``same``: questions x workers x workers, whether two said the same (never of nothing).
    """
    count, order = len(right), rule.order
    over, chosen = np.zeros(count, dtype=bool), np.full(count, order[0])
    calls = np.full(count, float(len(order)))
    often: list[NDArray[np.int8]] = []  # how many of those asked so far say what each of them says
    for asked, worker in enumerate(order, 1):
        if rule.last_decides and asked == len(order):
            break  # it answers whatever it says
        pairs = [same[:, other, worker] for other in order[: asked - 1]]
        often.append(same[:, worker, worker].astype(np.int8))
        for place, pair in enumerate(pairs):
            often[place] += pair
            often[-1] += pair
        if rule.agree is not None and asked >= rule.agree:
            agreed = ~over & (often[-1] >= rule.agree)  # a group that is large enough only now has the last one in it
            chosen[agreed], calls[agreed] = worker, asked
            for place in reversed(range(asked - 1)):
                chosen[agreed & pairs[place]] = order[place]
            over |= agreed
    if rule.last_decides:
        chosen[~over] = order[-1]
    elif len(order) > 1:
        # Of those that say the same the first counts, so argmax takes the largest group, and of equals the earliest.
        chosen[~over] = np.array(order)[np.array(often)[:, ~over].argmax(axis=0)]
    won: Array = right[np.arange(count), chosen]
    return won, calls


def said_the_same(answers: Sequence[Sequence[str | None]]) -> NDArray[np.bool_]:
    """Questions x workers x workers: whether two said the same. What says nothing agrees with nobody, not with itself."""
    codes = np.full((len(answers), len(answers[0])), -1)
    for row, said in enumerate(answers):
        known: dict[str, int] = {}
        for worker, text in enumerate(said):
            if text is not None:
                codes[row, worker] = known.setdefault(text, len(known))
    rows = np.ascontiguousarray(codes.T)  # one pair of workers after the other: that is how it is read
    same: NDArray[np.bool_] = (rows[:, None] == rows[None]) & (rows >= 0)[:, None]
    return same.transpose(2, 0, 1)
