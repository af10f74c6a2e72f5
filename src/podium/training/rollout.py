"""What one iteration collects: rollouts in groups that share a question, a pool and a forced prefix."""

from dataclasses import dataclass

from podium.types import Brief, Failure, Generation, Problem, Transcript, Verdict


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
