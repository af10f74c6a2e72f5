"""The arms of an evaluation by name: bare workers, policies over the pool, routers that learn from training problems.

A ``*`` stands for every worker of the pool: ``consensus:*`` is one arm per worker.
"""

from collections.abc import Sequence
from dataclasses import replace

from podium.conduct import Conductor
from podium.errors import ConfigError
from podium.policies.chosen import CONSTANTS, WORDED
from podium.policies.learned import CATALOGUE, ROUTERS, is_learned, make_learned
from podium.policies.router_data import RouterTrainingData
from podium.policies.spec import parse_policy
from podium.pools.conducting import conductor
from podium.pools.opened import OpenPool
from podium.protocols import Worker
from podium.types import Call, Completion
from podium.workers.recorded import Recorded

ROOM = 5
"""How much more a worker may write in the arm ``context`` (paper, section 4.1)."""


def expanded(names: Sequence[str], workers: Sequence[str]) -> list[str]:
    """``names`` with every ``*`` replaced by each worker in turn, each arm once."""
    return list(dict.fromkeys(name.replace("*", worker) for name in names for worker in workers))


def default_arms(opened: OpenPool, *, learning: bool = False) -> tuple[str, ...]:
    """Every worker alone, and the policies that need no choice; with ``learning``, baselines chosen on training problems.

    Recordings say the same whatever they are told, so nothing is chosen over them; and what costs no more than something else
    can be told only where every price is known.
    """
    alone = tuple(f"worker:{name}" for name in opened.workers.names)
    baselines: tuple[str, ...] = ("mixture",)
    if learning and not any(isinstance(member.worker, Recorded) for member in opened.workers):
        priced = all(card.prompt_usd is not None for card in opened.workers.cards)
        baselines = (*WORDED, "router:classified", *(CONSTANTS if priced else CONSTANTS[:1]))
    return tuple(dict.fromkeys((*alone, *baselines, opened.default_policy, *opened.arms)))


def make_arm(name: str, pool: OpenPool, *, rounds: int = 1, router_data: RouterTrainingData | None = None) -> Worker:
    """The arm called ``name``: ``worker:NAME``, ``context:NAME``, ``router:METHOD`` and other arms that learn, or a policy, as
    in ``chat@2`` with its rounds.

    Raises :class:`ConfigError`.
    """
    kind, _, rest = name.partition(":")
    try:
        if kind == "worker":
            return pool[rest]
        if kind == "context":
            return _Roomier(pool[rest], ROOM * pool.max_tokens[rest])
        if is_learned(name):
            return _learned(name, pool, router_data)
        return conductor(pool, name, rounds=rounds)
    except ConfigError as error:
        raise ConfigError(
            f"arm {name!r}: {error}\nArms besides policies are:\n  worker:NAME    the bare worker\n"
            f"  context:NAME   the same with five times the room\n  router:METHOD  with one of {', '.join(ROUTERS)}"
        ) from error


def weights_of(name: str) -> str | None:
    """The Conductor whose weights a trained arm uses, for ``conductor_folder``; None for an arm without weights of its own."""
    spec = parse_policy(name)
    if spec.kind not in ("trained", "untrained"):
        return None
    return "gym-start" if spec.kind == "untrained" else spec.argument or "gym"


class _Roomier:
    """A worker that may write more. Specialists of the gym have nothing more to say and stay as they are."""

    def __init__(self, worker: Worker, max_tokens: int) -> None:
        self._worker = worker
        self._max_tokens = max_tokens

    async def __call__(self, call: Call) -> Completion:
        return await self._worker(replace(call, sampling=replace(call.sampling, max_tokens=self._max_tokens)))


def _learned(name: str, pool: OpenPool, router_data: RouterTrainingData | None) -> Conductor:
    if router_data is None:
        raise ConfigError("it learns from training problems; name some in a table [learning]")
    made = make_learned(name, pool.workers, router_data)
    return Conductor(
        made.policy,
        made.workers,
        rounds=made.rounds,
        max_steps=made.max_steps,
        syntax=made.syntax,
        answering=made.answering,
    )


def catalogue_arms() -> list[str]:
    """The arms behind the router ``classified`` that are not workers alone, in its order."""
    return [f"{name}:learned" for name in CATALOGUE]
