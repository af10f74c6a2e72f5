"""Learned routers as baselines: one-step workflows that send each question to the worker it is predicted to suit.

All learn from the same table, who was right on which training question, and see nothing of a question but its text. They differ
in what they make of it. Text becomes TF-IDF over character n-grams, so that no pretrained encoder has to be at hand. The
published methods use one, which is the first thing that is not kept of them.
"""

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_softmax, logsumexp, softmax
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import Ridge
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline

from podium.errors import ConfigError
from podium.policies.fixed import FunctionPolicy, alone
from podium.policies.router_data import RouterDataset

Array = NDArray[np.float64]
Chooser = Callable[[str], int]
"""The text of a question -> the position of a worker in the pool."""


def routed(choose: Chooser) -> FunctionPolicy:
    """The policy that asks the worker that ``choose`` names, in one step. Example: ``routed(nearest(dataset))``."""
    return FunctionPolicy(lambda brief: alone(choose(brief.question[-1].content)))


def best_of_kind(dataset: RouterDataset, kind_of: Callable[[str], str | None]) -> Chooser:
    """The worker that was right most often on questions of the same kind; of all questions where the kind is unknown."""
    table = np.array(dataset.right)
    overall = int(table.mean(axis=0).argmax())
    best = {kind: int(table[[k == kind for k in dataset.kinds]].mean(axis=0).argmax()) for kind in set(dataset.kinds)}
    return lambda text: best.get(kind_of(text) or "", overall)


def nearest(dataset: RouterDataset, k: int = 20) -> Chooser:
    """The worker that was right most often on the ``k`` nearest questions by cosine (as in RouterBench, arXiv 2403.12031)."""
    text = _features().fit(dataset.questions)
    found = NearestNeighbors(n_neighbors=min(k, len(dataset.questions)), metric="cosine").fit(text.transform(dataset.questions))
    table = np.array(dataset.right)

    def choose(question: str) -> int:
        _, neighbours = found.kneighbors(text.transform([question]))
        return int(table[neighbours[0]].mean(axis=0).argmax())

    return choose


def linear(dataset: RouterDataset) -> Chooser:
    """A linear prediction of each worker's share of right answers; the worker with the highest."""
    model = make_pipeline(_features(), Ridge(alpha=1.0)).fit(dataset.questions, np.array(dataset.right))
    return lambda question: int(np.asarray(model.predict([question]))[0].argmax())


def contrastive(dataset: RouterDataset, *, dimensions: int = 32, temperature: float = 0.2, seed: int = 0) -> Chooser:
    """After RouterDC (arXiv 2409.19886): questions and workers in one space, a question near the workers that are right on it.

    Kept: worker embeddings learned with a contrastive loss that pulls a question towards the workers that did well and away from
    those that did not, cosine similarity, choice of the nearest. Not kept: the pretrained encoder that is trained along, the
    second loss that draws questions of a cluster together, and several positives weighed by score.
    """
    rng = np.random.default_rng(seed)
    features = make_pipeline(_features(), TruncatedSVD(_dimensions(dimensions, dataset), random_state=seed))
    x = _unit(features.fit_transform(dataset.questions))
    good = np.array(dataset.right) > 0.5
    taught = good.any(axis=1) & ~good.all(axis=1)
    if not taught.any():
        best = int(np.array(dataset.right).mean(axis=0).argmax())
        return lambda question: best
    x_taught, good = x[taught], good[taught]

    def loss(flat: Array) -> tuple[float, Array]:
        workers = flat.reshape(good.shape[1], -1)
        scores = x_taught @ workers.T / temperature
        right = np.where(good, scores, -np.inf)
        value = float((logsumexp(scores, axis=1) - logsumexp(right, axis=1)).mean()) + 1e-3 * float((flat**2).sum())
        slope = (softmax(scores, axis=1) - softmax(right, axis=1)) / temperature / len(x_taught)
        return value, (slope.T @ x_taught).ravel() + 2e-3 * flat

    start = rng.normal(scale=0.1, size=good.shape[1] * x.shape[1])
    workers = minimize(loss, start, jac=True, method="L-BFGS-B").x.reshape(good.shape[1], -1)
    return lambda question: int((_unit(features.transform([question])) @ workers.T)[0].argmax())


def agreement(dataset: RouterDataset, *, neighbours: int | None = None) -> Chooser:
    """After Smoothie (arXiv 2412.04692): without labels, a worker is trusted as far as the others agree with it.

    Kept: quality estimated from pairwise agreement alone; ``neighbours`` None gives one quality per worker for all questions (its
    global, independent form), a number one per question from its nearest questions (its local, dependent form). Not kept:
    the graphical model over embedded answers; two answers agree here where what was read out of them is the same.
    """
    if len(dataset.answers) != len(dataset.questions):
        raise ConfigError("this router learns from the workers' answers; there are none")
    agrees = np.array([[_agreement(row, worker) for worker in range(len(row))] for row in dataset.answers])
    if neighbours is None:
        best = int(agrees.mean(axis=0).argmax())
        return lambda question: best
    unlabelled = RouterDataset(questions=dataset.questions, kinds=dataset.kinds, right=tuple(map(tuple, agrees.tolist())))
    return nearest(unlabelled, neighbours)


def classified(dataset: RouterDataset, *, seed: int = 0) -> Chooser:
    """After MASRouter (arXiv 2502.11133): which way of working together suits this question. Columns are workflows here.

    Kept: mode of collaboration, roles and models are chosen per question by a classifier that is taught what each choice earned.
    Not kept: the cascade of separate choices, the variational latent, the cost in the objective, and prompts written for roles: a
    catalogue of the hand-written workflows of this package stands in for them.
    """
    features = make_pipeline(_features(), TruncatedSVD(_dimensions(64, dataset), random_state=seed))
    x = _unit(features.fit_transform(dataset.questions))
    earned = np.array(dataset.right)

    def loss(flat: Array) -> tuple[float, Array]:
        weights = flat.reshape(earned.shape[1], -1)
        chance = np.exp(log_softmax(x @ weights.T, axis=1))
        expected = (chance * earned).sum(axis=1, keepdims=True)
        slope = -(chance * (earned - expected)) / len(x)
        return 1e-4 * float((flat**2).sum()) - float(expected.mean()), (slope.T @ x).ravel() + 2e-4 * flat

    weights = minimize(loss, np.zeros(earned.shape[1] * x.shape[1]), jac=True, method="L-BFGS-B").x.reshape(earned.shape[1], -1)
    return lambda question: int((_unit(features.transform([question])) @ weights.T)[0].argmax())


def kind_by_text(dataset: RouterDataset, k: int = 5) -> Callable[[str], str | None]:
    """The kind that most of the ``k`` nearest training questions have; of equals that of the nearest. For new questions."""
    known = dict(zip(dataset.questions, dataset.kinds, strict=True))
    if len(set(dataset.kinds)) == 1:
        return lambda question: dataset.kinds[0]
    text = _features().fit(dataset.questions)
    found = NearestNeighbors(n_neighbors=min(k, len(dataset.questions)), metric="cosine").fit(text.transform(dataset.questions))

    def kind_of(question: str) -> str | None:
        if question in known:
            return known[question]
        _, neighbours = found.kneighbors(text.transform([question]))
        nearest_kinds: list[str] = [dataset.kinds[index] for index in neighbours[0]]
        return Counter(nearest_kinds).most_common(1)[0][0]

    return kind_of


def _features() -> TfidfVectorizer:
    return TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True, max_features=50_000)


def _dimensions(wanted: int, dataset: RouterDataset) -> int:
    return max(1, min(wanted, len(dataset.questions) - 1))


def _unit(x: Array) -> Array:
    unit: Array = x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12)
    return unit


def _agreement(answers: Sequence[str | None], worker: int) -> float:
    """Share of the others whose answer is the same; without an answer, none agrees."""
    mine = answers[worker]
    others = [answer for index, answer in enumerate(answers) if index != worker]
    return 0.0 if mine is None or not others else sum(answer == mine for answer in others) / len(others)
