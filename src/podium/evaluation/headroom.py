"""Is there anything to conduct? What choosing a worker for each problem could gain over always asking the best one.

The oracle takes, for every problem, the worker that is right most often on it. It beats the best worker even where all workers
are copies of one noisy model, and asking again does not show it: luck can be frozen, so that the same copy is right every time.
So only what can be *predicted* counts, from a problem's kind and text, and only on problems that the prediction was not made from
(twenty folds): a ridge regression of who does better than others, of which "nobody in particular" is one, so that always asking
the best is never beaten by a worse rule. How large the gain would come out by chance is found by a *wild bootstrap*: nobody is
better than the best worker anywhere (those who are as good as it on some kinds stay that, those who are worse stay worse), and
the luck of each problem, frozen or not, which is all that kind and text do not say of it, keeps or changes its sign.

Only selection is measured. Workers that help each other can gain more than any oracle over their single answers.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from podium.errors import ConfigError
from podium.evaluation.compare import paired_interval, problems_needed
from podium.evaluation.evaluate import Result
from podium.evaluation.metrics import Interval

Array = NDArray[np.float64]
DRAWS = 199
CELLS = 1_000_000
"""Outcomes drawn anew at once; bounds the memory."""
FOLDS = 20
RIDGES = (10.0, 30.0, 100.0)
"""How many problems' worth of doubt a predicted difference starts with."""
TEXT_DIMENSIONS = 48
NOTHING = "nothing"
WORTH = 0.02
"""Gain over the best worker from which training is worth its cost. What is measured is learned from these few problems: of 7
points to be had, 240 problems show 3 to 7."""
SIGNIFICANT = 0.05
UNLIKELY = 0.03
"""Of the draws without headroom, so that a gate over some hundred problems opens falsely in at most 5 of 100 cases: ties that the
problems can not show to be ties are not in them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Headroom:
    """What selection could gain in a pool; shares in 0..1.

    Example: best .52, routed by kind .61: headroom .09 (.05 to .13), p .002, worth training; the oracle's .95 is mostly luck.
    """

    best_worker: str
    best: float
    """Accuracy of the best single worker."""
    oracle: float
    """Accuracy when every problem goes to the worker that is right most often on it: luck included, so it can not be reached."""
    by: str
    """What predicts best who is right: ``kind``, ``text``, ``kind and text``, or ``nothing``."""
    headroom: float
    """Gain of asking whom that predicts over asking the best worker, on problems it was not learned from; 0 where always asking
    the best is as good."""
    interval: Interval
    """90 % of the gain over problems, so that it is above the lower end in 95 of 100 cases; also where it is below 0."""
    p: float
    """Share of the draws without any headroom in which the gain is as large, measured by its own spread over problems."""
    needed: int | None
    """Problems that would show a gain of ``WORTH`` in four of five tries; None where no problem tells."""
    problems: int
    repeats: int

    @property
    def is_worth_training(self) -> bool:
        """Whether the headroom is at least ``WORTH``, more than chance would show, and more than these problems would show."""
        return is_open(self.headroom, self.p, self.interval)

    @property
    def verdict(self) -> str:
        """The same in a sentence with its numbers."""
        found = (
            f"choosing by {self.by} gains {100 * self.headroom:.1f} points over always asking {self.best_worker} on "
            f"{self.problems} problems (90 % {100 * self.interval.low:.1f} to {100 * self.interval.high:.1f}, p = {self.p:.3f})"
        )
        if self.is_worth_training:
            return f"Worth training: {found}."
        open_still = self.needed is not None and self.interval.high >= WORTH
        more = f" It could still be more; some {self.needed} problems would tell." if open_still else ""
        return f"Not worth training as far as can be seen: {found}.{more}"


def headroom(results: Iterable[Result], questions: Mapping[str, str] | None = None, *, seed: int = 0) -> Headroom:
    """The headroom of the arms in ``results``, which are single workers on the same problems, asked as often as each other.

    ``questions``: problem id -> text; without it, only the kinds of the problems are learned from. Raises :class:`ConfigError`
    where there are fewer than two workers, or two problems that all have answered.
    """
    names, problems, kinds, shares, repeats = _table(list(results))
    texts = [] if questions is None else [questions[problem] for problem in problems]
    found = predicted_gain(shares, features(kinds, texts), np.random.default_rng(seed))
    best = int(shares.mean(axis=0).argmax())
    return Headroom(
        best_worker=names[best],
        best=float(shares[:, best].mean()),
        oracle=float(shares.max(axis=1).mean()),
        by=found.by,
        headroom=found.gain,
        interval=found.interval,
        p=found.p,
        needed=problems_needed(WORTH, found.gains),
        problems=len(problems),
        repeats=repeats,
    )


class Gain(NamedTuple):
    """What a prediction gains over the best worker."""

    by: str
    gain: float
    gains: list[float]
    """One per problem, of the best prediction, also where it is worse than none."""
    p: float

    @property
    def interval(self) -> Interval:
        """See :attr:`Headroom.interval`."""
        return paired_interval(self.gains, 1 - 2 * SIGNIFICANT)


def is_open(gain: float, p: float, interval: Interval) -> bool:
    """Whether the gain is real. ``p`` allows for the choice of the rule and for workers that are worse by kind, the interval for
    the draw of problems.
    """
    return p <= UNLIKELY and gain >= WORTH and interval.low > 0


def features(kinds: Sequence[str], texts: Sequence[str] = ()) -> dict[str, Array]:
    """What can be predicted from, one row per problem: the kinds, the texts (TF-IDF over characters, made dense), and both."""
    found: dict[str, Array] = {}
    names = sorted(set(kinds))
    if len(names) > 1:
        found["kind"] = np.array([[float(kind == name) for name in names] for kind in kinds])
    dimensions = min(TEXT_DIMENSIONS, len(texts) // 4)
    if dimensions > 1 and len(set(texts)) > dimensions:
        words = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True, max_features=50_000)
        dense = make_pipeline(words, TruncatedSVD(dimensions, random_state=0), Normalizer())
        found["text"] = np.asarray(dense.fit_transform(texts))
        if "kind" in found:
            found["kind and text"] = np.hstack([found["kind"], found["text"]])
    return found


def predicted_gain(shares: Array, known: Mapping[str, Array], rng: np.random.Generator, *, draws: int = DRAWS) -> Gain:
    """The gain of asking whom ``known`` features predict; ``shares`` (problems x workers) of right answers.

    Each of the features is taken with the weakest ridge with which it predicts better than nothing does, and of them the one
    with the least squared error out of its folds, in every draw anew. A gain below ``WORTH`` is not tested: it opens nothing,
    and its p is 1.
    """
    count = len(shares)
    if not known:
        return Gain(NOTHING, 0.0, [0.0] * count, 1.0)
    # Which fold each problem is in, all of about one size.
    folds: NDArray[np.intp] = rng.permutation(np.arange(count) % min(FOLDS, count))
    observed = _chosen(shares[:, :, None], known, folds)
    gains = observed.gains[:, 0]
    if not observed.beats_nothing[0] or gains.mean() <= 0:
        return Gain(NOTHING, 0.0, gains.tolist(), 1.0)
    name, gain = list(known)[observed.by[0]], float(gains.mean())
    if gain < WORTH:
        return Gain(name, gain, gains.tolist(), 1.0)
    without, luck = _nobody_better(known[name], shares, int(shares.mean(axis=0).argmax()))
    as_large, at_once = 0, max(1, CELLS // shares.size)
    for done in range(0, draws, at_once):
        signs = rng.choice([-1.0, 1.0], size=(count, 1, min(at_once, draws - done)))
        drawn = _chosen(without[:, :, None] + luck[:, :, None] * signs, known, folds)
        as_large += int((np.where(drawn.beats_nothing, _size(drawn.gains), 0.0) >= _size(gains) - 1e-12).sum())
    return Gain(name, gain, gains.tolist(), (1 + as_large) / (draws + 1))


def _size(gains: Array) -> Array:
    """The mean over problems by its spread: a gain that all problems agree on is larger than one that a few make."""
    size: Array = gains.mean(axis=0) / np.maximum(gains.std(axis=0), 1e-9)
    return size


def _nobody_better(rows: Array, shares: Array, best: int) -> tuple[Array, Array]:
    """What ``rows`` say of every worker on every problem if nobody beats the ``best`` one anywhere, and what they do not say.

    Who is bad on some kinds stays so. Whoever could be as good as the best, for all that these problems show, is as good: of
    several that are, one comes out ahead by chance, and the more of them there are, the further.
    """
    count = len(shares)
    better = shares - shares.mean(axis=1, keepdims=True)
    plain = better.mean(axis=0)
    hat = rows @ np.linalg.solve(rows.T @ rows + np.eye(rows.shape[1]), rows.T)
    leverage = np.clip(np.diag(hat) + 1 / count, 0.0, 0.9)[:, None]
    fitted = plain + hat @ (better - plain)
    luck = (better - fitted) / np.sqrt(1 - leverage)
    # By the law of the iterated logarithm: wide enough for ties to be kept, and in the end narrow enough for nothing else.
    doubt = math.sqrt(2 * math.log(math.log(max(count, 16)))) * np.sqrt(leverage) * (luck - luck[:, [best]]).std(axis=0)
    lead = fitted[:, [best]]
    return np.where(fitted > lead - doubt, lead, fitted), luck


class _Chosen(NamedTuple):
    """Of every draw, the prediction with the least error, each with the least doubt with which it is better than none."""

    gains: Array
    """Problems x draws."""
    beats_nothing: NDArray[np.bool_]
    by: NDArray[np.intp]
    """Position of its features."""


def _chosen(shares: Array, known: Mapping[str, Array], folds: NDArray[np.intp]) -> _Chosen:
    """``shares``: problems x workers x draws."""
    count, _, times = shares.shape
    # How much better than the others on this problem: how hard the problem is says nothing about whom to ask.
    better = (shares - shares.mean(axis=1, keepdims=True)).reshape(count, -1)
    sums = np.array([better[folds == fold].sum(axis=0) for fold in range(folds.max() + 1)])
    plain = (sums.sum(axis=0) - sums) / (count - np.bincount(folds))[:, None]
    # The best worker of these very problems: harder to beat than the best of the other folds, who changes with them by chance.
    asked = np.take_along_axis(shares, shares.mean(axis=0).argmax(axis=0)[None, None, :], axis=1)[:, 0]
    unpredicted = _error(better - plain[folds], times)
    least = np.full(times, np.inf)
    gains, by = np.zeros((count, times)), np.zeros(times, dtype=np.intp)
    for position, rows in enumerate(known.values()):
        tells = np.zeros(times, dtype=np.bool_)
        for ridge in RIDGES:
            predicted = _ridge(rows, better, plain, folds, ridge)
            # More doubt than it takes to predict something makes the error smaller and the choice blind: the error is mostly
            # about workers whom nobody would ask.
            error = np.where(tells, np.inf, _error(better - predicted, times))
            tells |= error < unpredicted
            choice = predicted.reshape(shares.shape).argmax(axis=1)
            gain = np.take_along_axis(shares, choice[:, None, :], axis=1)[:, 0] - asked
            closer = error < least
            least, by = np.where(closer, error, least), np.where(closer, position, by)
            gains = np.where(closer, gain, gains)
    return _Chosen(gains, least < unpredicted, by)


def _ridge(rows: Array, better: Array, plain: Array, folds: NDArray[np.intp], ridge: float) -> Array:
    """What ``rows`` predict of ``better`` in each fold, learned from the other folds, whose means are ``plain``."""
    parts = [folds == fold for fold in range(folds.max() + 1)]
    squares = np.array([rows[part].T @ rows[part] for part in parts])
    products = np.array([rows[part].T @ better[part] for part in parts])
    sums = np.array([rows[part].sum(axis=0) for part in parts])
    predicted = np.empty_like(better)
    for fold, part in enumerate(parts):
        rest = products.sum(axis=0) - products[fold] - np.outer(sums.sum(axis=0) - sums[fold], plain[fold])
        weights = np.linalg.solve(squares.sum(axis=0) - squares[fold] + ridge * np.eye(rows.shape[1]), rest)
        predicted[part] = plain[fold] + rows[part] @ weights
    return predicted


def _error(rest: Array, times: int) -> Array:
    error: Array = (rest**2).reshape(len(rest), -1, times).sum(axis=(0, 1))
    return error


def _table(results: list[Result]) -> tuple[list[str], list[str], list[str], Array, int]:
    """Workers, problems and their kinds, and shares of right answers: problems x workers without gaps; and the repeats."""
    seen: dict[str, dict[str, list[float]]] = {}
    kinds: dict[str, str] = {}
    for result in results:
        answered = seen.setdefault(result.arm, {})
        if not result.is_world_fault:
            answered.setdefault(result.problem, []).append(float(result.is_correct))
            kinds[result.problem] = result.kind
    if len(seen) < 2:
        raise ConfigError("headroom needs two workers or more")
    repeats = max((len(each) for problems in seen.values() for each in problems.values()), default=0)
    common = [p for p in kinds if all(len(problems.get(p, ())) == repeats for problems in seen.values())]
    if len(common) < 2:
        fewest = min(seen, key=lambda name: sum(map(len, seen[name].values())))
        raise ConfigError(
            "there are not two problems that every worker has answered as often; "
            f"{fewest!r} has fewest, {len(seen[fewest])} of {len(kinds)}"
        )
    shares = np.array([[math.fsum(seen[name][p]) / repeats for name in seen] for p in common])
    return list(seen), common, [kinds[p] for p in common], shares, repeats
