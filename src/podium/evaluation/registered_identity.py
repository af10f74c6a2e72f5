"""What would judge a kind of problem, as a hash, before it is opened with its processes. It loads every verifier of Podium."""

from podium.evaluation.verifier_identity import described
from podium.tasks.kinds import problem_kind
from podium.workers.identity import hashed


def registered_identity(kind: str) -> str:
    """As :func:`podium.evaluation.verifier_identity.verifier_identity`, of the verifier that is registered for this kind."""
    return hashed(described(problem_kind(kind).open))
