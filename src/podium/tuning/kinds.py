"""By what problems are told apart: their kinds where there are several, else groups of questions that are alike.

Questions are neighbours where they share rare words and pairs of words, and where workers' replies to them do: what a reply says
and, more than that, how it is built, which shows what kind of work a question takes (a formula, a program, a letter). Groups are
parted where the graph of neighbours is thinnest (spectral clustering: A. Ng, M. Jordan, Y. Weiss, 2001). Numbers count as one
word. Texts of one template are near each other whatever is filled in, and so are, step by step, templates with common phrases,
which distances alone do not show.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse import csr_matrix, hstack
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.metrics import silhouette_score
from sklearn.preprocessing import normalize
from threadpoolctl import threadpool_limits

from podium.types import Problem

NEIGHBOURS = 10
DIMENSIONS = 16
MOST = 10
"""Groups at most; each needs problems of its own to be searched on."""
HELD = 0.75
"""How far a group has to hold together, 0..1: an eigenvalue of the graph."""
SMALLEST = 20
"""Problems of a group at least, to find a team by; smaller ones are shared out to those nearest."""
LEAST = 22
"""Problems that a group has on average, at least."""
WORDS, SHAPE = 0.3, 0.6
"""Weight of the words of replies, and of how they are built, beside the question's words, which have 1."""
LONGEST_SHAPE, READ = 12, 4_000
"""Signs in a row that are looked at together, and characters of a reply that are read."""
CLEAR = 0.1
"""Silhouette from which groups are told apart, -1..1; below it all problems are one kind."""
DOUBTFUL = 0.1
"""Share of a question's neighbours in another group from which it may belong there."""
FAINT = 1e-6
"""How near texts are that share nothing."""
MANY = 2000
"""Texts that groups are made of; where there are more, the others go where their nearest is."""
_PIECE = r"\w+|[^\w\s]"


def kinds_of(problems: Sequence[Problem], given: Callable[[Problem], str]) -> Callable[[Problem], str]:
    """What tells problems apart: ``given`` where it has several values, else groups found in the texts, "group 1", ...

    The answers are not looked at. A problem that is not among ``problems`` has no group.
    """
    if len({given(problem) for problem in problems}) > 1:
        return given
    return grouped(problems)


def grouped(problems: Sequence[Problem], replies: Mapping[str, str] = MappingProxyType({})) -> Callable[[Problem], str]:
    """Problem -> "group 1", "group 2", ...: those that are alike by their questions and, by id, what was replied to them."""
    groups = _groups([problem.question for problem in problems], [replies.get(problem.id, "") for problem in problems])
    by_id = {problem.id: f"group {group + 1}" for problem, group in zip(problems, groups, strict=True)}
    return lambda problem: by_id[problem.id]


def neighbours(
    problems: Sequence[Problem], replies: Mapping[str, str], kind_of: Callable[[Problem], str]
) -> dict[str, tuple[str, ...]]:
    """Problem, by id -> the other groups that some of its nearest neighbours are in, the likeliest first; none for most."""
    features = _features([problem.question for problem in problems], [replies.get(problem.id, "") for problem in problems])
    groups, found = [kind_of(problem) for problem in problems], {}
    for at, problem in enumerate(problems):
        alike = (features[at] @ features.T).toarray()[0]
        alike[at] = 0.0
        near = Counter[str]()
        for other in np.argsort(-alike, kind="stable")[:NEIGHBOURS]:
            near[groups[other]] += float(alike[other])  # type: ignore[assignment]
        least = DOUBTFUL * sum(near.values())
        found[problem.id] = tuple(group for group, share in near.most_common() if group != groups[at] and share >= least > 0)
    return found


def word_features(texts: Sequence[str]) -> csr_matrix:
    """Words and pairs of words that two texts have, weighted by how rare they are; all numbers are one word."""
    return _weighed([re.sub(r"\d+", "0", text) for text in texts], 2, _PIECE)


def shape_features(replies: Sequence[str]) -> csr_matrix:
    """How replies are built: what stands in a row, all words being one and all numbers another, weighted by how rare it is."""
    built = [re.sub(r"[^\W\d]\w*", "w", re.sub(r"\d+", "0", reply[:READ])) for reply in replies]
    return _weighed(built, LONGEST_SHAPE, rf"{_PIECE}|\n")


def _weighed(texts: Sequence[str], longest: int, piece: str) -> csr_matrix:
    counted = CountVectorizer(ngram_range=(1, longest), token_pattern=piece).fit_transform(texts)
    shared = np.flatnonzero(counted.getnnz(axis=0) > 1)
    return TfidfTransformer(sublinear_tf=True).fit_transform(counted[:, shared] if len(shared) else counted)


def _features(texts: Sequence[str], replies: Sequence[str]) -> csr_matrix:
    """Unit rows, so that the product of two says how alike they are."""
    words = word_features(texts)
    said = [reply[:READ] for reply in replies]
    if not any(re.search(_PIECE, reply) for reply in said):
        return words
    return normalize(hstack([words, WORDS * word_features(said), SHAPE * shape_features(said)]).tocsr())


def _groups(texts: Sequence[str], replies: Sequence[str]) -> list[int]:
    """The group of each text, counted from 0; all in one where nothing tells them apart."""
    if len({" ".join(re.sub(r"\d+", "0", text).lower().split()) for text in texts}) < 2:
        return [0] * len(texts)  # alike but for the numbers: there is nothing to tell them apart by
    words = _features(texts, replies)
    few = np.unique(np.linspace(0, len(texts) - 1, min(MANY, len(texts))).astype(int))
    with threadpool_limits(limits=1):  # so small a problem waits longer for threads than it takes
        labels = _clusters(words[few])
    if len(few) == len(texts):
        return [int(label) for label in labels]
    return [int(labels[int((words[n] @ words[few].T).toarray().argmax())]) for n in range(len(texts))]


def _clusters(words: csr_matrix) -> NDArray[np.int_]:
    size = words.shape[0]
    most = min(MOST, size // LEAST)
    if most < 2 or words.shape[1] < 2:
        return np.zeros(size, dtype=int)
    alike = (words @ words.T).toarray()
    np.fill_diagonal(alike, 0.0)
    near = np.zeros_like(alike)
    for row, one in zip(near, alike, strict=True):
        nearest = one >= np.partition(one, -NEIGHBOURS)[-NEIGHBOURS]  # of equals all, so that their order does not matter
        row[nearest] = one[nearest]
    near = np.maximum(near, near.T) + FAINT
    np.fill_diagonal(near, 0.0)
    degree = np.sqrt(near.sum(axis=1))
    held, points = eigh(near / degree[:, None] / degree[None], subset_by_index=[size - most, size - 1])
    points = points[:, held > HELD]
    points /= np.maximum(np.linalg.norm(points, axis=1, keepdims=True), FAINT)
    labels = np.unique(KMeans(points.shape[1], n_init=20, random_state=0).fit_predict(points), return_inverse=True)[1]
    while (sizes := np.bincount(labels)).min() < SMALLEST and len(sizes) > 1:
        small = int(sizes.argmin())
        to_group = np.array([near[:, labels == group].sum(axis=1) for group in range(len(sizes))])
        to_group[small] = -1.0
        labels = np.unique(np.where(labels == small, to_group.argmax(axis=0), labels), return_inverse=True)[1]
    whole = TruncatedSVD(min(DIMENSIONS, size - 1, words.shape[1] - 1), random_state=0).fit_transform(words)
    if len(np.unique(labels)) < 2 or float(silhouette_score(normalize(whole), labels)) < CLEAR:
        return np.zeros(size, dtype=int)
    return labels
