"""Answers that somebody has graded already: right is what was graded right when the outputs were recorded.

For recordings of tasks whose own grader is not here. Nothing new can be judged by it: an answer that nobody gave then is wrong.
"""

import json

from podium.errors import VerifierError
from podium.types import Problem, Verdict


class GradedVerifier:
    """Compares with the answers in ``problem.target``, a JSON list. Example: of ``'["Answer: 42"]'`` only that text is right."""

    async def __call__(self, problem: Problem, answer: str) -> Verdict:
        """Judge ``answer``. Raises :class:`VerifierError` where the target is no list."""
        try:
            accepted = json.loads(problem.target)
        except ValueError as error:
            raise VerifierError(f"the target of a graded problem is a JSON list of right answers: {error}") from error
        if not isinstance(accepted, list):
            raise VerifierError("the target of a graded problem is a JSON list of right answers")
        text = answer.strip()
        correct = text in accepted
        return Verdict(correct=correct, extracted=text or None, why="" if correct else "it was not graded right")
