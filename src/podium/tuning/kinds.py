"""By what problems are told apart: their kinds where there are several, else groups of texts that are alike."""

from collections.abc import Callable, Sequence

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import silhouette_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from podium.types import Problem

MOST = 8
"""Groups at most; each needs problems of its own to be searched on."""
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
    dimensions, most = min(16, len(texts) - 1), min(MOST, len(texts) // LEAST)
    if most < 2 or dimensions < 2:
        return [0] * len(texts)
    words = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True, max_features=30_000)
    points = make_pipeline(words, TruncatedSVD(dimensions, random_state=0), Normalizer()).fit_transform(texts)
    found: list[tuple[float, list[int]]] = []
    for count in range(2, most + 1):
        labels = KMeans(count, n_init=4, random_state=0).fit_predict(points)
        if np.bincount(labels).min() >= 4:
            found.append((float(silhouette_score(points, labels)), labels.tolist()))
    best = max(found, key=lambda one: one[0], default=(0.0, []))
    return best[1] if best[0] >= CLEAR else [0] * len(texts)
