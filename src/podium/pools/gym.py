"""The built-in pool: the specialists of the gym, and the policies that were made for them."""

from podium.errors import ConfigError
from podium.extras import missing
from podium.gym.optimum import optimum
from podium.gym.questions import kind_of
from podium.gym.specialists import specialists
from podium.gym.world import World
from podium.policies.fixed import by_kind
from podium.policies.named import NamedPolicy, PolicyRequest, PolicySetup
from podium.policies.shipped import check_workers, conductor_folder
from podium.policies.trained import load_trained
from podium.pools.opened import OpenPool
from podium.protocols import Policy
from podium.types import Brief, Generation
from podium.workers.budget import Budget
from podium.workers.pool import Member, WorkerPool
from podium.workers.stack import Layers, stacked

MAX_TOKENS = 256
"""No specialist says more."""


def gym_workers(budget: Budget, world: World | None = None) -> WorkerPool:
    """The specialists of ``world``, metered like any other worker."""
    members = [Member(worker=worker, card=worker.card) for worker in specialists(world or World())]
    return WorkerPool(members).wrapped(lambda m: stacked(m.worker, m.card, Layers(max_tokens=MAX_TOKENS), [budget]))


def gym_pool(budget: Budget, workers: WorkerPool | None = None) -> OpenPool:
    """The built-in pool, ready; ``workers``: other ones in place of the usual specialists, in their order."""
    workers = gym_workers(budget) if workers is None else workers
    return OpenPool(
        workers=workers,
        policies=POLICIES,
        default_policy="best" if missing("train") else "trained",
        recursive_policy=None if missing("train") else "trained:gym-recursive",
        arms=("best",),
        problems=lambda: World().problems(split="held_out_numbers", n=120),
        sort_of=lambda problem: problem.kind,
        check_question=_check_question,
        is_simulated=True,
        answers_text_only=True,
        max_tokens=dict.fromkeys(workers.names, MAX_TOKENS),
    )


def _check_question(question: str) -> None:
    if kind_of(question) is None:
        raise ConfigError(
            "the built-in offline pool answers questions of its gym only (see: podium gym problems); "
            "for questions of your own name real workers: podium ask ... --pool pool.toml"
        )


class _GymQuestions:
    """``policy`` for questions of the gym; says what this pool is for when it is asked anything else."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy

    async def write(self, brief: Brief, n: int = 1) -> list[Generation]:
        _check_question(brief.question[-1].content)
        return await self._policy.write(brief, n)


def _trained(asked: PolicyRequest) -> PolicySetup:
    name = asked.spec.argument or "gym"
    check_workers(conductor_folder(name), asked.workers.names)
    return _local(asked, name)


def _local(asked: PolicyRequest, name: str, temperature: float = 0.0) -> PolicySetup:
    local = load_trained(name, temperature)
    return PolicySetup(policy=_GymQuestions(local), workers=asked.workers, max_steps=asked.steps, syntax=local.dialect.syntax)


def _best(asked: PolicyRequest) -> PolicySetup:
    known = {kind: found.workflow for kind, found in optimum().items()}
    policy = _GymQuestions(by_kind(lambda text: kind_of(text) or "", known))
    return PolicySetup(policy=policy, workers=asked.workers, max_steps=asked.steps)


def _chat(asked: PolicyRequest) -> PolicySetup:
    raise ConfigError("the workers of the built-in pool can not be prompted as a conductor; name a pool file with --pool")


POLICIES = {
    "trained": NamedPolicy(
        form="trained[:NAME]",
        about="a Conductor trained by reinforcement: a shipped one (gym) or a run's policy folder",
        make=_trained,
        knows_workers_by_number=True,
    ),
    "untrained": NamedPolicy(
        form="untrained",
        about="what the shipped Conductor was before any reward",
        make=lambda asked: _local(asked, "gym-start", temperature=1.0),
        knows_workers_by_number=True,
    ),
    "best": NamedPolicy(
        form="best", about="the best workflow known per kind of question", make=_best, knows_workers_by_number=True
    ),
    "chat": NamedPolicy(form="chat", about="not here: these workers can not be prompted as a conductor", make=_chat),
}
"""What only the built-in pool has, and what means something else in it."""
