"""Kinds found again by what is right: which team answers a question says more of its kind than its words do.

Expectation maximisation over a latent kind of every question (A. P. Dempster, N. M. Laird, D. B. Rubin, 1977), in its hard form:
a kind is what one team solves. The text gives the prior, through a classifier that has not seen the question (as in K. Nigam and
others, "Text classification from labeled and unlabeled documents using EM", 2000). The teams' right and wrong answers give the
likelihood. Left out: that a team may be good at half of a kind.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import TruncatedSVD
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from podium.policies.kinds import text_features

WEIGHT = 8.0
"""Answers that a share known beforehand counts as."""
DOUBT = 0.02
"""Chance of every kind whatever the text says."""
ROUNDS = 5
FOLDS = 5
DIMENSIONS = 64
"""Of the texts, as the classifier sees them (latent semantic analysis)."""


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
    words = text_features().fit_transform(texts)
    dimensions = min(DIMENSIONS, len(texts) - 1, words.shape[1])
    points = make_pipeline(TruncatedSVD(dimensions, random_state=0), Normalizer()).fit_transform(words)
    for _ in range(ROUNDS):
        prior = _unseen(points, labels)
        own, other = _rates(labels, right, shares)
        posterior = []
        for before, outcomes in zip(prior, right, strict=True):
            logs = {
                kind: np.log(DOUBT + (1 - DOUBT) * before.get(kind, 0.0))
                + sum(
                    np.log(rate if was_right else 1 - rate)
                    for team, was_right in outcomes.items()
                    for rate in (own[team] if team == kind else other[team],)
                )
                for kind in kinds
            }
            top = max(logs.values())
            weights = {kind: float(np.exp(log - top)) for kind, log in logs.items()}
            total = sum(weights.values())
            posterior.append({kind: weight / total for kind, weight in weights.items()})
        found = [max(each, key=lambda kind, each=each: each[kind]) for each in posterior]  # type: ignore[misc]
        if found == labels:
            break
        labels = found
    return labels, posterior


def _rates(
    labels: Sequence[str], right: Sequence[Mapping[str, bool]], shares: Mapping[str, float]
) -> tuple[dict[str, float], dict[str, float]]:
    """Kind -> how often its team is right on it, and on the others."""
    teams = {team for outcomes in right for team in outcomes}
    own, other = {}, {}
    for team in teams:
        there = [outcomes[team] for label, outcomes in zip(labels, right, strict=True) if team in outcomes and label == team]
        elsewhere = [outcomes[team] for label, outcomes in zip(labels, right, strict=True) if team in outcomes and label != team]
        own[team] = (sum(there) + WEIGHT * shares[team]) / (len(there) + WEIGHT)
        other[team] = (sum(elsewhere) + 1) / (len(elsewhere) + 4)
    return own, other


def _unseen(points: NDArray[np.float64], labels: Sequence[str]) -> list[Mapping[str, float]]:
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
        model = LogisticRegression(C=30.0, max_iter=500).fit(points[~unseen], known)
        for n, chances in zip(np.flatnonzero(unseen), model.predict_proba(points[unseen]), strict=True):
            found[n] = dict(zip(map(str, model.classes_), chances.tolist(), strict=True))
    return found
