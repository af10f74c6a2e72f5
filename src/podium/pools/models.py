"""A pool as an offer: a model per policy, every worker by its own name, each as a client wishes for it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from podium.conduct import Conductor
from podium.errors import ConfigError
from podium.events import Listener
from podium.policies.catalogue import named_policies
from podium.policies.shipped import shipped
from podium.policies.spec import parse_policy
from podium.pools.conducting import AUTO, conductor
from podium.pools.opened import OpenPool
from podium.protocols import ServedModel
from podium.request_options import RequestOptions
from podium.types import Call, Card, Completion
from podium.workers.direct import DirectWorker

PODIUM, FAST, RECURSIVE = "podium", "podium-fast", "podium-recursive"
_KEPT = 64
"""How many Conductors are kept, so that weights are not read again for every request."""


class PoolCatalog:
    """Everything that can be asked of ``team``. Example: ``PoolCatalog(team).conductor("podium", RequestOptions(rounds=2))``.

    ``podium`` is ``policy`` (auto: the pool's own choice), ``podium-recursive`` the same with two rounds, ``podium-fast`` (of a
    prompted policy) with one step: it only chooses who answers.
    """

    def __init__(self, team: OpenPool, policy: str = AUTO) -> None:
        if taken := {PODIUM, FAST, RECURSIVE} & {*team.workers.names}:
            raise ConfigError(f"a worker is called {min(taken)!r}, which is what this server calls its Conductor; rename it")
        self._team = team
        self._policy = team.default_policy if policy == AUTO else policy
        self._policies = named_policies(team.policies)
        self._kept: dict[tuple[str, int, int | None, tuple[str, ...]], Conductor] = {}
        # What was trained writes the steps it has learned; a prompted policy can be held to one.
        fast = (FAST,) if self._policy.startswith("chat") else ()
        self.models: Sequence[str] = tuple(dict.fromkeys((PODIUM, *fast, RECURSIVE, *team.workers.names)))
        self.cards: Sequence[Card] = team.workers.cards
        self.baselines: Mapping[str, str] = {name: one.about for name, one in self._policies.items() if one.is_baseline}
        self.conductor(PODIUM)  # what can not be served is said before anybody asks

    def conductor(self, model: str, wishes: RequestOptions = RequestOptions()) -> ServedModel:
        """The Conductor called ``model``, as wished for. Raises :class:`ConfigError`."""
        if model not in (PODIUM, FAST, RECURSIVE) and wishes.policy is None:
            if wishes.workers or wishes.without or (wishes.rounds or 1) > 1:
                raise ConfigError(f"{model!r} is a worker by its own name: it asks nobody else; take model {PODIUM!r}")
            return self._guarded(DirectWorker(self._team.workers.named(model)))
        policy, rounds, max_steps = self._meant(model, wishes)
        names = self._chosen(wishes)
        if names != self._team.workers.names and self._knows_by_number(policy):
            raise ConfigError(
                f"the policy {policy!r} knows its workers by their numbers and can leave none out: allow all of them, "
                "or take another policy or a baseline"
            )
        key = (policy, rounds, max_steps, names)
        if key not in self._kept:
            team = replace(self._team, workers=self._team.workers.restricted(names))
            while len(self._kept) >= _KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = conductor(team, policy, rounds=rounds, max_steps=max_steps)
        return self._guarded(self._kept[key])

    def _meant(self, model: str, wishes: RequestOptions) -> tuple[str, int, int | None]:
        policy, rounds, max_steps = self._policy, 1, None
        if model == RECURSIVE:
            rounds = 2
            policy = self._team.recursive_policy or policy if policy == self._team.default_policy else policy
        elif model == FAST:
            max_steps = 1
        if wishes.policy is not None:
            spec = parse_policy(wishes.policy)
            if self._knows_by_number(wishes.policy) and spec.argument and spec.argument not in shipped():
                # A folder of this machine is the operator's to name, not a client's.
                raise ConfigError(f"there is no trained Conductor {spec.argument!r} here; there are {', '.join(shipped())}")
            policy, max_steps = wishes.policy, None
        return policy, wishes.rounds or rounds, max_steps

    def _knows_by_number(self, policy: str) -> bool:
        named = self._policies.get(parse_policy(policy).kind)
        return named is not None and named.knows_workers_by_number

    def _chosen(self, wishes: RequestOptions) -> tuple[str, ...]:
        names = self._team.workers.names
        if unknown := sorted({*wishes.workers, *wishes.without} - {*names}):
            raise ConfigError(f"there is no worker {unknown[0]!r}; there are {', '.join(names)}")
        chosen = tuple(name for name in names if (not wishes.workers or name in wishes.workers) and name not in wishes.without)
        if not chosen:
            raise ConfigError("no worker is left: podium.workers and podium.without exclude them all")
        return chosen

    def _guarded(self, conductor: ServedModel) -> ServedModel:
        return _TextOnly(conductor) if self._team.answers_text_only else conductor


class _TextOnly:
    """Workers that answer in text and nothing else: tools and forms are refused, not left out."""

    def __init__(self, conductor: ServedModel) -> None:
        self._conductor = conductor

    async def conduct(self, call: Call, on_event: Listener | None = None) -> Completion:
        if call.demands.needs_a_chat_model:
            raise ConfigError("the built-in workers call no tools and follow no response_format; name real workers with --pool")
        return await self._conductor.conduct(call, on_event)
