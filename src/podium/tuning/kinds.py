"""By what problems are told apart: their kinds where there are several, else groups of texts that are alike.

Texts are neighbours where they share rare words and pairs of words; groups are where the graph of neighbours is thinnest (spectral
clustering: A. Ng, M. Jordan, Y. Weiss, 2001). Numbers count as one word. Wordings that come from one template lie close together
whatever is filled in, and templates with common phrases lie near each other, which distances alone do not show.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from math import log

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse import csr_matrix
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import silhouette_score

from podium.types import Problem

NEIGHBOURS = 10
MOST = 10
"""Groups at most; each needs problems of its own to be searched on."""
SMALLEST = 8
"""Problems of a group at least; smaller ones are shared out to those nearest."""
LEAST = 30
"""Problems that a group has on average, at least."""
CLEAR = 0.1
"""Silhouette from which groups are told apart, -1..1; below it all problems are one kind."""
FAINT = 1e-6
"""How near texts are that share nothing."""
MANY = 2000
"""Texts from which groups are made; more are put to their nearest."""


def kinds_of(problems: Sequence[Problem], given: Callable[[Problem], str]) -> Callable[[Problem], str]:
    """What tells problems apart: ``given`` where it has several values, else groups found in the texts, "group 1", ...

    The answers are not looked at. A problem that is not among ``problems`` has no group.
    """
    if len({given(problem) for problem in problems}) > 1:
        return given
    groups = _groups([problem.question for problem in problems])
    by_id = {problem.id: f"group {group + 1}" for problem, group in zip(problems, groups, strict=True)}
    return lambda problem: by_id[problem.id]


def word_features(texts: Sequence[str]) -> csr_matrix:
    """Words and pairs of words that at least two texts have, weighted by how rare they are; all numbers are one word."""
    masked = [re.sub(r"\d+", "0", text) for text in texts]
    return TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2), min_df=2, token_pattern=r"\w+|[^\w\s]").fit_transform(masked)


def _groups(texts: Sequence[str]) -> list[int]:
    """More groups than there may be kinds: what belongs together is told later, by what is right."""
    most = min(MOST, len(texts) // LEAST)
    masked = [re.sub(r"\d+", "0", text) for text in texts]
    if most < 2 or len({" ".join(text.lower().split()) for text in masked}) < 2:
        return [0] * len(texts)  # alike but for the numbers: there is nothing to tell them apart by
    words = word_features(texts)
    alike = (words @ words.T).toarray()
    np.fill_diagonal(alike, 0.0)
    near = np.zeros_like(alike)
    for row, one in zip(near, alike, strict=True):
        nearest = np.argsort(-one, kind="stable")[:NEIGHBOURS]
        row[nearest] = one[nearest]
    near = np.maximum(near, near.T) + FAINT
    np.fill_diagonal(near, 0.0)
    degree = np.sqrt(near.sum(axis=1))
    size = len(texts)
    points = eigh(near / degree[:, None] / degree[None], subset_by_index=[size - most, size - 1])[1]
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    labels = KMeans(most, n_init=20, random_state=0).fit_predict(points)
    return [int(label) for label in np.unique(labels, return_inverse=True)[1]]
def telling_words(texts: Sequence[str], others: Sequence[str], count: int = 8) -> list[str]:
    def words(text): return set(re.findall(r"[a-z]{4,}", text.lower()))
    own, other = Counter(w for t in texts for w in words(t)), Counter(w for t in others for w in words(t))
    def worth(w):
        return own[w] / len(texts) * log((own[w] + 0.5) / len(texts) / ((other[w] + 0.5) / (len(others) + 1)))
    return sorted(own, key=lambda w: (-worth(w), w))[:count]
