"""From flags to objects: which pool, which policy, under which budget, with which journal.

A worker of a pool file is wrapped, from the inside out:

- *metered*, so that a reply from disk costs nothing and only calls under way hold reservations;
- *journaled*, inside the limits, so that a call waiting in line is not claimed yet;
- *hedged* where wanted, outside the journal, because both attempts may be paid and each has its line in the ledger;
- *limited*; outside of it the journal's reader, so that a reply from disk does not wait in line;
- *retried*, outermost but one, so that every attempt has its own line in the ledger and a waiting retry holds no place;
- *fallback*, outside the journal, so that every reply stands under the worker that gave it.
"""

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from podium.cli.extras import missing_for_training, need_train
from podium.conduct import Conductor
from podium.errors import ConfigError
from podium.gym.optimum import optimum
from podium.gym.questions import kind_of
from podium.gym.specialists import specialists
from podium.gym.world import World
from podium.policies.altered import Altered, change_named
from podium.policies.chat import ChatPolicy
from podium.policies.fixed import at_random, by_kind, consensus, mixture_of_agents, self_reflection, solo
from podium.policies.shipped import check_workers, conductor_folder
from podium.protocols import Policy, Worker
from podium.tasks.agreement import votes
from podium.types import Brief, Card, Generation
from podium.workers.budget import Budget
from podium.workers.chat import ChatWorker
from podium.workers.config import ConductorConfig, PoolConfig, WorkerConfig, build_pool, read_pool
from podium.workers.connections import Connections
from podium.workers.fallback import Fallback
from podium.workers.hedged import Hedged
from podium.workers.journal import Journal
from podium.workers.limited import Limit, Limited
from podium.workers.metered import Metered
from podium.workers.pool import Member, WorkerPool
from podium.workers.recorded import load_replay
from podium.workers.retried import Retried
from podium.workers.vote import MajorityVote
from podium.workflow.language import Language

if TYPE_CHECKING:
    from podium.policies.local import LocalPolicy

VOTE = "vote"
GYM_MAX_TOKENS = 256
"""No specialist says more."""
POLICIES = (
    ("trained[:NAME]", "a Conductor trained by reinforcement: a shipped one (gym) or a run's policy folder"),
    ("untrained", "what the shipped Conductor was before any reward (built-in pool only)"),
    ("best", "the best workflow known per kind of question (built-in pool only)"),
    ("chat[:NAME]", "worker NAME writes the workflow (default: [conductor] of the pool file, else the first worker)"),
    ("solo:NAME", "worker NAME answers, one step"),
    ("reflection:NAME", "worker NAME answers and checks itself, five steps in a chain"),
    ("consensus:NAME", "five independent answers of worker NAME, the most common one wins"),
    ("mixture[:NAME]", "every worker answers, NAME makes one answer of them (default: the first)"),
    ("vote", "every worker answers, the most common answer wins"),
    ("random", "any number of steps, any workers: what needs no knowledge at all"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Team:
    """A pool ready to be conducted. Example: ``async with open_team(None, budget, None, run="demo") as team: ...``."""

    pool: WorkerPool
    conductor: ConductorConfig | None = None
    """What the pool file says about who writes workflows."""
    is_gym: bool = False
    is_recorded: bool = False
    """Recordings can not merge answers, so whoever was trained over them has a vote as the last worker (recipes/replay.py)."""
    max_tokens: Mapping[str, int] = field(default_factory=dict)
    """How much each worker may write."""
    journal: Journal | None = None


@asynccontextmanager
async def open_team(
    path: Path | None, budget: Budget, journal: Path | None, *, run: str, replay: Path | None = None
) -> AsyncIterator[Team]:
    """The pool of the file at ``path``, or recorded models in the folder ``replay``; else the built-in offline one.

    Closes what it opened. With a journal, what ``run`` spent before counts towards ``budget``. Raises :class:`ConfigError`.
    """
    if replay is not None:
        if path is not None:
            raise ConfigError("name a pool file or a folder of recordings, not both")
        recorded = [Member(worker=w, card=Card(name=name)) for name, w in load_replay(replay)]
        yield Team(pool=WorkerPool(recorded), is_recorded=True)
        return
    if path is None:
        pool = gym_pool(budget)
        yield Team(pool=pool, is_gym=True, max_tokens=dict.fromkeys(pool.names, GYM_MAX_TOKENS))
        return
    config = read_pool(path)
    kept = None if journal is None else Journal(journal, run=run)
    try:
        if kept is not None:
            for row in await kept.ledger():
                if row.run == run:
                    budget.charge(row.usage, uncertain_usd=row.uncertain_usd)
        async with Connections() as connections:
            room = {worker.name: worker.max_tokens for worker in config.workers}
            yield Team(
                pool=_wrapped(config, budget, kept, connections), conductor=config.conductor, max_tokens=room, journal=kept
            )
    finally:
        if kept is not None:
            kept.close()


def gym_pool(budget: Budget, world: World | None = None) -> WorkerPool:
    """The seven specialists of the gym, metered like any other worker."""
    workers = specialists(world or World())
    return WorkerPool([Member(worker=Metered(w, w.card, GYM_MAX_TOKENS, [budget]), card=w.card) for w in workers])


def with_vote(pool: WorkerPool) -> WorkerPool:
    """``pool`` and, as its last member, a worker that counts votes."""
    card = Card(name=VOTE, about="takes the answer most others gave", prompt_usd=0.0, completion_usd=0.0)
    return WorkerPool(
        [*pool, Member(worker=MajorityVote(lambda question, responses: votes(responses, question=question)), card=card)]
    )


def make_conductor(name: str, team: Team, *, rounds: int = 1, max_steps: int | None = None) -> Conductor:
    """The Conductor called ``name`` (see :data:`POLICIES`) over ``team``.

    ``POLICY+CHANGE`` carries workflows out with one part replaced (:mod:`podium.policies.altered`). Baselines bring their own
    number of steps, so ``max_steps`` binds prompted models only. Raises :class:`ConfigError`, also for a trained policy over
    workers that it does not know.
    """
    base, plus, change = name.partition("+")
    kind, _, worker = base.partition(":")
    pool, language = team.pool, Language(cards=team.conductor is not None and team.conductor.cards)
    policy: Policy
    last: int | None = None
    steps = max_steps or (5 if team.conductor is None else team.conductor.max_steps)
    match kind:
        case "chat":
            policy = _prompted(worker, team, language)
        case "trained":
            if team.is_recorded:
                pool = with_vote(pool)
                steps = len(pool) + 1
            check_workers(conductor_folder(worker or "gym"), pool.names)
            local = _trained(worker or "gym")
            policy, language = _GymOnly(local) if team.is_gym else local, local.dialect.language
        case "untrained" if team.is_gym:
            local = _trained("gym-start", temperature=1.0)
            policy, language = _GymOnly(local), local.dialect.language
        case "best" if team.is_gym:
            known = {kind: found.workflow for kind, found in optimum().items()}
            policy = _GymOnly(by_kind(lambda text: kind_of(text) or "", known))
        case "solo":
            last = _index(pool, worker, name)
            policy = solo(last)
        case "reflection":
            last = _index(pool, worker, name)
            policy, steps = self_reflection(last), 5
        case "consensus":
            index = _index(pool, worker, name)
            pool, last = with_vote(pool), len(pool)
            policy, steps = consensus(index, judge=last), 6
        case "mixture":
            last = _index(pool, worker or pool.names[0], name)
            policy, steps = mixture_of_agents(last), len(pool) + 1
        case "vote":
            pool, last = with_vote(pool), len(pool)
            policy, steps = mixture_of_agents(last, layer=range(last)), len(pool)
        case "random":
            policy = at_random()
        case _:
            names = "; ".join(f"{shown}: {about}" for shown, about in POLICIES)
            raise ConfigError(f"there is no policy {name!r} for this pool; there are {names}")
    if plus:
        policy, language = Altered(policy, language, change_named(change, pool.names)), Language()
    answering = None if plus or last is None else (last,)
    return Conductor(policy, pool, rounds=rounds, max_steps=steps, language=language, answering=answering)


def default_policy(team: Team) -> str:
    """What conducts where nobody named a policy: for the built-in pool the shipped Conductor, where torch is installed."""
    if not team.is_gym:
        return "chat"
    return "best" if missing_for_training() else "trained"


def _trained(name: str, temperature: float = 0.0) -> "LocalPolicy":
    need_train()
    from podium.policies.local import LocalPolicy

    return LocalPolicy.load(conductor_folder(name), temperature=temperature, seed=0)


class _GymOnly:
    """A policy for the built-in pool; says what that pool is for when it is asked anything else."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy

    async def write(self, brief: Brief, n: int = 1) -> list[Generation]:
        if kind_of(brief.question[-1].content) is None:
            raise ConfigError(
                "the built-in offline pool answers questions of its gym only (see: podium gym problems); "
                "for questions of your own name real workers: podium ask ... --pool pool.toml"
            )
        return await self._policy.write(brief, n)


def _prompted(worker: str, team: Team, language: Language) -> ChatPolicy:
    config = team.conductor
    name = worker or (team.pool.names[0] if config is None else config.worker)
    if team.is_gym:
        raise ConfigError("the workers of the built-in pool can not be prompted as a conductor; name a pool file with --pool")
    member = team.pool[_index(team.pool, name, "chat")]
    return ChatPolicy(member.worker, language=language, attempts=2 if config is None else config.attempts)


def _index(pool: WorkerPool, worker: str, policy: str) -> int:
    """Position of the worker that is meant by its name or its number."""
    if not worker:
        raise ConfigError(f"policy {policy!r} needs a worker: {policy}:NAME, with NAME one of {', '.join(pool.names)}")
    if worker in pool.names or not worker.isdecimal():
        return pool.names.index(pool.named(worker).name)
    if int(worker) >= len(pool):
        raise ConfigError(f"there is no worker {worker}; workers are 0 to {len(pool) - 1}: {', '.join(pool.names)}")
    return int(worker)


def _wrapped(config: PoolConfig, budget: Budget, journal: Journal | None, connections: Connections) -> WorkerPool:
    made: dict[str, Worker] = {}

    def wrap(table: WorkerConfig, chat: ChatWorker, card: Card) -> Worker:
        metered = Metered(chat, card, table.max_tokens, [budget], chat.most_usd)
        limit = Limit(
            concurrency=table.concurrency,
            requests_per_minute=table.requests_per_minute,
            tokens_per_minute=table.tokens_per_minute,
        )
        worker: Worker = metered if journal is None else journal.worker(metered, chat.identity)
        if table.hedge_after_seconds is not None:
            second = metered if journal is None else journal.worker(metered, chat.identity, hedge=True)
            worker = Hedged(worker, second, after_seconds=table.hedge_after_seconds)
        worker = Limited(worker, limit, max_tokens=table.max_tokens)
        if journal is not None:
            worker = journal.reader(worker, chat.identity)
        worker = Retried(worker, attempts=table.retries + 1)
        if table.fallback is not None:
            worker = Fallback(worker, made[table.fallback])
        made[table.name] = worker
        return worker

    return build_pool(config, os.environ, wrap, connections)
