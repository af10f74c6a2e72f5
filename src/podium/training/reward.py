"""What a turn earns: 0 for no workflow, 1/2 for a wrong answer, 1 for a right one (paper section 3.2).

Nothing where the world failed: that is no lesson.
"""

from podium.errors import Blame
from podium.types import Failure, Verdict

WRONG = 0.5
"""What a valid workflow with a wrong answer earns."""


def reward(failure: Failure | None, verdict: Verdict | None) -> float | None:
    """0, 0.5, 1 or None.

    A policy's failure is a lesson; a world's failure (a timeout, a broken grader) is void: it says nothing about the policy.
    Example: ``reward(None, Verdict(correct=True, extracted="42")) == 1.0``.
    """
    if failure is not None:
        return 0.0 if failure.blame is Blame.POLICY else None
    return None if verdict is None else 1.0 if verdict.correct else WRONG


def priced(earned: float | None, cost_usd: float | None, *, counts: bool) -> float | None:
    """What was earned; void where dollars count and it is not known how many it took, whatever the answer was worth.

    Right, wrong and failed alike: were only right answers void, asking a worker without a price would look like a mistake.
    """
    return None if counts and cost_usd is None else earned


def less_cost(earned: float | None, cost_usd: float | None, *, per_usd: float) -> float | None:
    """The reward less what the answer cost: ``correct - lambda * dollars``. An unknown price makes the turn void, never free."""
    if earned is None or per_usd == 0:
        return earned
    return None if cost_usd is None else earned - per_usd * cost_usd


def less_steps(earned: float | None, steps: int, *, per_step: float) -> float | None:
    """The reward less what the steps took: their time, and what they may add to a confusion. Dollars do not say it: the worker
    that is asked to look over an answer for nothing may be the cheapest of all.
    """
    return None if earned is None else earned - per_step * steps


def within(earned: float | None, cost_usd: float | None, *, budget_usd: float | None) -> float | None:
    """The reward of a right answer where the prompt named a budget: beyond it, no more than a wrong answer earns."""
    if earned is None or budget_usd is None:
        return earned
    return None if cost_usd is None else earned if cost_usd <= budget_usd else min(earned, WRONG)
