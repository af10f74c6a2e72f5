"""How a policy starts in the world for steps with a condition: sensible but uninformed workflows.

A line that names the kind of question and a plan, then the lists. One worker answers, or two do and a third one decides, each on
its own. All of a plan's workers are different, because a second opinion is another's; else workers are drawn uniformly, and so
are conditions, of those that can come about. Nothing says whose agreement can be trusted, nor whether it pays to stop.
"""

import random

from podium.conditions import ALWAYS, agree, read_condition
from podium.gym.stopping.world import WORKERS
from podium.training.warm_start import Demonstration
from podium.types import Brief, Problem, Step, Workflow
from podium.workflow.parse import format_workflow
from podium.workflow.syntax import WorkflowSyntax

NAMES = {"story": "Story", "price": "Money", "choice": "Multiple choice"}
"""How the first line names a kind."""
PLANS = (("answer",), ("first", "second", "decide"))
"""Plans, the same for every kind. Who answers alone is another choice than who answers first, so it has a name of its own."""
WORDINGS = {
    "answer": "Answer the question.",
    "first": "Answer first.",
    "second": "Answer on your own.",
    "decide": "Decide on your own.",
}
"""How each part is asked for; one way is enough where the wording is not to be learned."""
CONDITIONS = (ALWAYS, agree(2))
"""What may stand in the fourth list."""
_PARTS = ("answer", "first", "decide", *(f"second after {first}" for first in range(len(WORKERS))))
_PAIRS = tuple((kind, part) for kind in NAMES for part in _PARTS)
TOPICS = tuple((f"{kind}, {part}", part) for kind, part in _PAIRS)
"""What a step can be about: a part of the work, and this part on this kind of question.

Who is best depends on both together, so both together are a feature of their own (:mod:`podium.recipes.gym_start`). Whom to ask
second depends on who was asked first, so for that part who was is a feature as well."""


def written_for(problem: Problem, brief: Brief, rng: random.Random, syntax: WorkflowSyntax) -> Demonstration:
    """A text to imitate for ``problem``; its target is never looked at."""
    kind, plan = problem.kind, rng.choice(PLANS)
    workers = rng.sample(range(len(brief.cards)), len(plan))
    steps = []
    for index, part in enumerate(plan):
        access = tuple(range(index))
        fitting = [text for text in CONDITIONS if not read_condition(text).misfit(len(access))]
        steps.append(
            Step(
                worker=workers[index],
                subtask=WORDINGS[part],
                access=access,
                condition=rng.choice(fitting) if syntax.conditions else ALWAYS,
            )
        )
    lists = format_workflow(Workflow(steps=tuple(steps)), syntax)
    about = [f"second after {workers[0]}" if part == "second" else part for part in plan]
    return Demonstration(f"{NAMES[kind]}: {', '.join(plan)}.\n{lists}", tuple(_PAIRS.index((kind, part)) for part in about))
