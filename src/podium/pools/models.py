"""What a pool can be asked for: a model per policy, every worker by its own name, each with a client's options."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from podium.conduct import Conductor
from podium.errors import ConfigError
from podium.events import Listener
from podium.policies.catalogue import named_policies
from podium.policies.shipped import shipped
from podium.policies.spec import parse_policy
from podium.pools.conducting import AUTO, conductor, plans_anew
from podium.pools.opened import OpenPool
from podium.protocols import ServedModel
from podium.request_options import RequestOptions
from podium.types import Call, Card, Completion
from podium.workers.direct import DirectWorker

PODIUM, FAST, RECURSIVE = "podium", "podium-fast", "podium-recursive"
_KEPT = 64
"""How many Conductors are kept, so that weights are not read again for every request."""


class PoolCatalog:
    """Everything that can be asked of ``pool``. Example: ``PoolCatalog(pool).conductor("podium", RequestOptions(rounds=2))``.

    ``podium`` is ``policy`` (auto: the pool's own choice), ``podium-recursive`` (of one that can plan anew) the same with two
    rounds, ``podium-fast`` (of a prompted policy) with one step: it only chooses who answers.
    """

    def __init__(self, pool: OpenPool, policy: str = AUTO) -> None:
        if taken := {PODIUM, FAST, RECURSIVE} & {*pool.workers.names}:
            raise ConfigError(f"a worker is called {min(taken)!r}, which is what this server calls its Conductor; rename it")
        self._pool = pool
        self._policy = pool.default_policy if policy == AUTO else policy
        self._policies = named_policies(pool.policies)
        self._kept: dict[tuple[str, int, int | None, tuple[str, ...]], Conductor] = {}
        # What was trained writes the steps it has learned; a prompted policy can be held to one.
        fast = (FAST,) if self._policy.startswith("chat") else ()
        recursive = (RECURSIVE,) if plans_anew(pool, self._policy) else ()
        self.models: Sequence[str] = tuple(dict.fromkeys((PODIUM, *fast, *recursive, *pool.workers.names)))
        self.cards: Sequence[Card] = pool.workers.cards
        self.baselines: Mapping[str, str] = {name: one.about for name, one in self._policies.items() if one.is_baseline}
        self.task_worker = pool.task_worker
        self.tools_in_every_step = pool.tools_in_every_step
        self.conductor(PODIUM)  # what can not be served is said before anybody asks

    def conductor(self, model: str, options: RequestOptions = RequestOptions()) -> ServedModel:
        """The Conductor called ``model``, with these ``options``. Raises :class:`ConfigError`."""
        if model not in (PODIUM, FAST, RECURSIVE) and options.policy is None:
            if options.workers or options.exclude_workers or (options.rounds or 1) > 1:
                raise ConfigError(f"{model!r} is a worker by its own name: it asks nobody else; take model {PODIUM!r}")
            return self._guarded(DirectWorker(self._pool.workers.named(model)))
        policy, rounds, max_steps = self._meant(model, options)
        names = self._chosen(options)
        if names != self._pool.workers.names and self._knows_by_number(policy):
            raise ConfigError(
                f"the policy {policy!r} knows its workers by their numbers and can leave none out: allow all of them, "
                "or take another policy or a baseline"
            )
        key = (policy, rounds, max_steps, names)
        if key not in self._kept:
            pool = replace(self._pool, workers=self._pool.workers.restricted(names))
            while len(self._kept) >= _KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = conductor(pool, policy, rounds=rounds, max_steps=max_steps)
        return self._guarded(self._kept[key])

    def _meant(self, model: str, options: RequestOptions) -> tuple[str, int, int | None]:
        policy, rounds, max_steps = self._policy, 1, None
        if model == RECURSIVE:
            rounds = 2
        elif model == FAST:
            max_steps = 1
        if options.policy is not None:
            spec = parse_policy(options.policy)
            if self._knows_by_number(options.policy) and spec.argument and spec.argument not in shipped():
                # A folder of this machine is the operator's to name, not a client's.
                raise ConfigError(f"there is no trained Conductor {spec.argument!r} here; there are {', '.join(shipped())}")
            policy, max_steps = options.policy, None
        return policy, options.rounds or rounds, max_steps

    def _knows_by_number(self, policy: str) -> bool:
        named = self._policies.get(parse_policy(policy).kind)
        return named is not None and named.knows_workers_by_number

    def _chosen(self, options: RequestOptions) -> tuple[str, ...]:
        names = self._pool.workers.names
        if unknown := sorted({*options.workers, *options.exclude_workers} - {*names}):
            raise ConfigError(f"there is no worker {unknown[0]!r}; there are {', '.join(names)}")
        chosen = tuple(
            name for name in names if (not options.workers or name in options.workers) and name not in options.exclude_workers
        )
        if not chosen:
            raise ConfigError("no worker is left: podium.workers and podium.without exclude them all")
        return chosen

    def _guarded(self, conductor: ServedModel) -> ServedModel:
        return _TextOnly(conductor) if self._pool.answers_text_only else conductor


class _TextOnly:
    """Workers that answer in text and nothing else: tools and response formats are refused, not left out."""

    def __init__(self, conductor: ServedModel) -> None:
        self._conductor = conductor

    async def conduct(self, call: Call, on_event: Listener | None = None) -> Completion:
        if call.response_options.needs_a_chat_model:
            raise ConfigError("the built-in workers call no tools and follow no response_format; name real workers with --pool")
        return await self._conductor.conduct(call, on_event)
