"""Reproducible chance: every draw is a hash of what it is about, so there is no state and no order to get wrong.

The same draw always falls the same way. ``noise`` is the share of draws that another ``sample`` of the same call redraws:
at 0 a worker that is wrong about a question stays wrong however often it is asked, at 1 every sample is independent.
Either way a single draw is uniform, so accuracy does not depend on ``noise``; what does is how much repeating helps.
``shared`` is the share of draws that fall the same way for all of one ``family``, so that its members err together.
"""

from hashlib import blake2b
from typing import NamedTuple


class Draw(NamedTuple):
    """One draw. Example: ``Draw(level=0.42, bits=17)`` succeeds at a skill of 0.5."""

    level: float
    """Uniform in [0, 1); below a skill it is a success."""
    bits: int
    """64 further random bits, to choose among mistakes."""


class Chance:
    """The draws of one specialist in one world.

    Example: ``Chance(seed=0, name="atlas", noise=0.5).draw("reading", "How many?", sample=(3,))``.
    """

    def __init__(self, *, seed: int, name: str, noise: float, family: str = "", shared: float = 0.0) -> None:
        self._base = blake2b(f"{seed}\x1f{name}\x1f".encode("utf-8", "surrogatepass"), digest_size=24)
        self._family = blake2b(f"{seed}\x1f{family}\x1f".encode("utf-8", "surrogatepass"), digest_size=24)
        self._shared = shared
        self._noise = noise

    def draw(self, skill: str, basis: str, sample: tuple[int, ...] = ()) -> Draw:
        """The draw for using ``skill`` on ``basis``, the text that is worked from."""
        words = f"{skill}\x1f{basis}".encode("utf-8", "surrogatepass")
        lasting = self._base.copy()
        if self._shared:
            common = self._family.copy()
            common.update(words)
            if int.from_bytes(common.digest()[:8]) < self._shared * 2**64:
                lasting = self._family.copy()
                lasting.update(b"luck")
        lasting.update(words)
        fresh = lasting.copy()
        fresh.update(repr(sample).encode())
        digest = fresh.digest()
        if int.from_bytes(digest[:8]) >= self._noise * 2**64:
            digest = lasting.digest()
        return Draw(int.from_bytes(digest[8:16]) / 2**64, int.from_bytes(digest[16:]))
