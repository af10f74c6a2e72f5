"""Right or wrong beside an answer, for questions of the pool's own problems, whose answers are known."""

from nicegui.element import Element

from podium.errors import PodiumError
from podium.page.parts import text
from podium.page.shown import line
from podium.page.site import Playground
from podium.types import Problem, Verdict


def known_problem(playground: Playground | None, question: str) -> Problem | None:
    """The problem that ``question`` is; None where nobody knows its answer."""
    if playground is None:
        return None
    wanted = question.strip()
    return next((problem for problem in playground.problems if problem.question.strip() == wanted), None)


async def judged(playground: Playground | None, question: str, answer: str | None) -> Verdict | str | None:
    """The verdict on ``answer``; why it could not be had, in words; None where nobody knows the answer."""
    problem = known_problem(playground, question)
    if problem is None or playground is None or answer is None:
        return None
    try:
        return await playground.verifier(problem, answer)
    except PodiumError as error:  # the check broke: the answer is neither right nor wrong
        return f"Not judged: {line(str(error), 200)}"


def show_verdict(verdict: Verdict | str) -> Element:
    """The verdict in words and colour, where the caller stands."""
    if isinstance(verdict, str):
        return text(verdict, "p", "soft", role="status")
    if verdict.correct:
        return text("Right.", "p", "verdict good", role="status")
    return text(f"Wrong: {line(verdict.why, 200)}", "p", "verdict bad", role="status")
