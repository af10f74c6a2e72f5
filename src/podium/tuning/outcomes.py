"""P(right | kind of question, candidate), learned from every trial so far, with its uncertainty.

Bayesian logistic regression with a Gaussian prior, the posterior approximated by Laplace's method, and decisions by draws from it
(Thompson sampling, as in O. Chapelle and L. Li, "An empirical evaluation of Thompson sampling", 2011). Strength is shared: a
worker in a role counts for every kind, for the kind, and for the place in the plan, each with a weight of its own. Left out:
interactions between the workers of one workflow.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from scipy.sparse import csr_matrix
from scipy.special import expit

from podium.tuning.candidates import Candidate

Array = NDArray[np.float64]
Feature = tuple[object, ...]

WIDTHS = {"one": 4.0, "kind": 0.5, "role": 0.3, "kind role": 0.3, "kind plan": 0.5, "plan place": 0.5, "reads": 0.2}
"""Prior variance of a weight by the first word of its feature."""
_STEPS = 25


def features(kind: str, candidate: Candidate) -> list[Feature]:
    """What is known of ``candidate`` for questions of ``kind``."""
    plan = tuple(part.role for part in candidate)
    found: list[Feature] = [("one",), ("kind", kind), ("kind plan", kind, plan), ("kind plan", kind, len(candidate))]
    for place, part in enumerate(candidate):
        found.append(("role", part.role, part.worker))
        found.append(("kind role", kind, part.role, part.worker))
        found.append(("plan place", kind, plan, place, part.worker))
        for seen in part.access:
            found.append(("reads", candidate[seen].role, part.role))
            found.append(("reads", kind, candidate[seen].role, part.role))
    found.append(("kind role", kind, "last", candidate[-1].worker))
    return found


class _Weights(dict[Feature, float]):
    """Weights by feature. One that is not there is drawn from its prior when first asked for, or 0 without ``rng``."""

    def __init__(self, known: Iterable[tuple[Feature, float]], rng: np.random.Generator | None) -> None:
        super().__init__(known)
        self._rng = rng

    def __missing__(self, feature: Feature) -> float:
        wide = 0.0 if self._rng is None else WIDTHS[str(feature[0])] ** 0.5 * self._rng.standard_normal()
        self[feature] = float(wide)
        return self[feature]


class Draw:
    """One possible truth, drawn from the posterior; what was never tried is drawn from the prior when first asked for."""

    def __init__(self, weights: Iterable[tuple[Feature, float]], rng: np.random.Generator | None) -> None:
        self._weight = _Weights(weights, rng).__getitem__

    def logit(self, kind: str, candidate: Candidate) -> float:
        """Log odds of a right answer."""
        return sum(map(self._weight, features(kind, candidate)))

    def share(self, kind: str, candidate: Candidate) -> float:
        """Share of right answers, 0..1."""
        return float(expit(self.logit(kind, candidate)))


class OutcomeModel:
    """What the trials say. Example: ``model.add("word", candidate, 1.0); model.fit(); model.mean().share("word", other)``."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._added: list[tuple[str, Candidate, float]] = []
        self._index: dict[Feature, int] = {}
        self._rows: list[list[int]] = []
        self._right: list[float] = []
        self._mean: Array = np.zeros(0)
        self._factor: Array = np.zeros((0, 0))

    def __len__(self) -> int:
        return len(self._rows) + len(self._added)

    def add(self, kind: str, candidate: Candidate, right: float) -> None:
        """One trial more."""
        self._added.append((kind, candidate, right))

    def fit(self) -> None:
        """Newton's method to the most probable weights, and the curvature there; nothing where no trial was added since.

        In which order these were added says who answered first, and makes no difference.
        """
        if not self._added:
            return
        for kind, candidate, right in sorted(self._added, key=repr):
            self._rows.append([self._index.setdefault(feature, len(self._index)) for feature in features(kind, candidate)])
            self._right.append(right)
        self._added.clear()
        count, known = len(self._rows), len(self._index)
        ends = np.cumsum([0, *map(len, self._rows)])
        columns = np.concatenate([np.asarray(row) for row in self._rows])
        x = csr_matrix((np.ones(len(columns)), columns, ends), shape=(count, known))
        x.sum_duplicates()
        prior = 1.0 / np.array([WIDTHS[str(feature[0])] for feature in self._index])
        y = np.array(self._right)
        w = np.zeros(known)
        w[: len(self._mean)] = self._mean
        for _ in range(_STEPS):
            p = expit(x @ w)
            slope = x.T @ (p - y) + prior * w
            curve = (x.T @ x.multiply((p * (1 - p))[:, None]).tocsr()).toarray()
            curve[np.diag_indices(known)] += prior
            factor = cho_factor(curve, lower=True, overwrite_a=True, check_finite=False)
            step = cho_solve(factor, slope, check_finite=False)
            length = float(np.abs(step).max())
            w = w - step * min(1.0, 2.0 / max(length, 1e-12))
            if length < 1e-2:
                break
        self._mean, self._factor = w, np.tril(factor[0])

    def mean(self) -> Draw:
        """The most probable truth; what was never tried weighs nothing."""
        return Draw(zip(self._index, self._mean.tolist(), strict=False), None)

    def draw(self) -> Draw:
        """One truth out of the posterior."""
        if not len(self._mean):
            return Draw((), self._rng)
        noise = self._rng.standard_normal(len(self._mean))
        w = self._mean + solve_triangular(self._factor, noise, lower=True, trans="T", check_finite=False)
        return Draw(zip(self._index, w.tolist(), strict=False), self._rng)


def best_for(draw: Draw, kind: str, starts: Sequence[Candidate], workers: Sequence[int]) -> Candidate:
    """By coordinate ascent over workers from each of ``starts``, the candidate that ``draw`` holds for the best."""
    ascended: list[tuple[float, Candidate]] = []
    for start in starts:
        current, value = start, draw.logit(kind, start)
        for _ in range(3):
            before = value
            for place in range(len(current)):
                part = current[place]
                for worker in workers:
                    if worker == current[place].worker:
                        continue
                    other = (*current[:place], replace(part, worker=worker), *current[place + 1 :])
                    if (found := draw.logit(kind, other)) > value:
                        current, value = other, found
            if value == before:
                break
        ascended.append((value, current))
    return max(ascended, key=lambda found: found[0])[1]
