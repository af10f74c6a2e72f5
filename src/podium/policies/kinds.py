"""Which kind of question is this? Learned from questions whose kind is known; the answer is a probability for each kind."""

from collections.abc import Mapping, Sequence

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import FeatureUnion, make_union

from podium.errors import ConfigError

_FAR, _FARTHEST = 0.35, 0.02
"""A question is unlike all others where its nearest one is less than this share as near as theirs usually are, and less near than
theirs is for all but this share of them."""

_ROWS = 500


def text_features() -> FeatureUnion:
    """What a text is told by: its character n-grams and its words, weighted by how rare they are."""
    return make_union(
        TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True, max_features=30_000),
        TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, max_features=10_000, tokenizer=str.split, token_pattern=None),
    )


class KindClassifier:
    """A logistic regression over words and character n-grams. Example: ``KindClassifier(texts, kinds).posterior("6 times 7?")``.

    ``sharpness``: the inverse of how strongly weights are held back; the larger, the surer its probabilities.

    Raises :class:`ConfigError` without a question, or where there is not one kind for each.
    """

    def __init__(self, questions: Sequence[str], kinds: Sequence[str], *, sharpness: float = 30.0) -> None:
        if len(questions) != len(kinds) or not any(question.strip() for question in questions):
            raise ConfigError("kinds are learned from questions, each with its kind")
        self.kinds = tuple(sorted(set(kinds)))
        self._features = text_features()
        self._known = self._features.fit_transform(questions)
        self._model = LogisticRegression(C=sharpness, max_iter=500) if len(self.kinds) > 1 else None
        if self._model is not None:
            self._model.fit(self._known, [self.kinds.index(kind) for kind in kinds])  # texts would lose a NUL at their end
        near = self._nearest() if len(questions) > 1 else [0.0]
        self._far = min(_FAR * float(np.median(near)), float(np.quantile(near, _FARTHEST)))

    def _nearest(self) -> list[float]:
        """How near each question's nearest other one is; a few rows at a time, so that memory does not grow with the square."""
        found: list[float] = []
        for start in range(0, self._known.shape[0], _ROWS):
            near = (self._known[start : start + _ROWS] @ self._known.T).toarray()
            for row in range(len(near)):
                near[row, start + row] = -1.0
            found += near.max(axis=1).tolist()
        return found

    def posterior(self, question: str) -> Mapping[str, float]:
        """Kind -> probability; they add up to 1."""
        if self._model is None:
            return {self.kinds[0]: 1.0}
        chances = self._model.predict_proba(self._features.transform([question]))[0]
        return dict(zip(self.kinds, chances.tolist(), strict=True))

    def likeliest(self, question: str) -> str:
        """The most probable kind."""
        chances = self.posterior(question)
        return max(chances, key=lambda kind: chances[kind])

    def is_unlike(self, question: str) -> bool:
        """Whether the question is far from everything learned from, so that the posterior means little."""
        near = (self._known @ self._features.transform([question]).T).toarray()
        return float(near.max()) < self._far
