"""Brief -> the short prompt of a small policy, which learned the language from examples and needs no teaching.

The same facts as :mod:`podium.workflow.prompt` in a fraction of the tokens. A pure function: the same brief gives the same text.
"""

from collections.abc import Sequence

from podium.types import Brief, Card, Message
from podium.workflow.parse import format_workflow
from podium.workflow.syntax import WorkflowSyntax

STEP = 5
"""Points between the rates that are told apart."""


def short_messages(brief: Brief, syntax: WorkflowSyntax = WorkflowSyntax()) -> tuple[Message, ...]:
    """One user message: the conversation, the numbered models, and from round 2 on the workflow and its final response.

    In a language with cards the models come before the conversation.

    Example: ``short_messages(Brief(question=ask("6 times 7?"), cards=cards))[0].content`` is ``"6 times 7?\\nModels: 0 1"``.
    """
    question = "\n".join(message.content for message in brief.question)
    lines = [question, _models(brief.cards, syntax)]
    if syntax.cards:
        lines.reverse()  # a small model reads a question best where it answers, and cards may be long
    if brief.budget_usd is not None:
        lines.append(f"Budget: ${brief.budget_usd:.4f}")
    if brief.previous_rounds:
        last = brief.previous_rounds[-1]
        lines.append(format_workflow(last.workflow, syntax, round_number=len(brief.previous_rounds)))
        lines.append(f"Final response: {last.answer}")
    return (Message(role="user", content="\n".join(lines)),)


def _models(cards: tuple[Card, ...], syntax: WorkflowSyntax) -> str:
    if not syntax.cards:
        return "Models: " + " ".join(str(index) for index in range(len(cards)))
    known = "".join(f"{skill}={rates}" for skill, rates in shown_rates(cards).items())
    return f"Models: {len(cards)}\n{known}" if known else f"Models: {len(cards)}"


def shown_rates(cards: Sequence[Card]) -> dict[str, str]:
    """Skill -> everybody's rates at it, the best first by the exact rate, of equals who stands first: ``{"plan": "1:90;0:30;"}``.

    By skill and not by model, and in order, so that whoever looks for the best finds them right behind the skill.
    """
    known: dict[str, list[tuple[float, int]]] = {}
    for index, card in enumerate(cards):
        for skill, rate in card.skills:
            known.setdefault(skill, []).append((-rate, index))
    return {skill: "".join(f"{index}:{_percent(-less):02d};" for less, index in sorted(each)) for skill, each in known.items()}


def _percent(rate: float) -> int:
    """``rate`` in steps of five points, which is what measured rates are good for; two digits, so 99 for all of them."""
    return min(99, STEP * round(100 * rate / STEP))
