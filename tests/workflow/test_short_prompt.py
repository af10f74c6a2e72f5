"""The prompt of small policies."""

from podium.types import Brief, Card, ask
from podium.workflow.short_prompt import short_messages, shown_rates
from podium.workflow.syntax import WorkflowSyntax

CARDS = (
    Card(name="a", skills=(("plan", 0.31), ("compute", 0.994))),
    Card(name="b", skills=(("plan", 0.9), ("compute", 0.42))),
    Card(name="c"),
)


def text(syntax: WorkflowSyntax, **more: float) -> str:
    return short_messages(Brief(question=ask("6 times 7?"), cards=CARDS, **more), syntax)[0].content  # type: ignore[arg-type]


def test_without_cards_workers_are_numbers() -> None:
    assert text(WorkflowSyntax()) == "6 times 7?\nModels: 0 1 2"


def test_with_cards_each_skill_has_everybodys_rate_the_best_first() -> None:
    assert text(WorkflowSyntax(cards=True)) == "Models: 3\nplan=1:90;0:30;compute=0:99;1:40;\n6 times 7?"


def test_of_equal_rates_the_first_stands_first() -> None:
    cards = tuple(Card(name="a", skills=(("plan", rate),)) for rate in (0.5, 0.7, 0.7, 0.69))
    assert shown_rates(cards) == {"plan": "1:70;2:70;3:70;0:50;"}


def test_rates_are_shown_in_steps_of_five_points() -> None:
    cards = tuple(Card(name="a", skills=(("plan", rate),)) for rate in (0.0, 0.02, 0.03, 0.969, 1.0))
    assert shown_rates(cards) == {"plan": "4:99;3:95;2:05;1:00;0:00;"}


def test_workers_without_skills_are_counted() -> None:
    brief = Brief(question=ask("6 times 7?"), cards=CARDS[2:])
    assert short_messages(brief, WorkflowSyntax(cards=True))[0].content == "Models: 1\n6 times 7?"


def test_a_budget_is_a_line_of_its_own() -> None:
    assert text(WorkflowSyntax(), budget_usd=0.0003) == "6 times 7?\nModels: 0 1 2\nBudget: $0.0003"
