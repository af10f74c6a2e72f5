"""Rewards of a group -> advantages: how much better than the others. None (void) stays out of every statistic and gets 0.

Each is a small function of the same shape, ``Sequence[float | None] -> list[float]``; a recipe names one.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial

Rewards = Sequence[float | None]
Advantage = Callable[[Rewards], list[float]]

_TINY = 1e-6


def group_normalised(rewards: Rewards) -> list[float]:
    """(r - mean) / (std + 1e-6), std over the group (GRPO: arXiv 2402.03300, section 4.1; the Conductor paper's choice)."""
    kept, mean = _statistics(rewards)
    if len(kept) < 2:
        return [0.0] * len(rewards)
    std = math.sqrt(sum((r - mean) ** 2 for r in kept) / (len(kept) - 1))
    return [0.0 if r is None or std < _TINY else (r - mean) / (std + _TINY) for r in rewards]


def softly_normalised(rewards: Rewards, least: float = 0.05) -> list[float]:
    """(r - mean) / (std + 0.05): as :func:`group_normalised`, but differences that are small beside a right answer stay small.

    For rewards with a cost in them: in a group that is right throughout, only the cost differs, and dividing by its tiny spread
    would make saving a cent weigh as much as being right.
    """
    kept, mean = _statistics(rewards)
    if len(kept) < 2:
        return [0.0] * len(rewards)
    std = math.sqrt(sum((r - mean) ** 2 for r in kept) / (len(kept) - 1))
    return [0.0 if r is None else (r - mean) / (std + least) for r in rewards]


def centred(rewards: Rewards) -> list[float]:
    """r - mean, without the division that makes easy and hard questions weigh the same (Dr. GRPO: arXiv 2503.20783)."""
    _, mean = _statistics(rewards)
    return [0.0 if r is None else r - mean for r in rewards]


def leave_one_out(rewards: Rewards) -> list[float]:
    """r - mean of the others (RLOO: arXiv 2402.14740)."""
    kept, _ = _statistics(rewards)
    if len(kept) < 2:
        return [0.0] * len(rewards)
    total = sum(kept)
    return [0.0 if r is None else r - (total - r) / (len(kept) - 1) for r in rewards]


def pass_at_k(rewards: Rewards, k: int = 4, threshold: float = 1.0) -> list[float]:
    """How much a rollout adds to the chance that one of ``k`` is right (arXiv 2508.10751, closed form), normalised.

    With n rollouts of which c are right, R = 1 - C(n - c, k) / C(n, k), s = sqrt(R (1 - R)); a right one gets (1 - R) / s, a
    wrong one (1 - R - C(n - c - 1, k - 1) / C(n - 1, k - 1)) / s.
    """
    n = sum(r is not None for r in rewards)
    c = sum(r is not None and r >= threshold for r in rewards)
    if n < k or c == 0 or c == n:
        return [0.0] * len(rewards)
    mean = 1 - math.comb(n - c, k) / math.comb(n, k)
    std = math.sqrt(mean * (1 - mean))
    if std < _TINY:
        return [0.0] * len(rewards)
    wrong = (1 - mean - math.comb(n - c - 1, k - 1) / math.comb(n - 1, k - 1)) / std
    right = (1 - mean) / std
    return [0.0 if r is None else right if r >= threshold else wrong for r in rewards]


ADVANTAGES: dict[str, Advantage] = {
    "group_normalised": group_normalised,
    "softly_normalised": softly_normalised,
    "centred": centred,
    "leave_one_out": leave_one_out,
    "pass_at_4": partial(pass_at_k, k=4),
}


def _statistics(rewards: Rewards) -> tuple[list[float], float]:
    kept = [r for r in rewards if r is not None]
    return kept, sum(kept) / len(kept) if kept else 0.0
