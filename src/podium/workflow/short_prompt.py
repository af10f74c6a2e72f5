"""Brief -> the short prompt of a small policy, which learned the language from examples and needs no teaching.

The same facts as :mod:`podium.workflow.prompt` in a fraction of the tokens. A pure function: the same brief gives the same text.
"""

from podium.types import Brief, Card, Message
from podium.workflow.parse import format_workflow
from podium.workflow.syntax import WorkflowSyntax


def short_messages(brief: Brief, syntax: WorkflowSyntax = WorkflowSyntax()) -> tuple[Message, ...]:
    """One user message: the conversation, the numbered models, and from round 2 on the workflow and its final response.

    Example: ``short_messages(Brief(question=ask("6 times 7?"), cards=cards))[0].content`` is ``"6 times 7?\\nModels: 0 1"``.
    """
    question = "\n".join(message.content for message in brief.question)
    lines = [question, _models(brief.cards, syntax)]
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
    # By skill and not by model: who does this best, and how often right? A small policy finds what stands beside a word where
    # it would have to find the largest of many numbers, and every digit is a token.
    best: dict[str, tuple[float, int]] = {}
    for index, card in enumerate(cards):
        for skill, rate in card.skills:
            if skill not in best or rate > best[skill][0]:
                best[skill] = (rate, index)
    known = [f"{skill} {index} {min(99, round(100 * rate)):02d}" for skill, (rate, index) in best.items()]
    return "\n".join([f"Models: {len(cards)}", *known])
