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
from typing import TypeVar

from podium.errors import WorkflowError
from podium.training.collect import Task, Writer
from podium.training.rollout import RolloutGroup
from podium.training.schedule import Schedule
from podium.training.warm_start import KEPT
from podium.types import Brief, ask
from podium.workflow.parse import format_workflow, parse
from podium.workflow.syntax import WorkflowSyntax

_HINDSIGHTS = 16
"""Texts of either sort per iteration."""
_Any = TypeVar("_Any")


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
    misread: float = 0.0
    """Share of the forced prefixes that were drawn for another question of the iteration. So the policy sees what becomes of a
    question that is taken for one of another kind, and a second round learns to tell from the answer."""
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
    (:func:`hindsight`)."""


def with_drafts(
    tasks: Sequence[Task],
    untrained: Writer,
    share: float,
    rng: random.Random,
    *,
    misread: float = 0.0,
    longest_of: Sequence[int] = (),
    syntax: WorkflowSyntax = WorkflowSyntax(),
) -> list[Task]:
    """The tasks with a draft of ``untrained`` each; ``share`` of them begin with its first line, newline included.

    Of those, a share of ``misread`` begins with the first line of another task's draft. A draft is the one with most steps of
    as many as ``longest_of`` says for its task; () writes one for each.
    """
    written = untrained.write_many([task.brief for task in tasks], max(longest_of, default=1))
    drafts = [
        max(row[: longest_of[index] if longest_of else 1], key=lambda each: _steps(each.text, tasks[index].brief, syntax)).text
        for index, row in enumerate(written)
    ]

    def forced_prefix(own: str) -> str:
        if rng.random() >= share:
            return ""
        return first_line(rng.choice(drafts) if misread > 0 and rng.random() < misread else own)

    return [replace(task, draft=draft, forced_prefix=forced_prefix(draft)) for task, draft in zip(tasks, drafts, strict=True)]


def _steps(text: str, brief: Brief, syntax: WorkflowSyntax) -> int:
    """How many steps ``text`` plans; 0 where it is no workflow."""
    try:
        workflow = parse(text, brief, syntax)
    except WorkflowError:
        return 0
    return 0 if workflow is None else len(workflow.steps)


def hindsight(groups: Sequence[RolloutGroup], start: Writer, syntax: WorkflowSyntax) -> list[tuple[Brief, str]]:
    """Second briefs with what the first round's verdict calls for: the text that keeps a right answer, and for a wrong
    one what ``start`` writes there when it sees all of the question.

    Of a question with words missing the answer may tell what it is about, and the texts teach to look there. As many of the one
    as of the other, so that neither is favoured but where the policy can tell the two apart.
    """
    right: list[Brief] = []
    wrong: list[tuple[Brief, Brief]] = []
    for group in groups:
        for first in (rollout.turns[0] for rollout in group.rollouts if len(rollout.turns) > 1):
            if first.verdict is not None:
                brief = replace(group.brief, previous_rounds=(first.transcript,))
                if first.verdict.correct:
                    right.append(brief)
                else:
                    wrong.append((brief, replace(brief, question=ask(group.problem.question))))
    each = min(len(right), len(wrong), _HINDSIGHTS)
    right, wrong = _spread(right, each), _spread(wrong, each)
    keep = f"{KEPT}\n{format_workflow(None, syntax, round_number=2)}"
    written = start.write_many([whole for _, whole in wrong], 1) if wrong else []
    return [(brief, keep) for brief in right] + [(brief, row[0].text) for (brief, _), row in zip(wrong, written, strict=True)]


def _spread(briefs: Sequence[_Any], n: int) -> list[_Any]:
    """``n`` of them, evenly over all groups."""
    return [briefs[index * len(briefs) // n] for index in range(n)]


def first_line(text: str) -> str:
    """``text`` up to and with its first newline; "" where it has none, which forces nothing."""
    line, newline, _ = text.partition("\n")
    return line + newline if newline else ""
