"""What an evaluation would take, before anything is asked: calls, of them those that teach, and dollars.

Of a policy that writes its own workflows only the longest is known. Dollars are reckoned as for tuning: from the cards' prices,
the length of the questions, and short or long replies.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from podium.policies.chosen import CONSTANTS, WORDED
from podium.policies.learned import is_learned
from podium.policies.spec import parse_policy
from podium.pools.open import open_pool
from podium.pools.opened import OpenPool
from podium.studies.arms import make_arm
from podium.studies.spec import read_study
from podium.types import Problem

CLASSIFIED = "router:classified"
MEASURED = 60
"""Training problems that the compared arm is asked, to know what ``constant:cheap`` may cost."""
SHORT, LONG = 100, 1_000
"""Tokens of a reply: a short answer, and a worked solution."""
READ = 2
"""Responses that a step reads along with the question, about."""
LONGEST = 5
"""Steps of the longest workflow that is searched for, or that a policy may write unless it says otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What it would take. Example: ``estimated(names, pool, problems, lessons).as_text()``."""

    arms: int
    problems: int
    calls_at_most: int
    """Calls of workers, and of who writes the workflows, to answer the problems."""
    training_calls: int
    """Calls that teach the arms that learn, about."""
    least_usd: float | None
    """Dollars of both with short replies; None: a price is unknown."""
    most_usd: float | None
    """Dollars with long replies."""
    is_simulated: bool

    def as_text(self) -> str:
        """For a person."""
        usd = "dollars unknown, because a worker has no price"
        if self.least_usd is not None and self.most_usd is not None:
            usd = f"${self.least_usd:.2f} with short replies to ${self.most_usd:.2f} with long ones"
        simulated = " (simulated: the built-in workers cost nothing)" if self.is_simulated else ""
        taught = f" and about {self.training_calls:,} to teach those that learn" if self.training_calls else ""
        return f"{self.arms} arms, {self.problems} problems: at most {self.calls_at_most:,} calls{taught}; {usd}{simulated}"


def estimated(
    names: Sequence[str],
    pool: OpenPool,
    problems: Sequence[Problem],
    lessons: Sequence[Problem],
    *,
    repeats: int = 1,
    rounds: int = 1,
) -> Expected:
    """Nothing is asked. Raises :class:`ConfigError` for an arm that can not be made."""
    learners = [name for name in names if is_learned(name)]
    calls = repeats * len(problems) * sum(_calls(name, pool, rounds) for name in names)
    training = 0
    if learners and lessons:
        training = calls_of_teaching(learners, len(pool.workers), len(lessons))
    question = fmean(len(problem.question) for problem in problems) / 4 if problems else 0.0

    def dollars(reply: int) -> float | None:
        prices = [(card.prompt_usd, card.completion_usd) for card in pool.workers.cards]
        known = [(prompt, completion) for prompt, completion in prices if prompt is not None and completion is not None]
        if len(known) < len(prices):
            return None
        return (calls + training) * fmean(p * (question + READ * reply) + c * reply for p, c in known)

    return Expected(
        arms=len(names),
        problems=len(problems),
        calls_at_most=calls,
        training_calls=training,
        least_usd=dollars(SHORT),
        most_usd=dollars(LONG),
        is_simulated=pool.is_simulated,
    )


def calls_a_problem(names: Sequence[str], workers: int) -> int:
    """Calls that routers among ``names`` learn from, for each problem: the workers alone, and the catalogue where it is one's."""
    return workers + (5 + 5 + workers + 1 if CLASSIFIED in names else 0)


def calls_of_teaching(names: Sequence[str], workers: int, problems: int) -> int:
    """About how many calls teaching ``names`` takes: what routers learn from, and as many for each choice."""
    once = problems * calls_a_problem(names, workers)
    wordings = sum(name in names or CLASSIFIED in names for name in WORDED)
    searched = any(name in CONSTANTS for name in names)
    return once * (1 + wordings + searched) + (MEASURED if "constant:cheap" in names else 0)


async def estimated_study(path: Path) -> Expected:
    """The same of the study in the file at ``path``. Raises :class:`ConfigError`."""
    study = read_study(path)
    problems = study.problems.problems()
    lessons = [] if study.learning is None else study.learning.problems()
    async with open_pool(study.workers_from) as pool:
        names = [name for name in study.for_workers(pool.workers.names).arms if name != "oracle"]
        return estimated(names, pool, problems, lessons, repeats=study.repeats)


def _calls(name: str, pool: OpenPool, rounds: int) -> int:
    """The most calls that an arm makes for one question."""
    kind, _, method = name.partition(":")
    everybody = len(pool.workers)
    if kind in ("worker", "context"):
        return 1
    if is_learned(name):
        if kind == "router" and not method.startswith(("rule", "classified")):
            return 1
        return max(LONGEST, everybody + 1)
    arm = make_arm(name, pool)  # raises for what there is not, before anything is paid
    fixed = {"solo": 1, "reflection": 5, "consensus": 5, "mixture": everybody + 1, "vote": everybody, "stop": everybody}
    writing = 2 if kind == "chat" else 0
    steps = fixed.get(kind, getattr(arm, "max_steps", LONGEST))
    return (steps + writing) * (parse_policy(name).rounds or rounds)
