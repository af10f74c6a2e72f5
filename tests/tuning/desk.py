"""A small office for tests of tuning: three clerks, each good at one trade, and questions whose answers are known."""

import random
import re
from collections.abc import Callable, Sequence

from podium.errors import WorkerUnavailable
from podium.types import Call, Card, Problem, Usage, Verdict
from podium.workers.pool import Member, WorkerPool
from podium.workers.scripted import Scripted

TRADES = ("sum", "reverse")


def problem(kind: str, number: int) -> Problem:
    rng = random.Random(f"{kind} {number}")
    if kind == "sum":
        a, b = rng.randrange(10, 500), number
        return Problem(question=f"How much is {a} plus {b} in all?", target=str(a + b), kind=kind, source="desk")
    word = "".join(rng.choices("abcdefghij", k=5)) + f"x{number}"
    return Problem(question=f"Spell the word {word} backwards, please.", target=word[::-1], kind=kind, source="desk")


def problems(count: int, kinds: Sequence[str] = TRADES) -> list[Problem]:
    return [problem(kind, number) for number in range(count // len(kinds)) for kind in kinds]


async def exact(problem: Problem, answer: str) -> Verdict:
    return Verdict(correct=answer == problem.target, extracted=answer)


def kind_of(asked: Problem) -> str:
    return asked.kind


def clerk(trade: str) -> Callable[[Call], str]:
    """Answers every question of its trade, wherever in the call it stands; else it says nothing useful."""

    def answer(call: Call) -> str:
        told = [*call.question, *(message for step in call.visible for message in step.question)]
        text = " ".join([*(message.content for message in told), call.subtask])
        if trade == "sum" and (found := re.search(r"How much is (\d+) plus (\d+)", text)):
            return str(int(found[1]) + int(found[2]))
        if trade == "reverse" and (found := re.search(r"the word (\w+) backwards", text)):
            return found[1][::-1]
        return "I do not know."

    return answer


def failing(call: Call) -> str:
    raise WorkerUnavailable("503 closed for today")


def member(name: str, answer: Callable[[Call], str], usd: float | None = 0.001) -> Member:
    worker = Scripted(answer, usage=Usage(prompt_tokens=10, completion_tokens=2, cost_usd=usd))
    return Member(worker=worker, card=Card(name=name, prompt_usd=usd and 1e-5, completion_usd=usd and 1e-5))


def pool(*names: str, usd: float | None = 0.001) -> WorkerPool:
    """Clerks called ``sum``, ``reverse``, ``idle``, ``failing``; a number behind a name makes another of the sort."""
    answers = {"sum": clerk("sum"), "reverse": clerk("reverse"), "idle": clerk(""), "failing": failing}
    return WorkerPool([member(name, answers[name.rstrip("0123456789")], usd) for name in names or ("idle", "sum", "reverse")])


SUMS, WORDS = "Sums to the model called sum.", "Words to the model called reverse."
GOOD = f"{SUMS} {WORDS}"


def is_conducting(call: Call) -> bool:
    return bool(call.question) and call.question[0].content.startswith("You conduct a team")


def is_reflecting(call: Call) -> bool:
    return bool(call.question) and call.question[0].content.startswith("A conductor writes workflows")


def boss(
    reflect: Callable[[Call], str] = lambda call: f"Here it is:\n```text\n{GOOD}\n```", proposal: str = ""
) -> Callable[[Call], str]:
    """Conducts well with good advice and badly without, reflects as told, and knows no answer itself."""

    def answer(call: Call) -> str:
        if is_reflecting(call):
            return reflect(call)
        if not is_conducting(call):
            return "I do not know."
        system, question = call.question[0].content, call.question[1].content
        if "Below are tasks of one kind" in question:
            return proposal
        asked, models = question.split("AVAILABLE LANGUAGE MODELS")
        name, known_by = ("sum", SUMS) if "How much" in asked else ("reverse", WORDS)
        name = name if known_by in system else "idle"
        known = re.search(rf"Model (\d+): {name};", models)  # without cards it knows nobody
        return f'model_id = [{known[1] if known else 0}]\nsubtasks = ["Do it."]\naccess_list = [[]]'

    return answer


def office(answer: Callable[[Call], str], *more: str) -> WorkerPool:
    return WorkerPool([*pool("idle", "sum", "reverse", *more), member("boss", answer)])
