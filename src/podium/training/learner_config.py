"""How fast to learn: the numbers of the optimiser, free of torch so that a recipe can be read anywhere."""

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnerConfig:
    """AdamW with betas 0.9 and 0.999, linear warm-up, cosine. Defaults fit the small policy; the paper's are in its recipe."""

    learning_rate: float = 3e-4
    warmup_ratio: float = 0.03
    """Share of the steps over which the rate rises from nearly 0."""
    min_lr_ratio: float = 0.0
    """Where the cosine ends, as a share of ``learning_rate``."""
    clip: float = 0.2
    """Bound on the change of a token's probability ratio."""
    max_grad_norm: float = 1.0
    """Norm to which gradients are clipped."""
    weight_decay: float = 0.0
    minibatches: int = 1
    """Optimiser steps per pass over an iteration's rows, each on its share of the groups."""
    epochs: int = 1
    """Passes over an iteration's rows."""
    micro_tokens: int = 4096
    """Padded completion tokens that pass through the model at once."""

    @property
    def steps(self) -> int:
        """Optimiser steps per iteration."""
        return self.minibatches * self.epochs

    def rate(self, taken: int, steps: int) -> float:
        """The learning rate of the step after ``taken`` of ``steps``; the first one is never 0."""
        warm = max(1, round(self.warmup_ratio * steps))
        if taken < warm:
            return self.learning_rate * (taken + 1) / warm
        share = min(1.0, (taken - warm) / max(1, steps - warm))
        return self.learning_rate * (self.min_lr_ratio + (1 - self.min_lr_ratio) * 0.5 * (1 + math.cos(math.pi * share)))
