"""An offline world that needs a conductor: problems, rule-based workers and a verifier, seeded and fast.

The workers differ by kind of question *and* part of the work, and have the habits of real models; information flows only where
a call shows it. Read :mod:`~podium.gym.world` (the problems), :mod:`~podium.gym.profiles` and :mod:`~podium.gym.attempt` (who
solves them and how they fail), :mod:`~podium.gym.certify` (what makes it need a conductor), :mod:`~podium.gym.stored` (the best
that can be done, and the best that a fixed workflow can do), :mod:`~podium.gym.server` (the same over HTTP).
"""

from podium.gym.kinds import KINDS, UNTRAINED_KINDS
from podium.gym.questions import kind_of
from podium.gym.specialists import Specialist, specialists
from podium.gym.stored import stored
from podium.gym.verify import GymVerifier
from podium.gym.world import World, draw_world

__all__ = [
    "KINDS",
    "UNTRAINED_KINDS",
    "GymVerifier",
    "Specialist",
    "World",
    "draw_world",
    "kind_of",
    "specialists",
    "stored",
]
