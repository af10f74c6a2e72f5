"""What an iteration was like, and whether the run is collapsing.

The known ways for such a run to fail show here long before accuracy does: every step goes to one worker (worker entropy falls
towards 0 bits), all plans shrink to one step, groups no longer differ (nothing left to learn from), or all the gain is in format
(valid rises, correct given valid does not).
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from podium.conditions import ALWAYS
from podium.training.rollout import RolloutGroup
from podium.types import Usage, Workflow


@dataclass(frozen=True, slots=True, kw_only=True)
class Iteration:
    """Measures of one iteration, over the turns that were not void. Shares are in 0..1.

    Example: ``measured(3, groups).worker_entropy_bits`` is 2.8 while seven workers are asked equally often.
    """

    iteration: int
    rollouts: int
    correct: float
    valid: float
    correct_given_valid: float
    worker_entropy_bits: float
    """Entropy of which worker carries out a step, over the whole mix. Rollouts with workers that were drawn for the policy
    (:mod:`podium.training.worker_draws`) are left out: they would hide that it has collapsed."""
    steps: float
    """Mean steps of valid workflows."""
    steps_by_kind: dict[str, float]
    correct_by_kind: dict[str, float]
    distinct_plans: int
    """Different sequences of (worker, what it sees)."""
    flat_groups: float
    """Share of groups without a difference in reward: they teach nothing."""
    failed_groups: float
    """Share of groups of which no rollout was right."""
    solved_groups: float
    """Share of groups of which every rollout was right."""
    void: float
    """Share of turns that the world spoilt."""
    forced_prefixes: float
    """Share of groups whose prefix was forced."""
    pass_through: float | None
    """Share of second rounds that kept a right answer; None without such rounds."""
    completion_tokens: float
    """Mean tokens the policy wrote per turn."""
    calls: int
    cost_usd: float | None
    """Dollars of the workers; None where a price is unknown."""
    learning: dict[str, float] = field(default_factory=dict)
    """What the learner reports."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Wall time by phase."""

    def as_json(self) -> dict[str, Any]:
        """The record as one line of ``metrics.jsonl``."""
        return asdict(self)


def measured(
    iteration: int,
    groups: Sequence[RolloutGroup],
    *,
    learning: dict[str, float] | None = None,
    seconds: dict[str, float] | None = None,
) -> Iteration:
    """The measures of ``groups``, collected in ``iteration``."""
    kept = [(g, turn) for g in groups for rollout in g.rollouts for turn in rollout.turns if turn.reward is not None]
    turns = [turn for g in groups for rollout in g.rollouts for turn in rollout.turns]
    written = [(g.problem.kind, t.transcript.workflow) for g, t in kept if t.transcript.workflow is not None]
    valid = [t for _, t in kept if t.verdict is not None]
    correct = [t for t in valid if t.correct]
    chosen = [(g.brief.cards, t.transcript.workflow) for g, t in kept if not any(map(math.isnan, t.generation.logprobs))]
    workers = Counter(cards[step.worker].name for cards, workflow in chosen if workflow is not None for step in workflow.steps)
    rewards = [[t.reward for r in g.rollouts for t in r.turns if t.reward is not None] for g in groups]
    rights = [[t.correct for r in g.rollouts for t in r.turns if t.reward is not None] for g in groups]
    usage = Usage.total(t.transcript.usage for t in turns)
    return Iteration(
        iteration=iteration,
        rollouts=sum(len(g.rollouts) for g in groups),
        correct=_share(len(correct), len(kept)),
        valid=_share(len(valid), len(kept)),
        correct_given_valid=_share(len(correct), len(valid)),
        worker_entropy_bits=entropy_bits(workers),
        steps=_share(sum(len(w.steps) for _, w in written), len(written)),
        steps_by_kind=_by_kind([(kind, float(len(w.steps))) for kind, w in written]),
        correct_by_kind=_by_kind([(g.problem.kind, float(t.correct)) for g, t in kept]),
        distinct_plans=len({pattern(w) for _, w in written}),
        flat_groups=_share(sum(len(set(r)) < 2 for r in rewards), len(groups)),
        failed_groups=_share(sum(bool(r) and not any(r) for r in rights), len(groups)),
        solved_groups=_share(sum(bool(r) and all(r) for r in rights), len(groups)),
        void=_share(len(turns) - len(kept), len(turns)),
        forced_prefixes=_share(sum(bool(g.forced_prefix) for g in groups), len(groups)),
        pass_through=_pass_through(groups),
        completion_tokens=_share(sum(len(t.generation.token_ids) for t in turns), len(turns)),
        calls=sum(len(t.transcript.asked) for t in turns),
        cost_usd=usage.cost_usd,
        learning=learning or {},
        seconds=seconds or {},
    )


def pattern(workflow: Workflow) -> str:
    """A workflow without its words: who, seeing what, and when. Example: ``"2 > 0(0)"`` asks 2, then 0, which sees step 0."""
    return " > ".join(
        (f"{s.worker}({','.join(map(str, s.access))})" if s.access else str(s.worker))
        + ("" if s.condition == ALWAYS else f" {s.condition}")
        for s in workflow.steps
    )


def entropy_bits(counts: Counter[str]) -> float:
    """Shannon entropy of a distribution given by counts, in bits; 0 of nothing."""
    total = counts.total()
    return -sum(c / total * math.log2(c / total) for c in counts.values()) if total else 0.0


@dataclass(slots=True, kw_only=True)
class CollapseRule:
    """Says when a run has collapsed: no longer trying anything, and not because it has won.

    ``patience`` iterations in a row in which worker entropy is under ``entropy_bits`` while fewer than ``correct`` of the
    rollouts are right, or in which fewer than ``valid`` can be carried out, or in which every group is flat without being solved.
    """

    entropy_bits: float = 0.3
    correct: float = 0.8
    valid: float = 0.5
    patience: int = 10
    streaks: dict[str, int] = field(default_factory=dict)
    """Sign -> iterations in a row that showed it; part of every checkpoint."""

    def reason(self, seen: Iteration) -> str | None:
        """Why the run should stop after ``seen``; None while it should go on.

        A run that is continued all the same has the whole patience again.
        """
        unsolved = seen.correct < self.correct
        signs = {
            "one worker": unsolved and seen.worker_entropy_bits < self.entropy_bits,
            "no workflows": seen.valid < self.valid,
            "flat groups": unsolved and seen.flat_groups >= 1,
        }
        self.streaks = {name: self.streaks.get(name, 0) + 1 if present else 0 for name, present in signs.items()}
        lasting = [name for name, streak in self.streaks.items() if streak >= self.patience]
        if not lasting:
            return None
        self.streaks = {}
        return {
            "one worker": (
                f"every step goes to one worker ({seen.worker_entropy_bits:.2f} bits) with only {seen.correct:.0%} right: raise "
                "the entropy bonus or force prefixes for longer"
            ),
            "no workflows": f"only {seen.valid:.0%} of what is written is a workflow: lower the learning rate",
            "flat groups": (
                "no group differs in reward, so there is nothing to learn from: these problems are too hard for this pool"
            ),
        }[lasting[0]]


def _pass_through(groups: Sequence[RolloutGroup]) -> float | None:
    second = [r.turns for g in groups for r in g.rollouts if len(r.turns) > 1 and r.turns[0].correct]
    kept = sum(turns[1].transcript.workflow is None and turns[1].transcript.answer is not None for turns in second)
    return kept / len(second) if second else None


def _by_kind(values: Sequence[tuple[str, float]]) -> dict[str, float]:
    kinds = sorted({kind for kind, _ in values})
    return {k: round(_share(sum(v for kind, v in values if kind == k), sum(kind == k for kind, _ in values)), 4) for k in kinds}


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
