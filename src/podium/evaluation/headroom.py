"""Is there anything to conduct? What choosing the right worker for each problem could gain, beyond what luck alone would show.

The oracle takes, for every problem, the worker that is right most often on it. It beats the best worker even where all workers
are copies of one noisy model: with seven tries one of them is lucky. So the choice is made from all repeats but one and measured
on that one (every repeat takes its turn): a worker that was lucky is not lucky again, one that is good at this problem is
right again. What is left of the oracle's lead is headroom. How large it would come out by chance is found by *permutation*: each
problem's answers are dealt out anew among the workers, so that nobody is good at anything in particular.

Only selection is measured. Workers that help each other can gain more than any oracle over their single answers.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from podium.errors import ConfigError
from podium.evaluation.compare import bootstrap
from podium.evaluation.evaluate import Result
from podium.evaluation.metrics import Interval

Array = NDArray[np.float64]
PERMUTATIONS = 1000
WORTH = 0.03
"""Gain over the best worker from which training is worth its cost."""
SIGNIFICANT = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Headroom:
    """What selection could gain in a pool; shares in 0..1.

    Example: best .52, oracle .95, a lead of .43 of which luck explains .20: headroom .23, worth training.
    """

    best_worker: str
    best: float
    """Accuracy of the best single worker."""
    best_per_kind: float
    """Accuracy when every kind of problem goes to its best worker; chosen on one half of the problems, measured on the other."""
    oracle: float
    """Accuracy when every problem goes to the worker that is right most often on it."""
    luck: float | None
    """What the oracle loses when it is measured on answers that it did not choose by. None where every problem was asked once:
    then nothing tells luck from skill."""
    headroom: float | None
    """``oracle - luck - best``; about 0 where one worker is as good as any throughout."""
    interval: Interval | None
    """95 % over problems."""
    p: float | None
    """Share of the permutations that come out with at least this headroom."""
    problems: int
    repeats: int

    @property
    def is_worth_training(self) -> bool | None:
        """Whether the headroom is certain and at least ``WORTH``; None where that can not be told."""
        if self.headroom is None or self.p is None or self.interval is None:
            return None
        return self.p <= SIGNIFICANT and self.headroom >= WORTH and self.interval.low > 0

    @property
    def verdict(self) -> str:
        """The same in a sentence with its numbers."""
        lead = f"the oracle leads by {100 * (self.oracle - self.best):.1f} points on {self.problems} problems"
        if self.headroom is None or self.luck is None or self.interval is None or self.p is None:
            return f"Can not be told: {lead}, but every problem was asked once, so how much of it is luck is unknown."
        beyond = (
            f"{lead}, {100 * self.luck:.1f} of them by luck; headroom {100 * self.headroom:.1f} points "
            f"(95 % {100 * self.interval.low:.1f} to {100 * self.interval.high:.1f}, p = {self.p:.3f})"
        )
        return f"Worth training: {beyond}." if self.is_worth_training else f"Not worth training: {beyond}."


def headroom(results: Iterable[Result], *, seed: int = 0) -> Headroom:
    """The headroom of the arms in ``results``, which are single workers on the same problems, asked as often as each other.

    Raises :class:`ConfigError` where there are fewer than two workers, or two problems that all have answered.
    """
    names, kinds, right = _table(list(results))
    rng = np.random.default_rng(seed)
    _, problems, repeats = right.shape
    shares = right.mean(axis=2)
    best = int(shares.mean(axis=1).argmax())
    oracle = shares.max(axis=0)
    gain, p = _beyond_luck(right, rng) if repeats > 1 else (None, None)
    return Headroom(
        best_worker=names[best],
        best=float(shares[best].mean()),
        best_per_kind=_best_per_kind(shares, kinds, rng),
        oracle=float(oracle.mean()),
        luck=None if gain is None else float((oracle - shares[best] - gain).mean()),
        headroom=None if gain is None else float(gain.mean()),
        interval=None if gain is None else bootstrap([float(each) for each in gain], seed=seed),
        p=p,
        problems=problems,
        repeats=repeats,
    )


def _beyond_luck(right: Array, rng: np.random.Generator) -> tuple[Array, float]:
    """For each problem, what the oracle gains on answers that it did not choose by; and how often chance gains as much in all."""
    workers, problems, repeats = right.shape
    gain = _gain(right)
    dealt = right.transpose(1, 0, 2).reshape(problems, workers * repeats)
    as_large = 0
    for _ in range(PERMUTATIONS):
        again = rng.permuted(dealt, axis=1).reshape(problems, workers, repeats).transpose(1, 0, 2)
        as_large += int(_gain(again).mean() >= gain.mean())
    return gain, (as_large + 1) / (PERMUTATIONS + 1)


def _gain(right: Array) -> Array:
    """Oracle less best worker per problem, both chosen from the other repeats; among equals the oracle takes the best worker."""
    _, problems, repeats = right.shape
    total = right.sum(axis=2)
    gained = np.zeros(problems)
    for repeat in range(repeats):
        measured = right[:, :, repeat]
        others = total - measured
        best = int(others.mean(axis=1).argmax())
        others[best] += 0.5  # less than one answer: decides between equals only
        chosen = others.argmax(axis=0)
        gained += (measured[chosen, np.arange(problems)] - measured[best]) / repeats
    return gained


def _table(results: list[Result]) -> tuple[list[str], list[str], Array]:
    """Workers, the problems' kinds, and right or not: an array of workers x problems x repeats without gaps."""
    seen: dict[str, dict[str, list[float]]] = {}
    kinds: dict[str, str] = {}
    for result in results:
        if not result.is_world_fault:
            right = result.verdict is not None and result.verdict.correct
            seen.setdefault(result.arm, {}).setdefault(result.problem, []).append(float(right))
            kinds[result.problem] = result.kind
    if len(seen) < 2:
        raise ConfigError("headroom needs two workers or more")
    repeats = max((len(each) for problems in seen.values() for each in problems.values()), default=0)
    common = [p for p in kinds if all(len(problems.get(p, ())) == repeats for problems in seen.values())]
    if len(common) < 2:
        raise ConfigError("there are not two problems that every worker has answered as often")
    names = list(seen)
    return names, [kinds[p] for p in common], np.array([[seen[name][p] for p in common] for name in names])


def _best_per_kind(shares: Array, kinds: list[str], rng: np.random.Generator) -> float:
    """Choose on one half, measure on the other, and the other way round: a choice is not measured by what it was made from."""
    order = rng.permutation(len(kinds))
    half = np.zeros(len(kinds), dtype=bool)
    half[order[: len(kinds) // 2]] = True
    scored = np.zeros(len(kinds))
    for chosen_on, measured_on in ((half, ~half), (~half, half)):
        overall = int(shares[:, chosen_on].mean(axis=1).argmax())
        for kind in set(kinds):
            of_kind = np.array([k == kind for k in kinds])
            seen = shares[:, chosen_on & of_kind]
            best = int(seen.mean(axis=1).argmax()) if seen.shape[1] else overall
            scored[measured_on & of_kind] = shares[best, measured_on & of_kind]
    return float(scored.mean())
