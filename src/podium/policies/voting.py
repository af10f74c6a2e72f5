"""A pool with one worker more: one that counts votes, or one that checks an answer. For policies that have such a step."""

from podium.tasks.agreement import votes
from podium.types import Card
from podium.workers.checking import Checking
from podium.workers.pool import Member, WorkerPool
from podium.workers.vote import MajorityVote

VOTE = "vote"
CHECK = "check"


def with_vote(pool: WorkerPool) -> WorkerPool:
    """``pool`` and, as its last member, a worker that counts votes."""
    card = Card(name=VOTE, about="takes the answer most others gave", prompt_usd=0.0, completion_usd=0.0)
    counting = MajorityVote(lambda question, responses: votes(responses, question=question))
    return WorkerPool([*pool, Member(worker=counting, card=card)])


def with_checker(pool: WorkerPool, worker: int) -> WorkerPool:
    """``pool`` and, as its last member, the same ``worker`` as one that checks."""
    asked = pool[worker]
    card = Card(
        name=CHECK,
        about=f"{asked.name}, checking an answer",
        prompt_usd=asked.card.prompt_usd,
        completion_usd=asked.card.completion_usd,
    )
    return WorkerPool([*pool, Member(worker=Checking(asked.worker), card=card)])
