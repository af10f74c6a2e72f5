"""What keeps a run from deciding before the evidence is in: two schedules over the run.

1. *Openings*. A plan of three steps pays only once all three workers are right, so while workers are still random every long
   plan looks bad and plans shrink to one step. Therefore most groups of an early iteration begin with an opening (the first
   line, which names the plan) drawn from the *untrained* policy: the whole group shares it, so its rollouts are compared
   under the same plan, and as the policy did not write it, it carries no gradient. Who is good at what is learned first,
   under every sensible plan; then openings fade and the policy chooses plans among workers it can already conduct. (Exploring
   starts: Sutton and Barto, Reinforcement Learning, 2nd edition, section 5.3, applied to the first line of a text.)
2. *Entropy of the worker choice*, and of nothing else, annealed to zero (:func:`podium.training.grpo.choice_entropy`).
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from podium.training.collect import Task, Writer
from podium.training.rollout import RolloutGroup
from podium.training.warm_start import KEPT
from podium.types import Brief, ask
from podium.workflow.parse import format_workflow
from podium.workflow.syntax import WorkflowSyntax

_HINDSIGHTS = 16
"""Texts of either sort per iteration."""
_Any = TypeVar("_Any")


@dataclass(frozen=True, slots=True, kw_only=True)
class Exploration:
    """The schedules. ``progress`` is the share of the run that is done, in 0..1.

    Example: ``Exploration(opened=1.0, opened_until=0.6).opened_at(0.0) == 1.0``.
    """

    entropy: float = 0.0
    """Coefficient of the worker-choice entropy at the start, in units of normalised advantage per nat."""
    entropy_while: float = 0.0
    """Share of the run for which it stays so."""
    entropy_until: float = 0.6
    """Share of the run at which it has fallen to 0; in between it falls evenly."""
    settled_from: float = 1.0
    """From which share of right rollouts a kind of question gets less (:meth:`podium.training.sampler.KindCurriculum.entropy_weight`)."""
    opened: float = 0.0
    """Share of the groups that begin with a forced opening, at first."""
    opened_while: float = 0.3
    """Share of the run for which that stays so."""
    opened_until: float = 0.6
    """Share of the run at which the last opening is forced; in between it falls evenly."""
    misread: float = 0.0
    """Share of the openings that were drawn for another question of the iteration: what becomes of a question that is taken for
    one of another kind, so that a second round learns to tell from the answer."""
    draft_sft_weight: float = 0.0
    """Weight of keeping drafts of the untrained policy likely: what nobody writes for a while would be forgotten."""
    anchor_while: float = 0.0
    """Share of the run for which that stays so.

    Best for longer than the openings: plans that the policy then chooses itself are held near the untrained policy's for a while,
    so that each kind of question finds its own. Otherwise the first kind to find its plan draws the others along before their own
    rewards are heard.
    """
    anchor_until: float = 0.6
    """Share of the run at which it has fallen to 0."""
    draft_round: int = 1
    """What is kept likely: 1, the drafts; 2, for a run that teaches second rounds, what hindsight calls for in them
    (:func:`hindsight`)."""

    def entropy_at(self, progress: float) -> float:
        """The coefficient of the entropy bonus."""
        return self.entropy * _falling(progress, self.entropy_while, self.entropy_until)

    def opened_at(self, progress: float) -> float:
        """The share of groups with a forced opening."""
        return self.opened * _falling(progress, self.opened_while, self.opened_until)

    def anchor_at(self, progress: float) -> float:
        """The weight of drafts, which stand beside every group while it is above 0."""
        return self.draft_sft_weight * _falling(progress, self.anchor_while, self.anchor_until)


def _falling(progress: float, until: float, zero: float) -> float:
    """1 while ``progress`` is below ``until``, then evenly down to 0 at ``zero``."""
    if progress < until:
        return 1.0
    return max(0.0, 1 - (progress - until) / (zero - until)) if zero > until else 0.0


def with_drafts(
    tasks: Sequence[Task], untrained: Writer, opened: float, rng: random.Random, *, misread: float = 0.0
) -> list[Task]:
    """The tasks with a draft of ``untrained`` each; a share of them begins with its first line, newline included.

    Of those, a share of ``misread`` begins with the first line of another task's draft.
    """
    drafts = [row[0].text for row in untrained.write_many([task.brief for task in tasks], 1)]

    def forced_prefix(own: str) -> str:
        if rng.random() >= opened:
            return ""
        return first_line(rng.choice(drafts) if misread > 0 and rng.random() < misread else own)

    return [replace(task, draft=draft, forced_prefix=forced_prefix(draft)) for task, draft in zip(tasks, drafts, strict=True)]


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
