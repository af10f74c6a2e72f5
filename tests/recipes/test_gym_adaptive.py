"""Pools known by their cards: what is on the cards, and the rule that only reads them."""

from podium.recipes.gym import skills
from podium.recipes.gym_adaptive import card_rule
from podium.types import Card

STORY = ("answer", "plan", "compute", "verify")


def _cards(*rates: tuple[float, float, float, float]) -> list[Card]:
    return [
        Card(name=f"worker {index}", skills=tuple((f"story {part}", rate) for part, rate in zip(STORY, each, strict=True)))
        for index, each in enumerate(rates)
    ]


def test_the_rule_takes_the_plan_whose_weakest_part_is_done_best() -> None:
    found = card_rule("story", _cards((0.5, 0.9, 0.4, 0.1), (0.6, 0.2, 0.8, 0.1)))
    assert [step.worker for step in found.steps] == [0, 1], "plan .9, compute .8: more than answering alone"


def test_of_equal_plans_the_rule_takes_the_shortest() -> None:
    found = card_rule("story", _cards((0.5, 0.9, 0.4, 0.5), (0.6, 0.2, 0.5, 0.6)))
    assert [step.worker for step in found.steps] == [1]


def test_a_part_is_measured_where_nobody_mends_it_afterwards() -> None:
    """Behind a good checker everybody computes well and reviews well, and a card says nothing."""
    measured = skills()
    for skill in ("story compute", "code review"):
        best, *_, worst = sorted((each[skill] for each in measured.values()), reverse=True)
        assert best > 0.9
        assert worst < best - 0.1, skill
