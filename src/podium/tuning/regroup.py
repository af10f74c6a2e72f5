"""Kinds found again by what is right: which team answers a question says more of its kind than its words do.

Expectation maximisation over a latent kind of every question (A. P. Dempster, N. M. Laird, D. B. Rubin, 1977): each kind has
a share right of every team that was asked. The text gives the prior, through a classifier that has not seen the question (as in
K. Nigam and others, "Text classification from labeled and unlabeled documents using EM", 2000). The teams' right and wrong
answers give the likelihood. Left out: that teams with a worker in common err together.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from podium.tuning.kinds import word_features

WEIGHT = 8.0
"""Answers that a share known beforehand counts as."""
DOUBT = 0.05
"""Chance of every kind whatever the text says."""
USUAL = 10.0
"""Answers that a team's share right over the other kinds counts as."""
LEAST = 0.1
"""No team is thought to be right less often, or wrong."""
ROUNDS = 8
FOLDS = 5

Array = NDArray[np.float64]


def regrouped(
    texts: Sequence[str], first: Sequence[str], right: Sequence[Mapping[str, bool]], shares: Mapping[str, float]
) -> tuple[list[str], list[Mapping[str, float]]]:
    """The likeliest kind of each text, and the chance of each kind: begun with ``first``.

    ``right`` says for each text which kinds' teams were right and which wrong, where they were asked, ``shares`` how often each
    team is right on its own kind as far as is known beforehand: a weak team's answers say little.
    """
    labels = list(first)
    kinds = sorted(set(labels))
    posterior: list[Mapping[str, float]] = [{label: 1.0} for label in labels]
    if len(kinds) < 2:
        return labels, posterior
    points = word_features(texts)
    teams = sorted({team for outcomes in right for team in outcomes})
    asked = np.array([[team in outcomes for team in teams] for outcomes in right], dtype=np.float64).reshape(len(right), -1)
    hits = np.array([[bool(outcomes.get(team)) for team in teams] for outcomes in right], dtype=np.float64).reshape(
        len(right), -1
    )
    chances = np.array([[float(label == kind) for kind in kinds] for label in labels])
    for _ in range(ROUNDS):
        unseen = _unseen(points, labels)
        prior = np.array([[DOUBT + (1 - DOUBT) * before.get(kind, 0.0) for kind in kinds] for before in unseen])
        rates = _rates(kinds, teams, chances, asked, hits, shares)
        logs = np.log(prior) + hits @ np.log(rates).T + (asked - hits) @ np.log(1 - rates).T
        chances = np.exp(logs - logs.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        found = [kinds[int(best)] for best in chances.argmax(axis=1)]
        if found == labels:
            break
        labels = found
    return labels, [dict(zip(kinds, row, strict=True)) for row in chances.tolist()]


def _rates(
    kinds: Sequence[str], teams: Sequence[str], chances: Array, asked: Array, hits: Array, shares: Mapping[str, float]
) -> Array:
    """How often each team is right on each kind; where little is known, as often as on the others."""
    right, tried = chances.T @ hits, chances.T @ asked
    foreign = np.array([[team != kind for team in teams] for kind in kinds], dtype=np.float64)
    usual = ((foreign * right).sum(axis=0) - foreign * right + 1) / ((foreign * tried).sum(axis=0) - foreign * tried + 4)
    right, tried = right + USUAL * foreign * usual, tried + USUAL * foreign + (1 - foreign)
    right += (1 - foreign) / 2
    for kind in set(kinds) & set(teams):
        row, column = kinds.index(kind), teams.index(kind)
        right[row, column] += WEIGHT * shares[kind]
        tried[row, column] += WEIGHT
    rates: Array = np.clip(right / tried, LEAST, 1 - LEAST)
    return rates


def _unseen(points: csr_matrix, labels: Sequence[str]) -> list[Mapping[str, float]]:
    """The chance of each kind by a classifier that was fitted on the other texts."""
    counts = Counter(labels)
    folds = min(FOLDS, *counts.values())
    if folds < 2:
        folds = 2
    found: list[Mapping[str, float]] = [{} for _ in labels]
    for fold in range(folds):
        # Texts of a kind take turns, so that every fold knows every kind that has two texts or more.
        seen: Counter[str] = Counter()
        turn = []
        for label in labels:
            turn.append(seen[label] % folds == fold)
            seen[label] += 1
        unseen = np.array(turn)
        known = [label for label, out in zip(labels, turn, strict=True) if not out]
        if len(set(known)) < 2:
            continue
        model = LogisticRegression(C=100.0, max_iter=500).fit(points[~unseen], known)
        for n, chances in zip(np.flatnonzero(unseen), model.predict_proba(points[unseen]), strict=True):
            found[n] = dict(zip(map(str, model.classes_), chances.tolist(), strict=True))
    return found
