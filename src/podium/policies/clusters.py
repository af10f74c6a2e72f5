"""After Avengers (arXiv 2505.19797): questions in clusters, the best workers of each, and a vote.

Kept: clusters of embedded questions by k-means, workers ranked in each cluster by how often they were right there, and a new
question answered by the best of its nearest cluster. Not kept: the pretrained encoder, for which TF-IDF and a singular value
decomposition stand in; and the vote over repeated answers of one worker, which a recording can not give: the best ``members`` of
the cluster vote instead.
"""

from collections.abc import Callable

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from podium.errors import ConfigError
from podium.policies.router_data import RouterDataset
from podium.policies.rules import Rule

CLUSTERS = 64
PER_CLUSTER = 10
"""Training questions that a cluster has on average, at least."""
MEMBERS = 1
"""Workers of a cluster that are asked where nobody says."""
_DIMENSIONS = 64
_SEED = 0


def clustered(dataset: RouterDataset, members: int = MEMBERS) -> Callable[[str], Rule]:
    """The text of a question -> the best ``members`` workers of its cluster, who vote; ties go to the best of them.

    Raises :class:`ConfigError` where so many workers are not there. Example: ``clustered(dataset, 3)("6 times 7?").order``.
    """
    workers = len(dataset.right[0])
    if not 1 <= members <= workers:
        raise ConfigError(f"{members} of {workers} workers can not vote; router:avengers:N takes an N from 1 to {workers}")
    count = len(dataset.questions)
    words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, max_features=20_000, tokenizer=str.split, token_pattern=None)
    features = words.fit_transform(dataset.questions)
    dimensions = min(_DIMENSIONS, count - 1, features.shape[1] - 1)
    right = np.array(dataset.right)
    overall = right.mean(axis=0)
    if dimensions < 1 or count < 2 * PER_CLUSTER:
        everywhere = Rule(order=_ranked(overall, members))
        return lambda question: everywhere
    points = make_pipeline(TruncatedSVD(dimensions, random_state=_SEED), Normalizer())
    means = KMeans(min(CLUSTERS, count // PER_CLUSTER), n_init=2, random_state=_SEED).fit(points.fit_transform(features))
    # A worker's share in a cluster, with one question's worth of its share everywhere: of equals the better one is taken.
    sums = [right[means.labels_ == label] for label in range(means.n_clusters)]
    rules = [Rule(order=_ranked((own.sum(axis=0) + overall) / (len(own) + 1), members)) for own in sums]
    return lambda question: rules[int(means.predict(points.transform(words.transform([question])))[0])]


def _ranked(shares: "np.typing.NDArray[np.float64]", members: int) -> tuple[int, ...]:
    return tuple(int(worker) for worker in np.argsort(-shares, kind="stable")[:members])
