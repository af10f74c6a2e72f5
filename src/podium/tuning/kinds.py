"""By what problems are told apart: their kinds where there are several, else groups of texts that are alike."""

import re
from collections.abc import Callable, Sequence

import numpy as np
from sklearn.cluster import AgglomerativeClustering
from sklearn.decomposition import TruncatedSVD
from sklearn.metrics import silhouette_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from podium.policies.kinds import text_features
from podium.types import Problem

DIMENSIONS = 16
MOST = 10
"""Groups at most; each needs problems of its own to be searched on."""
SMALLEST = 8
"""Problems of a group at least; smaller ones are shared out to those nearest."""
LEAST = 20
"""Problems that a group has on average, at least."""
CLEAR = 0.1
"""Silhouette from which groups are told apart, -1..1; below it all problems are one kind."""


def kinds_of(problems: Sequence[Problem], given: Callable[[Problem], str]) -> Callable[[Problem], str]:
    """What tells problems apart: ``given`` where it has several values, else groups found in the texts, "group 1", ...

    The answers are not looked at. A problem that is not among ``problems`` has no group.
    """
    if len({given(problem) for problem in problems}) > 1:
        return given
    groups = _groups([problem.question for problem in problems])
    by_id = {problem.id: f"group {group + 1}" for problem, group in zip(problems, groups, strict=True)}
    return lambda problem: by_id[problem.id]


def _groups(texts: Sequence[str]) -> list[int]:
    """More groups than there may be kinds: what belongs together is told later, by what is right."""
    most = min(MOST, len(texts) // LEAST)
    masked = [re.sub(r"\d+", "0", text) for text in texts]
    if most < 2 or len({" ".join(text.lower().split()) for text in masked}) < 2:
        return [0] * len(texts)  # alike but for the numbers: there is nothing to tell them apart by
    words = text_features().fit_transform(masked)
    dimensions = min(DIMENSIONS, len(texts) - 1, words.shape[1])
    points = make_pipeline(TruncatedSVD(dimensions, random_state=0), Normalizer()).fit_transform(words)
    tried = {count: AgglomerativeClustering(count).fit_predict(points) for count in range(2, most + 1)}
    clear = max(float(silhouette_score(points, labels)) for labels in tried.values())
    if clear < CLEAR:
        return [0] * len(texts)
    labels = tried[most]
    while (sizes := np.bincount(labels)).min() < SMALLEST:
        small = int(sizes.argmin())
        centres = np.array([points[labels == group].mean(axis=0) for group in range(len(sizes))])
        distances = np.linalg.norm(points[labels == small][:, None] - np.delete(centres, small, axis=0)[None], axis=2)
        near = np.delete(np.arange(len(sizes)), small)[distances.argmin(axis=1)]
        labels[labels == small] = near
        labels = np.unique(labels, return_inverse=True)[1]
    return [int(label) for label in labels]
