"""What one iteration collects: rollouts in groups that share a question, a pool and a forced prefix."""

from collections.abc import Sequence
from dataclasses import dataclass

from podium.types import Brief, Failure, Generation, Problem, Transcript, Verdict
from podium.workflow.draw import plain


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One round of one rollout: what the policy was shown and wrote, what came of it, and what it teaches.

    ``prompt_ids`` ends with the tokens of the forced prefix where there is one: the policy did not write those, so they carry no
    gradient. ``reward`` None is void: the world failed, and nothing can be learned. ``advantage`` 0 until the group is complete.
    """

    prompt_ids: tuple[int, ...]
    generation: Generation
    transcript: Transcript
    verdict: Verdict | None = None
    failure: Failure | None = None
    reward: float | None = None
    advantage: float = 0.0
    over_budget: bool = False
    """Whether the answer cost more than the prompt allowed."""

    @property
    def correct(self) -> bool:
        """Whether the answer was judged right. The reward does not say it: a right answer may earn less than a wrong one."""
        return self.verdict is not None and self.verdict.correct

    @property
    def succeeded(self) -> bool:
        """Whether it did what was asked: a right answer within the budget."""
        return self.correct and not self.over_budget


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollout:
    """One attempt at a problem, one turn per round."""

    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutGroup:
    """The rollouts that are compared with each other."""

    problem: Problem
    brief: Brief
    forced_prefix: str = ""
    """What every rollout of the group was made to begin with; "" = the policy wrote everything."""
    draft: str = ""
    """The untrained policy's text that the forced prefix is the first line of."""
    rollouts: tuple[Rollout, ...] = ()


def best_right(groups: Sequence[RolloutGroup]) -> str | None:
    """The rollout of the most steps among the right ones, on one line: who did what."""
    best: tuple[int, str] | None = None
    for group in groups:
        for rollout in group.rollouts:
            turn = rollout.turns[-1]
            workflow = turn.transcript.workflow
            if workflow is None or turn.verdict is None or not turn.verdict.correct:
                continue
            if best is None or len(workflow.steps) > best[0]:
                names = [card.name for card in group.brief.cards]
                steps = " > ".join(f"{plain(names[s.worker], 16)}: {plain(s.subtask, 40)}" for s in workflow.steps)
                best = (len(workflow.steps), f"{plain(group.problem.kind, 16)}  {steps}")
    return None if best is None else f"right: {best[1]}"
