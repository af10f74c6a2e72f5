"""After FrugalGPT (arXiv 2305.05176): workers in a row, the next one asked where the answer so far does not seem right.

Kept: a score of (question, answer) learned for each worker from whether it was right, a list of up to three workers, and a
threshold for each of them, chosen together on training questions. Not kept: the score by a fine-tuned language model, for which a
logistic regression over TF-IDF stands in; dollars: a call costs a price in shares of right answers, the same for each worker.
Thresholds are chosen by scores of questions that the score was not fitted to.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

from podium.errors import ConfigError
from podium.policies.fixed import alone
from podium.policies.learning import PRICE
from podium.policies.router_data import RouterDataset
from podium.tasks.agreement import votes
from podium.types import Brief, Generation
from podium.workflow.parse import format_workflow

Array = NDArray[np.float64]
LONGEST = 3
"""Workers in a row."""
MOST = 8
"""The best workers, of which rows are made."""
_THRESHOLDS = (0.2, 0.4, 0.6, 0.8)
"""Of the scores of a worker: the quantiles that are tried."""
_FOLDS = 4
_DIMENSIONS = (64, 24)
_SEED = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Whom to ask in a row, and when to stop. Example: ``Row(workers=(2, 0), thresholds=(0.8,))``."""

    workers: tuple[int, ...]
    thresholds: tuple[float, ...]
    """Of all workers but the last: the score from which its answer is taken."""


class Scorer:
    """P(right) of a worker's answer to a question, from what training questions say.

    Raises :class:`ConfigError` where the answers are not known.
    """

    def __init__(self, dataset: RouterDataset) -> None:
        if not dataset.answers:
            raise ConfigError("this router learns from the workers' answers; there are none")
        self._questions, self._answers = _text(0, "word", (1, 2)), _text(1, "char_wb", (1, 3))
        asked = self._questions[0].fit_transform(dataset.questions)
        said = [[answer or "" for answer in row] for row in zip(*dataset.answers, strict=True)]
        everything = self._answers[0].fit_transform([answer or " " for row in said for answer in row] + ["nothing"])
        self._fit(asked, everything)
        self._right = np.array(dataset.right) > 0.5
        rows = [self._rows(dataset.questions, answers) for answers in said]
        self.models = [_fitted(x, self._right[:, worker]) for worker, x in enumerate(rows)]
        self.unseen = np.column_stack([_unseen(x, self._right[:, worker]) for worker, x in enumerate(rows)])
        """(questions, workers) The scores of the training answers, by models that were not fitted to them."""

    def _fit(self, asked: object, said: object) -> None:
        for (_, svd), x in ((self._questions, asked), (self._answers, said)):
            svd.set_params(n_components=max(1, min(svd.n_components, *(size - 1 for size in x.shape))))  # type: ignore[attr-defined]
            svd.fit(x)

    def _rows(self, questions: Sequence[str], answers: Sequence[str]) -> Array:
        parts = [svd.transform(words.transform(texts)) for (words, svd), texts in (
            (self._questions, questions), (self._answers, answers),
        )]  # fmt: skip
        length = np.array([[np.log1p(len(answer)), float(not answer)] for answer in answers])
        return np.hstack([*parts, length])

    def scores(self, worker: int, questions: Sequence[str], answers: Sequence[str | None]) -> Array:
        """(questions,) How likely the ``answers`` of ``worker`` are right, 0..1."""
        return _chance(self.models[worker], self._rows(questions, [answer or "" for answer in answers]))

    def best_row(self, price: float = PRICE) -> Row:
        """The workers and thresholds that do best on the training questions, where a call costs ``price``."""
        order = np.argsort(-self._right.mean(axis=0), kind="stable")[:MOST].tolist()
        rows = [Row(workers=(worker,), thresholds=()) for worker in order]
        for length in range(2, LONGEST + 1):
            for workers in permutations(order, length):
                rows += [Row(workers=workers, thresholds=found) for found in self._thresholds(workers[:-1])]
        return max(rows, key=lambda row: self._worth(row, price))

    def _thresholds(self, workers: Sequence[int]) -> list[tuple[float, ...]]:
        found: list[tuple[float, ...]] = [()]
        for worker in workers:
            quantiles = np.quantile(self.unseen[:, worker], _THRESHOLDS).tolist()
            found = [(*start, threshold) for start in found for threshold in quantiles]
        return found

    def _worth(self, row: Row, price: float) -> float:
        won, calls = cascaded(row, self.unseen, self._right.astype(float))
        return float(won.mean() - price * calls.mean())


def cascaded(row: Row, scores: Array, right: Array) -> tuple[Array, Array]:
    """Per question, whether the answer that ``row`` ends with is right, and how many calls it took."""
    won, calls = right[:, row.workers[-1]].copy(), np.full(len(right), float(len(row.workers)))
    for place in reversed(range(len(row.thresholds))):
        taken = scores[:, row.workers[place]] >= row.thresholds[place]
        won[taken], calls[taken] = right[taken, row.workers[place]], place + 1
    return won, calls


class FrugalPolicy:
    """Asks the next worker of ``row``, one a round, until the score of the answer reaches its threshold."""

    def __init__(self, scorer: Scorer, row: Row) -> None:
        self._scorer = scorer
        self.row = row

    async def write(self, brief: Brief, n: int = 1) -> list[Generation]:
        """One step for the next worker, or empty lists, which keep the answer."""
        place = len(brief.previous_rounds)
        keep = place >= len(self.row.workers)
        if place and not keep and (answer := brief.previous_rounds[-1].answer) is not None:
            question = brief.question[-1].content
            said = votes([answer], question=question)
            [score] = self._scorer.scores(self.row.workers[place - 1], [question], said)
            keep = bool(score >= self.row.thresholds[place - 1])
        return [Generation(text=format_workflow(None if keep else alone(self.row.workers[place])))] * n


def _text(part: int, analyzer: str, ngrams: tuple[int, int]) -> tuple[TfidfVectorizer, TruncatedSVD]:
    split = str.split if analyzer == "word" else None
    words = TfidfVectorizer(
        analyzer=analyzer, ngram_range=ngrams, sublinear_tf=True, max_features=20_000, tokenizer=split, token_pattern=None
    )  # fmt: skip
    return words, TruncatedSVD(_DIMENSIONS[part], random_state=_SEED)


def _fitted(x: Array, right: NDArray[np.bool_]) -> LogisticRegression | float:
    """A model, or the share right where all answers are right or all are wrong."""
    return LogisticRegression(C=10.0, max_iter=300).fit(x, right) if 0 < right.sum() < len(right) else float(right.mean())


def _unseen(x: Array, right: NDArray[np.bool_]) -> Array:
    if min(right.sum(), len(right) - right.sum()) < _FOLDS:
        return np.full(len(right), float(right.mean()))
    chances = cross_val_predict(LogisticRegression(C=10.0, max_iter=300), x, right, cv=_FOLDS, method="predict_proba")
    return np.asarray(chances)[:, 1]


def _chance(model: LogisticRegression | float, x: Array) -> Array:
    return np.full(len(x), model) if isinstance(model, float) else np.asarray(model.predict_proba(x))[:, 1]
