"""Faults on purpose: which requests of the gym server go wrong, and how.

A seeded drill for adapters, limits and retries. Whether a request is hit depends on its place in the order of arrival and
on the seed, not on its content: a retry is a new request and may pass.
"""

import random
from collections.abc import Sequence
from typing import Literal, get_args

from podium.errors import ConfigError

FaultKind = Literal["rate_limit", "server_error", "hang", "cut", "truncated", "empty"]
FAULT_KINDS: tuple[FaultKind, ...] = get_args(FaultKind)
"""429 with Retry-After; 500; no reply until the client leaves; connection cut in the body; JSON cut in half; no content."""


class Faults:
    """Decides for one request after another. Example: ``Faults(share=0.3, seed=7).next()``.

    Raises :class:`ConfigError` for a share outside 0..1 and for an unknown kind.
    """

    def __init__(self, *, share: float = 0.0, kinds: Sequence[str] = FAULT_KINDS, seed: int = 0) -> None:
        unknown = [kind for kind in kinds if kind not in FAULT_KINDS]
        if unknown or not kinds:
            named = repr(unknown[0]) if unknown else "nothing"
            raise ConfigError(f"a kind of fault is one of {', '.join(FAULT_KINDS)}, not {named}")
        if not 0 <= share <= 1:
            raise ConfigError(f"the share of faults is in 0..1, not {share}")
        self._share = share
        self._kinds = [kind for kind in FAULT_KINDS if kind in kinds]
        self._rng = random.Random(f"faults/{seed}")

    def next(self) -> FaultKind | None:
        """The fault of the next request, or None for a good reply."""
        hit = self._rng.random() < self._share
        kind = self._rng.choice(self._kinds)
        return kind if hit else None
