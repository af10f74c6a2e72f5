"""Questions put together of two, and what they are to be read as: what a start policy reads besides whole questions.

A small network that has seen a few dozen templates of a kind is sure of itself about a text of none of them, and often wrong.
So it is shown such texts as well: some words in a row of one question, then some of another. What they are about is said by a
logistic regression over words and pairs of words, which weighs single signs and so reads new templates better (docs/log.md).
"""

import random
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from podium.errors import ConfigError
from podium.training.word_dropout import drop_words, mix_words
from podium.types import Problem

_SIGNS = r"[^\W\d_]+|[^\w\s]"
"""Words without digits, and single signs: numbers tell nothing of a kind."""
_TEMPLATES = 2
"""Signs that fewer templates share are not learned from: a new template has others."""


class MixedQuestions:
    """Draws them. Example: ``MixedQuestions(problems, rng, template=form, word_dropout_max=0.8).drawn(rng).question``.

    The classifier learns from every problem's question, whole and once more with at most a share of ``word_dropout_max`` of its
    words left out. ``template`` says what a question was made from. Raises :class:`ConfigError` where all are of one kind, and
    where no two templates have a word in common.
    """

    def __init__(
        self,
        problems: Sequence[Problem],
        rng: random.Random,
        *,
        template: Callable[[Problem], Hashable],
        word_dropout_max: float,
    ) -> None:
        if len({problem.kind for problem in problems}) < 2:
            raise ConfigError("questions can be mixed where there are two kinds or more; leave WarmStart.mixed at 0")
        self._problems = problems
        words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, token_pattern=_SIGNS)
        seen: defaultdict[str, set[Hashable]] = defaultdict(set)
        signs = words.build_analyzer()
        for problem in problems:
            for sign in set(signs(problem.question)):
                seen[sign].add(template(problem))
        shared = sorted(sign for sign, templates in seen.items() if len(templates) >= _TEMPLATES)
        if not shared:
            raise ConfigError("no word stands in two templates; leave WarmStart.mixed at 0, or mend WarmStart.template")
        words.set_params(vocabulary=shared)
        texts = [problem.question for problem in problems]
        texts += [drop_words(text, rng, word_dropout_max) for text in texts]
        self._reader = make_pipeline(words, LogisticRegression(C=30, max_iter=500))
        self._reader.fit(texts, [problem.kind for problem in problems] * 2)

    def drawn(self, rng: random.Random) -> Problem:
        """Two questions in one. Target and kind are those of the first, and say nothing of the mixture."""
        problem, other = rng.choices(self._problems, k=2)
        return replace(problem, question=mix_words(problem.question, other.question, rng))

    def read_as(self, shown: str, rng: random.Random) -> str:
        """A kind, drawn by the classifier's probabilities: imitated often enough, the policy is as unsure as they are."""
        [chances] = self._reader.predict_proba([shown])
        return str(rng.choices(self._reader.classes_, chances)[0])
