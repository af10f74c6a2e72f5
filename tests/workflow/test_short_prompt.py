"""The prompt of small policies."""

from podium.types import Brief, Card, ask
from podium.workflow.short_prompt import short_messages
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


def test_with_cards_each_skill_names_who_is_best_at_it() -> None:
    assert text(WorkflowSyntax(cards=True)) == "6 times 7?\nModels: 3\nplan 1 90\ncompute 0 99"


def test_a_budget_is_a_line_of_its_own() -> None:
    assert text(WorkflowSyntax(), budget_usd=0.0003) == "6 times 7?\nModels: 0 1 2\nBudget: $0.0003"
