"""Rules that stop, chosen for every kind of question from what each worker answered alone.

A rule is an order of workers and when enough of them agree (:class:`podium.policies.rules.Rule`). What it would have cost and got
right follows from recorded answers, so hundreds of rules are tried out and nobody is asked anew. What few questions of a kind say
is drawn towards what all questions say, the less, the more the kinds are seen to differ (empirical Bayes, by the method of
moments). A call costs something: the same for every worker, more for one that is to be asked
sparingly, or dollars. Left out: what a worker makes of the answers it is shown, which no recording tells.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from podium.errors import ConfigError
from podium.policies.learning import MOST, candidates, learned_order, outcome, said_the_same
from podium.policies.router_data import RouterDataset
from podium.policies.rules import Rule, cascade, stop

Array = NDArray[np.float64]

WEIGHT = 30.0
"""Questions' worth of what all kinds say, against which a kind's own questions count: where that can not be estimated, and for
the orders of workers."""
RIVALS = 0.125
"""The share of the rules, the best over all kinds, that the estimate looks at: the choice is among these."""
LEAST = 64
"""Rules that the estimate looks at, at least, where there are twice as many: a few that are nearly the same do not show how kinds
differ. Of fewer rules the other half is too bad to be looked at."""
BEFOREHAND = 2.0
"""Kinds' worth that ``WEIGHT`` counts in the estimate: of two kinds alone nothing firm is known."""
CALL = 0.002
"""What any call takes off the share right, at least, so that nobody is asked in vain."""
DECIDERS = 4
"""The best workers that decide where three others do not agree."""
_DEAREST = 1.0
_ROUNDED = 1e-9
_FAR = 1e9
_HALVINGS = 12


def asked_of(rule: Rule, calls: Array, workers: int) -> NDArray[np.bool_]:
    """(questions, workers) Who is asked, where ``rule`` takes so many ``calls`` at each question."""
    asked = np.zeros((len(calls), workers), dtype=bool)
    asked[:, list(rule.order)] = calls[:, None] > np.arange(len(rule.order))
    return asked


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What training questions say of a rule, or of a rule for every kind. Example: ``book.over_all(chosen).calls``."""

    right: float
    """Share of right answers."""
    asks: tuple[float, ...]
    """Calls to each worker a question."""
    usd: float | None
    """Dollars a question; None: unknown."""

    @property
    def calls(self) -> float:
        """Calls a question."""
        return sum(self.asks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """What answers may take on average over all questions. Example: ``Caps(calls=2.5, shares={8: 0.37})``."""

    calls: float | None = None
    """Calls a question."""
    shares: Mapping[int, float] | None = None
    """Worker, by position -> the share of the questions it may be asked."""


class RuleBook:
    """Every rule on every kind. Example: ``book = RuleBook(data); book.best("gsm8k", book.charges(Caps(calls=2.0)))``.

    ``usd``: (questions, workers) what each recorded answer cost, where that is known. ``again``: the same questions answered once
    more, any number of times; what a rule comes to at a question is the mean, which takes some of the luck out. ``weight``: how
    many questions' worth of what all kinds say a kind's own count against; where nobody says, :func:`prior_strength`. ``doubt``:
    (some questions, kinds) how likely each of those is of which kind to whoever will choose; else kinds are known for sure.
    Raises :class:`ConfigError` where the answers are not known.
    """

    def __init__(
        self,
        data: RouterDataset,
        usd: Sequence[Sequence[float]] | None = None,
        *,
        again: Sequence[RouterDataset] = (),
        weight: float | None = None,
        doubt: Array | None = None,
    ) -> None:
        if not data.answers:
            raise ConfigError("a rule learns from what the workers answered; there are no answers")
        every_time = (data, *again)
        if any(one.questions != data.questions or not one.answers for one in again):
            raise ConfigError("answers that were given again are to the same questions, in the same order")
        right = np.array([one.right for one in every_time])
        data = replace(data, right=tuple(map(tuple, right.mean(axis=0).tolist())))
        times, questions, self._workers = right.shape
        right, same = right.reshape(-1, self._workers), said_the_same([row for one in every_time for row in one.answers])
        dollars = None if usd is None else np.array(usd, dtype=float)
        self._doubt = doubt
        self.rules = all_rules(learned_order(data), orders_of(data, WEIGHT if weight is None else weight))
        self.kinds = ("", *dict.fromkeys(data.kinds))
        member = np.array([[kind in ("", own) for own in data.kinds] for kind in self.kinds], dtype=float)
        self.questions = member.sum(axis=1)
        """(kinds,) How many questions of each kind there are; of kind "" all."""
        shape = (len(self.rules), len(self.kinds))
        self._right, self._asks = np.zeros(shape), np.zeros((*shape, self._workers))
        self._usd = None if dollars is None else np.zeros(shape)
        every = np.zeros((len(self.rules), questions), dtype=np.float32)
        for number, rule in enumerate(self.rules):
            won, calls = outcome(rule, right, same)
            asked = asked_of(rule, calls, self._workers).reshape(times, questions, -1).mean(axis=0)
            won, calls = won.reshape(times, -1).mean(axis=0), calls.reshape(times, -1).mean(axis=0)
            every[number] = won - CALL * calls
            self._right[number], self._asks[number] = member @ won, member @ asked
            if self._usd is not None and dollars is not None:
                self._usd[number] = member @ (asked * dollars).sum(axis=1)
        self.weight = weight = prior_strength(every, member[1:]) if weight is None else weight
        """Questions' worth of what all kinds say."""
        share = self.questions + weight
        self._right = (self._right + weight * self._right[:, :1] / self.questions[0]) / share
        self._asks = (self._asks + weight * self._asks[:, :1] / self.questions[0]) / share[:, None]
        if self._usd is not None:
            self._usd = (self._usd + weight * self._usd[:, :1] / self.questions[0]) / share

    @property
    def knows_dollars(self) -> bool:
        """Whether what every answer cost is known."""
        return self._usd is not None

    def expected(self, number: int, kind: str) -> Expected:
        """Of rule ``number`` on questions of ``kind``."""
        column = self.kinds.index(kind)
        usd = None if self._usd is None else float(self._usd[number, column])
        return Expected(
            right=float(self._right[number, column]), asks=tuple(self._asks[number, column].tolist()), usd=usd
        )  # fmt: skip

    def best(self, charges: Array, price: float = 0.0) -> dict[str, int]:
        """Kind -> the number of the rule that is worth most, where a call of each worker takes ``charges`` off the share right
        and a dollar ``price``."""
        return dict(zip(self.kinds, self._worth(charges, price).argmax(axis=0).tolist(), strict=True))

    def _worth(self, charges: Array, price: float) -> Array:
        worth: Array = self._right - self._asks @ charges
        if price:
            if self._usd is None:
                raise ConfigError("what the answers cost is not known, so dollars can not be weighed")
            worth = worth - price * self._usd
        return worth

    def constant(self, caps: Caps, charges: Array, price: float = 0.0) -> int:
        """The rule that is worth most for all kinds together, of those that keep ``caps`` by themselves, where there are any."""
        asks = self._asks[:, 0]
        kept = np.full(len(asks), True) if caps.calls is None else asks.sum(axis=1) <= caps.calls + _ROUNDED
        for worker, share in (caps.shares or {}).items():
            kept &= asks[:, worker] <= share + _ROUNDED
        worth = self._worth(charges, price)[:, 0]
        return int((worth - _FAR * ~kept).argmax())

    def in_doubt(self, charges: Array, price: float = 0.0) -> tuple[Expected, set[int]]:
        """What the choice comes to where it goes by what is likely of each question, and the rules that are chosen."""
        if self._doubt is None:
            chosen = self.best(charges, price)
            return self.over_all(chosen), {*chosen.values()}
        rows = (self._worth(charges, price)[:, 1:] @ self._doubt.T).argmax(axis=0)
        right = float((self._right[rows, 1:] * self._doubt).sum(axis=1).mean())
        asks = np.einsum("qkw,qk->w", self._asks[rows, 1:], self._doubt) / len(rows)
        usd = None if self._usd is None else float((self._usd[rows, 1:] * self._doubt).sum(axis=1).mean())
        return Expected(right=right, asks=tuple(asks.tolist()), usd=usd), {*rows.tolist()}

    def over_all(self, chosen: Mapping[str, int]) -> Expected:
        """What a rule for every kind comes to, kinds as frequent as they are."""
        columns = range(1, len(self.kinds))
        rows = [chosen[self.kinds[column]] for column in columns]
        often = self.questions[1:] / self.questions[1:].sum()
        usd = None if self._usd is None else float(often @ self._usd[rows, list(columns)])
        asks = often @ self._asks[rows, list(columns)]
        return Expected(right=float(often @ self._right[rows, list(columns)]), asks=tuple(asks.tolist()), usd=usd)

    def price(self, charges: Array, may_lose: float) -> float:
        """The highest share right that a dollar may be worth where the choice by kind loses at most ``may_lose`` of it."""
        free, _ = self.in_doubt(charges)
        if not may_lose or not free.usd:
            return 0.0
        ladder = (0.0, *(float(step) / free.usd for step in np.geomspace(0.001, 3.0, 30)))
        return max(price for price in ladder if self.in_doubt(charges, price)[0].right >= free.right - may_lose)

    def dearer(self, charges: Array, may_lose: float) -> Array:
        """``charges`` and the most that every call may cost besides where the choice by kind loses at most ``may_lose``."""
        free = self.in_doubt(charges)[0].right
        ladder = [charges + extra for extra in (0.0, *np.geomspace(0.001, _DEAREST, 25))]
        kept = [one for one in ladder if self.in_doubt(one)[0].right >= free - may_lose]
        return max(kept, key=lambda one: float(one[0]))

    def charges(self, caps: Caps = Caps(), price: float = 0.0) -> Array:
        """(workers,) The lowest charges at which the choice by kind keeps ``caps``, as far as training questions say.

        A cap that no charge below a whole right answer keeps is not kept: the rules that come nearest are taken.
        """
        found = np.full(self._workers, CALL)
        for _ in range(2):  # what one cap takes may leave more room for the other
            for worker, share in (caps.shares or {}).items():
                found = self._lowest(found, [worker], lambda e, w=worker: e.asks[w], share, price)  # type: ignore[misc]
            if caps.calls is not None:
                found = self._lowest(found, list(range(self._workers)), lambda e: e.calls, caps.calls, price)
        return found

    def _lowest(self, charges: Array, workers: list[int], of: Callable[[Expected], float], most: float, price: float) -> Array:
        def more(extra: float) -> Array:
            dearer = charges.copy()
            dearer[workers] += extra
            return dearer

        if of(self.in_doubt(charges, price)[0]) <= most + _ROUNDED:
            return charges
        low, high = 0.0, _DEAREST
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            if of(self.in_doubt(more(middle), price)[0]) <= most + _ROUNDED:
                high = middle
            else:
                low = middle
        return more(high)


def prior_strength(worth: NDArray[np.float32], member: Array) -> float:
    """How many questions' worth of what all kinds say a kind's own questions count against.

    ``worth``: (rules, questions) what a rule came to; ``member``: (kinds, questions) which kind a question is of. It is the
    variance among the questions of a kind, over the variance among kinds, of what the best rules differ by: the common part,
    how hard a question is, is taken off.
    """
    overall = worth.mean(axis=1)
    looked_at = max(RIVALS, LEAST / len(worth)) if len(worth) >= 2 * LEAST else RIVALS
    apart = worth[overall >= np.quantile(overall, 1 - looked_at)].astype(float)
    apart -= apart.mean(axis=0)
    sizes = member.sum(axis=1)
    means = (member @ apart.T) / sizes[:, None]
    inside = float((apart**2).sum() - (sizes[:, None] * means**2).sum()) / max(1.0, float(sizes.sum()) - len(sizes))
    if not inside:
        return 0.0
    kinds = len(sizes) - 1
    even = (sizes.sum() - (sizes**2).sum() / sizes.sum()) / max(1, kinds)
    seen = float((sizes[:, None] * (means - apart.mean(axis=1)) ** 2).sum())  # by chance alone: inside * kinds
    between = max(0.0, (seen - inside * kinds) / even) if kinds else 0.0
    return inside * (kinds + BEFOREHAND) / (between + BEFOREHAND * inside / WEIGHT)


def orders_of(data: RouterDataset, weight: float) -> list[tuple[int, ...]]:
    """For each kind the workers by how often they are right there, drawn towards all kinds; each order once."""
    right, kinds = np.array(data.right), np.array(data.kinds)
    overall = right.mean(axis=0)
    found = []
    for kind in dict.fromkeys(data.kinds):
        own = right[kinds == kind]
        shares = (own.sum(axis=0) + weight * overall) / (len(own) + weight)
        found.append(tuple(int(worker) for worker in np.argsort(-shares, kind="stable")))
    return list(dict.fromkeys(found))


def all_rules(order: Sequence[int], orders: Sequence[Sequence[int]] = ()) -> tuple[Rule, ...]:
    """The rules that are tried, over workers in the ``order`` of their accuracy: those of ``router:rule``, of three of whom two
    have to agree, else a fourth decides, and stopping in each of ``orders``."""
    best = order[:MOST]
    longer = [cascade((a, b, c, d)) for a, b, c in combinations(best, 3) for d in best[:DECIDERS] if d not in (a, b, c)]
    by_kind = [
        stop(len(order), agree, own[:count])
        for own in orders
        for count in dict.fromkeys((4, 6, len(own)))
        for agree in (2, 3)
        if agree < count <= len(own)
    ]
    return tuple(dict.fromkeys((*candidates(order), *longer, *by_kind)))
