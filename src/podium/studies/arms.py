"""The arms of an evaluation by name: bare workers, policies over the pool, routers that learn from training problems.

A ``*`` stands for every worker of the pool: ``consensus:*`` is one arm per worker.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from podium.conduct import Conductor
from podium.errors import ConfigError
from podium.policies.fixed import FunctionPolicy, consensus, mixture_of_agents, self_reflection, solo
from podium.policies.spec import parse_policy
from podium.policies.voting import with_vote
from podium.pools.conducting import conductor
from podium.pools.opened import OpenPool
from podium.protocols import Worker
from podium.types import Brief, Call, Completion, Workflow

if TYPE_CHECKING:
    from podium.policies.router import Chooser, RouterDataset

ROOM = 5
"""How much more a worker may write in the arm ``context`` (paper, section 4.1)."""
ROUTERS = ("kind", "nearest", "linear", "contrastive", "agreement", "agreement-nearest", "classified")
"""Learned routers of :mod:`podium.policies.router`, by their short names."""
CATALOGUE = ("reflection", "consensus", "mixture")
"""What the router ``classified`` may choose besides the workers alone; each with the worker that is best in training."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RouterTrainingData:
    """What routers learn from: how the workers alone, and the catalogue, did on training problems."""

    alone: "RouterDataset"
    sort_of: Callable[[str], str | None]
    """The kind of a question, or the benchmark it is from, as in ``alone.kinds``."""
    catalogue: "RouterDataset | None" = None

    @property
    def best(self) -> int:
        """Position of the worker that was right most often."""
        return int(self.alone.table.mean(axis=0).argmax())


def expanded(names: Sequence[str], workers: Sequence[str]) -> list[str]:
    """``names`` with every ``*`` replaced by each worker in turn, each arm once."""
    return list(dict.fromkeys(name.replace("*", worker) for name in names for worker in workers))


def default_arms(opened: OpenPool) -> tuple[str, ...]:
    """Every worker alone, and the policies that need no choice."""
    alone = tuple(f"worker:{name}" for name in opened.workers.names)
    return tuple(dict.fromkeys((*alone, "mixture", opened.default_policy, *opened.arms)))


def is_router(name: str) -> bool:
    """Whether the arm learns from training problems. Raises :class:`ConfigError` for a router that does not exist."""
    kind, _, method = name.partition(":")
    if kind == "router" and method not in ROUTERS:
        raise ConfigError(f"there is no router {method!r}; there are {', '.join(ROUTERS)}")
    return kind == "router"


def make_arm(name: str, opened: OpenPool, *, rounds: int = 1, router_data: RouterTrainingData | None = None) -> Worker:
    """The arm called ``name``: ``worker:NAME``, ``context:NAME``, ``router:METHOD``, or a policy, as in ``trained:gym@2`` with
    its rounds.

    Raises :class:`ConfigError`.
    """
    kind, _, rest = name.partition(":")
    try:
        if kind == "worker":
            return opened[rest]
        if kind == "context":
            return _Roomier(opened[rest], ROOM * opened.max_tokens[rest])
        if is_router(name):
            return _router(rest, opened, router_data)
        return conductor(opened, name, rounds=rounds)
    except ConfigError as error:
        raise ConfigError(
            f"arm {name!r}: {error}; or worker:NAME, the bare worker; context:NAME, with five times the room; "
            f"router:METHOD with one of {', '.join(ROUTERS)}"
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


def _router(method: str, opened: OpenPool, router_data: RouterTrainingData | None) -> Conductor:
    if router_data is None:
        raise ConfigError("a router learns from training problems; name some in a table [learning]")
    from podium.policies import router

    if method == "classified":
        if router_data.catalogue is None:
            raise ConfigError("this router needs to know what the catalogue of workflows earned")
        return _classified(router.classified(router_data.catalogue), opened, router_data.best)
    choosers: dict[str, Callable[[], Chooser]] = {
        "kind": lambda: router.best_of_kind(router_data.alone, router_data.sort_of),
        "nearest": lambda: router.nearest(router_data.alone),
        "linear": lambda: router.linear(router_data.alone),
        "contrastive": lambda: router.contrastive(router_data.alone),
        "agreement": lambda: router.agreement(router_data.alone),
        "agreement-nearest": lambda: router.agreement(router_data.alone, neighbours=20),
    }
    return Conductor(router.routed(choosers[method]()), opened.workers)


def _classified(choose: "Chooser", opened: OpenPool, best: int) -> Conductor:
    """The router over a catalogue: every worker alone, then :data:`CATALOGUE` with the ``best``."""
    workers, pool = len(opened.workers), with_vote(opened.workers)
    catalogue = [
        *(solo(worker) for worker in range(workers)),
        self_reflection(best),
        consensus(best, judge=workers),
        mixture_of_agents(best, layer=range(workers)),
    ]

    def workflow(brief: Brief) -> Workflow:
        return catalogue[choose(brief.question[-1].content)].workflow(brief)

    return Conductor(FunctionPolicy(workflow), pool, max_steps=max(6, workers + 1))


def catalogue_arms(opened: OpenPool, best: int) -> list[str]:
    """The arms behind :func:`_classified` that are not workers alone, in its order."""
    return [f"{name}:{opened.workers.names[best]}" for name in CATALOGUE]
