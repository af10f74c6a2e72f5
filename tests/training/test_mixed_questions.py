"""Questions put together of two: what they are made of, and what they are read as."""

import random
from dataclasses import replace

import pytest

from podium.errors import ConfigError
from podium.gym import World
from podium.recipes.gym_start import template_of
from podium.training.imitation import warm_started
from podium.training.mixed_questions import MixedQuestions
from podium.types import Problem
from podium.workflow.syntax import WorkflowSyntax
from tests.training.gym_runs import WARM_START


def _made_from(problem: Problem) -> str:
    """The word that stands for the template in these made-up questions."""
    return problem.question.split()[0]


def _problems() -> list[Problem]:
    """Sums say "together" in three templates, capitals "country" in three; each template has a first word of its own."""
    templates = {"ants": "sum", "bees": "sum", "cows": "sum", "dear": "capital", "each": "capital", "five": "capital"}
    said = {"sum": "together", "capital": "country"}
    return [
        Problem(question=f"{first} {said[kind]} {number}", target="1", kind=kind, source="test")
        for first, kind in templates.items()
        for number in range(10)
    ]


def test_a_mixture_has_the_words_of_two_questions_and_no_others() -> None:
    problems, rng = World().problems(n=60, seed=3), random.Random(0)
    words = {word for problem in problems for word in problem.question.split(" ")}
    known = {problem.question for problem in problems}
    mixed = MixedQuestions(problems, rng, template=template_of, word_dropout_max=0.5)
    drawn = [mixed.drawn(rng).question for _ in range(50)]
    assert all(set(text.split(" ")) <= words for text in drawn)
    assert sum(text not in known for text in drawn) > 30


def test_what_several_templates_share_is_trusted_and_what_one_alone_has_is_not() -> None:
    rng = random.Random(0)
    mixed = MixedQuestions(_problems(), rng, template=_made_from, word_dropout_max=0.5)

    def share(shown: str) -> float:
        return sum(mixed.read_as(shown, rng) == "sum" for _ in range(150)) / 150

    assert share("gnus together 12") > 0.9
    assert share("gnus country 12") < 0.1
    assert 0.3 < share("ants") < 0.7  # every question with ants was a sum, but ants stand in one template only
    assert 0.3 < share("together country") < 0.7


def test_without_a_word_in_two_templates_nothing_can_be_learned() -> None:
    with pytest.raises(ConfigError, match="no word stands in two templates"):
        MixedQuestions(_problems(), random.Random(0), template=lambda problem: 1, word_dropout_max=0.5)


def test_other_questions_are_mixed_with_the_recipes_own() -> None:
    own = World().problems(kinds=("choice", "code"), n=60, seed=7)
    other = [replace(problem, source="elsewhere") for problem in World().problems(kinds=("story",), n=60, seed=7)]
    asked: set[str] = set()

    def template(problem: Problem) -> object:
        asked.add(problem.source)
        return problem.kind if problem.source == "elsewhere" else template_of(problem)

    config = replace(WARM_START, problems=lambda: own, also_read=lambda: other, steps=1, reading=4, mixed=1.0, template=template)
    warm_started(config, WorkflowSyntax(access="binary"))
    assert asked == {"elsewhere", own[0].source}


def test_a_start_learns_from_mixtures() -> None:
    config = replace(
        WARM_START,
        problems=lambda: World().problems(kinds=("choice", "code"), n=60, seed=7),
        steps=2,
        reading=4,
        mixed=1.0,
        template=template_of,
    )
    losses: list[float] = []
    warm_started(config, WorkflowSyntax(access="binary"), on_step=lambda step, loss: losses.append(loss))
    assert len(losses) == 2
    with pytest.raises(ConfigError, match="two kinds"):
        warm_started(replace(config, problems=WARM_START.problems), WorkflowSyntax(access="binary"))
