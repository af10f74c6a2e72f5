"""A small world whose best workflow is known: problems, specialists and a verifier, offline, seeded and fast.

Information really flows here: a specialist knows what its call shows it and nothing else, so a workflow is worth exactly
what its access lists carry. Read :mod:`~podium.gym.world` (the problems), :mod:`~podium.gym.specialists` (who solves them
and how they fail), :mod:`~podium.gym.optimum` (the best that can be done), :mod:`~podium.gym.server` (the same over HTTP).
"""

from podium.gym.optimum import Optimum, optimum
from podium.gym.questions import kind_of
from podium.gym.specialists import Specialist, specialists
from podium.gym.templates import KINDS, UNTRAINED_KINDS
from podium.gym.verify import GymVerifier
from podium.gym.world import World

__all__ = ["KINDS", "UNTRAINED_KINDS", "GymVerifier", "Optimum", "Specialist", "World", "kind_of", "optimum", "specialists"]
