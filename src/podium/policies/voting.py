"""A pool with a worker that counts votes, for policies whose last step is a vote."""

from podium.tasks.agreement import votes
from podium.types import Card
from podium.workers.pool import Member, WorkerPool
from podium.workers.vote import MajorityVote

VOTE = "vote"


def with_vote(pool: WorkerPool) -> WorkerPool:
    """``pool`` and, as its last member, a worker that counts votes."""
    card = Card(name=VOTE, about="takes the answer most others gave", prompt_usd=0.0, completion_usd=0.0)
    counting = MajorityVote(lambda question, responses: votes(responses, question=question))
    return WorkerPool([*pool, Member(worker=counting, card=card)])
