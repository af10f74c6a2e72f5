"""Two answers to one question: how they differ, in words and figures.

Of one question nobody knows an accuracy; what is known is said.
"""

from dataclasses import dataclass

from podium.page.shown import line, price, took
from podium.types import Usage, Verdict
from podium.workflow.draw import counted

_NEAR = 0.005


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How one of the two went. Example: ``Outcome(model="podium", answer="42", seconds=1.3, usage=Usage(), steps=2)``."""

    model: str
    answer: str | None
    """None where there is none."""
    seconds: float
    usage: Usage
    steps: int
    verdict: Verdict | None = None
    """None where nobody knows the right answer."""


def compared(first: Outcome, second: Outcome) -> list[str]:
    """Sentences: the answers, the steps, the money, the time."""
    one, other = line(first.model, 40), line(second.model, 40)
    if one == other:
        one, other = f"{one} (left)", f"{other} (right)"
    return [
        _answers(one, first, other, second),
        f"{one} took {counted(first.steps, 'step')}, {other} {counted(second.steps, 'step')}.",
        _money(one, first, other, second),
        _time(one, first, other, second),
    ]


def _answers(one: str, first: Outcome, other: str, second: Outcome) -> str:
    if first.answer is None or second.answer is None:
        without = [name for name, each in ((one, first), (other, second)) if each.answer is None]
        return f"{' and '.join(without)} gave no answer."
    if first.verdict is not None and second.verdict is not None:
        if first.verdict.correct == second.verdict.correct:
            return f"Both are {'right' if first.verdict.correct else 'wrong'}."
        right, wrong = (one, other) if first.verdict.correct else (other, one)
        return f"{right} is right, {wrong} is wrong."
    same = " ".join(first.answer.split()) == " ".join(second.answer.split())
    words = "Both gave the same words" if same else "They gave different words"
    return f"{words}. Which is right is not known for this question."


def _money(one: str, first: Outcome, other: str, second: Outcome) -> str:
    a, b = first.usage.cost_usd, second.usage.cost_usd
    words = f"{one} cost {price(first.usage)}, {other} {price(second.usage)}"
    if a is None or b is None:
        return f"{words}: they can not be compared."
    return f"{words}{_times(one, a, other, b, 'as much')}."


def _time(one: str, first: Outcome, other: str, second: Outcome) -> str:
    words = f"{one} took {took(first.seconds)}, {other} {took(second.seconds)}"
    return f"{words}{_times(one, first.seconds, other, second.seconds, 'as long')}."


def _times(one: str, a: float, other: str, b: float, word: str) -> str:
    """Who needed how many times more. Example: ``": atlas 2.0 times as much"``. Beside nothing there is no number of times."""
    if a == b or abs(a - b) <= _NEAR * max(a, b):
        return ": no difference"
    more, times = (one, a / b if b else 0.0) if a > b else (other, b / a if a else 0.0)
    return f": {more} {times:.1f} times {word}" if times else ""
