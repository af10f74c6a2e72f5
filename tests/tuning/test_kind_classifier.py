"""The kind of a question: a probability for each kind, and a word of warning where a question is like none that was seen."""

import pytest

from podium.errors import ConfigError
from podium.policies import kinds
from podium.policies.kinds import KindClassifier
from tests.tuning.desk import problem, problems

ODD = ("Heat melts wax.", "A tuna swims.", "My sofa broke!", "Rust never sleeps", "Go left")
"""Questions that are like no others."""


@pytest.fixture(scope="module")
def classifier() -> KindClassifier:
    known = problems(120)
    return KindClassifier([one.question for one in known], [one.kind for one in known])


@pytest.mark.parametrize("kind", ["sum", "reverse"])
def test_new_questions_of_a_known_kind(classifier: KindClassifier, kind: str) -> None:
    for number in range(1000, 1020):
        question = problem(kind, number).question
        posterior = classifier.posterior(question)
        assert posterior[kind] > 0.9
        assert sum(posterior.values()) == pytest.approx(1)
        assert not classifier.is_unlike(question)


@pytest.mark.parametrize("question", ["Who painted Guernica?", "", "   ", "🦉", "x" * 10_000, "谁画了这幅画"])
def test_what_is_unlike_all_that_was_seen(classifier: KindClassifier, question: str) -> None:
    assert classifier.is_unlike(question)
    assert sum(classifier.posterior(question).values()) == pytest.approx(1)


def test_what_is_no_farther_than_own_questions_are_is_not_unlike() -> None:
    mixed = [*problems(60), *(problem("sum", 0).__class__(question=text, target="", kind="sum", source="desk") for text in ODD)]
    alone = KindClassifier([one.question for one in mixed], [one.kind for one in mixed])
    assert not alone.is_unlike("Who painted Guernica?"), "some of its own questions are as far from all others"


def test_the_sharper_the_surer(classifier: KindClassifier) -> None:
    known = problems(120)
    sharp = KindClassifier([one.question for one in known], [one.kind for one in known], sharpness=1000.0)
    question = problem("sum", 1000).question
    assert 1 > sharp.posterior(question)["sum"] > classifier.posterior(question)["sum"]


def test_between_two_kinds_it_is_in_doubt(classifier: KindClassifier) -> None:
    both = classifier.posterior(f"{problem('sum', 1000).question} {problem('reverse', 1000).question}")
    assert max(both.values()) < max(classifier.posterior(problem("sum", 1000).question).values())


def test_one_kind_is_certain_and_one_question_is_enough() -> None:
    alone = KindClassifier(["6 times 7?"], ["word"])
    assert alone.posterior("anything") == {"word": 1.0}
    assert not alone.is_unlike("anything")


def test_kinds_that_differ_in_a_nul_at_their_end_are_two() -> None:
    given = problems(40)
    kinds = [{"sum": "one", "reverse": "one\0"}[one.kind] for one in given]
    told = KindClassifier([one.question for one in given], kinds)
    assert told.posterior(given[0].question).keys() == {"one", "one\0"}
    assert [told.likeliest(one.question) for one in given] == kinds


@pytest.mark.parametrize(("questions", "given"), [([], []), (["a"], []), (["", " "], ["x", "y"])])
def test_nothing_to_learn_from(questions: list[str], given: list[str]) -> None:
    with pytest.raises(ConfigError):
        KindClassifier(questions, given)


def test_how_near_is_the_same_a_few_rows_at_a_time(classifier: KindClassifier, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "_ROWS", 7)
    assert sorted(classifier._nearest()) == pytest.approx(sorted(_whole(classifier)))


def _whole(classifier: KindClassifier) -> list[float]:
    near = (classifier._known @ classifier._known.T).toarray()
    return [max(value for other, value in enumerate(row) if other != number) for number, row in enumerate(near)]
