"""What keeps a run from deciding before the evidence is in: schedules over the run.

1. *Forced prefixes*. A plan of three steps pays only once all three workers are right, so while workers are still random every
   long plan looks bad and plans shrink to one step. Therefore most groups of an early iteration begin with a prefix (the first
   line, which names the plan) drawn from the *untrained* policy: the whole group shares it, so its rollouts are compared
   under the same plan, and as the policy did not write it, it carries no gradient. Who is good at what is learned first,
   under every sensible plan; then forced prefixes fade and the policy chooses plans among workers it can already conduct.
   (Exploring starts: Sutton and Barto, Reinforcement Learning, 2nd edition, section 5.3, applied to the first line of a text.)
2. *Drawn workers* in a share of every group's rollouts: Thompson sampling over who was right in which place
   (:mod:`podium.training.worker_draws`).
3. *Entropy of the worker choice*, and of nothing else, annealed to zero (:func:`podium.training.grpo.choice_entropy`).
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from podium.errors import WorkflowError
from podium.training.collect import Task, Writer
from podium.training.schedule import Schedule
from podium.types import Brief
from podium.workflow.parse import parse
from podium.workflow.syntax import WorkflowSyntax


@dataclass(frozen=True, slots=True, kw_only=True)
class Exploration:
    """What is explored, and for how long.

    Example: ``Exploration(forced_prefix=Schedule(start=1.0)).forced_prefix.at(0.0) == 1.0``.
    """

    entropy: Schedule = Schedule()
    """Coefficient of the worker-choice entropy, in units of normalised advantage per nat."""
    settled_from: float = 1.0
    """From which share of right rollouts a kind of question gets less
    (:meth:`podium.training.sampler.KindCurriculum.entropy_weight`)."""
    forced_prefix: Schedule = Schedule()
    """Share of the groups that begin with a forced prefix."""
    longest_of: int = 1
    """Of so many drafts the one with most steps is taken, where a kind of question mostly fails (as for ``settled_from``). A long
    plan has more workers to find, so it needs to be tried more often than one draft in so many would."""
    drawn_workers: Schedule = Schedule()
    """Share of a group's rollouts whose workers are drawn (:class:`podium.training.worker_draws.WorkerDraws`)."""
    draft_sft_weight: Schedule = Schedule()
    """Weight of keeping drafts of the untrained policy likely, as supervised fine-tuning would. Without it the policy forgets
    what it does not write for a while.

    Best for longer than the forced prefixes: plans that the policy then chooses itself are held near the untrained policy's for
    a while, so that each kind of question finds its own. Otherwise the first kind to find its plan draws the others along before
    their own rewards are heard.
    """
    draft_access: bool = False
    """Whether the drafts keep likely what steps see, too.

    "All" is right for most steps, so without it a small policy writes it for every step within a few iterations, long before a
    step for which it is wrong can say so. Meant for starts that leave access open only where it is an open question.
    """
    draft_round: int = 1
    """What is kept likely: 1, the drafts; 2, for a run that teaches second rounds, what hindsight calls for in them
    (:mod:`podium.training.hindsight`), and beside it the first rounds. These are then written by the policy as it was when the
    run began: first and second rounds are read by the same weights, so what is not held in place drifts."""


def with_drafts(
    tasks: Sequence[Task],
    untrained: Writer,
    share: float,
    rng: random.Random,
    *,
    longest_of: Sequence[int] = (),
    syntax: WorkflowSyntax = WorkflowSyntax(),
) -> list[Task]:
    """The tasks with a draft of ``untrained`` each; ``share`` of them begin with its first line, newline included.

    A draft is the one with most steps of as many as ``longest_of`` says for its task; () writes one for each.
    """
    written = untrained.write_many([task.brief for task in tasks], max(longest_of, default=1))
    drafts = [
        max(row[: longest_of[index] if longest_of else 1], key=lambda each: _steps(each.text, tasks[index].brief, syntax)).text
        for index, row in enumerate(written)
    ]
    return [
        replace(task, draft=draft, forced_prefix=first_line(draft) if rng.random() < share else "")
        for task, draft in zip(tasks, drafts, strict=True)
    ]


def _steps(text: str, brief: Brief, syntax: WorkflowSyntax) -> int:
    """How many steps ``text`` plans; 0 where it is no workflow."""
    try:
        workflow = parse(text, brief, syntax)
    except WorkflowError:
        return 0
    return 0 if workflow is None else len(workflow.steps)


def first_line(text: str) -> str:
    """``text`` up to and with its first newline; "" where it has none, which forces nothing."""
    line, newline, _ = text.partition("\n")
    return line + newline if newline else ""
