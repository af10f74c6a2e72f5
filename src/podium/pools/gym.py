"""The built-in pool: the specialists of the gym, and the policies that were made for them."""

from dataclasses import replace

from podium.errors import ConfigError
from podium.extras import missing
from podium.gym.gauge import QUESTION
from podium.gym.questions import kind_of
from podium.gym.specialists import specialists
from podium.gym.stored import stored
from podium.gym.world import World
from podium.policies.fixed import FunctionPolicy, by_kind
from podium.policies.named import NamedPolicy, PolicyRequest, PolicySetup
from podium.policies.shipped import check_workers, conductor_folder, one_round
from podium.policies.trained import load_trained
from podium.pools.opened import OpenPool
from podium.protocols import Policy
from podium.types import Brief, Generation, Workflow
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
        arms=("found:constant", "found:cheap", "best"),
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
    return PolicySetup(
        policy=_GymQuestions(local),
        workers=asked.workers,
        max_steps=asked.steps,
        syntax=local.dialect.syntax,
        one_round=one_round(conductor_folder(name)),
    )


def _best(asked: PolicyRequest) -> PolicySetup:
    policy = _GymQuestions(by_kind(lambda text: kind_of(text) or "", stored().optima))
    return PolicySetup(policy=policy, workers=asked.workers, max_steps=asked.steps)


def _found(asked: PolicyRequest) -> PolicySetup:
    known = {name.removeprefix("constant:"): found for name, found in stored().opponents.items()}
    found = known.get(asked.spec.argument)
    if found is None:
        raise ConfigError(
            f"no workflow {asked.spec.argument!r} was found; there are {', '.join(f'found:{name}' for name in known)}"
        )

    def workflow(brief: Brief) -> Workflow:
        question = brief.question[-1].content
        steps = (replace(step, subtask=step.subtask.replace(QUESTION, question)) for step in found.steps)
        return Workflow(steps=tuple(steps))

    return PolicySetup(policy=_GymQuestions(FunctionPolicy(workflow)), workers=asked.workers, max_steps=len(found.steps))


def _chat(asked: PolicyRequest) -> PolicySetup:
    raise ConfigError("the workers of the built-in pool can not be prompted as a conductor; name a pool file with --pool")


POLICIES = {
    "trained": NamedPolicy(
        form="trained[:NAME]",
        about="a Conductor trained by reinforcement: a shipped one (gym, gym-recursive) or a run's policy folder",
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
        form="best",
        about="the best workflow known per kind of question",
        make=_best,
        knows_workers_by_number=True,
        is_baseline=True,
    ),
    "found": NamedPolicy(
        form="found:NAME",
        about="the best of its sort that a long search found, the same for every question: constant, cheap, mixture, ...",
        make=_found,
        knows_workers_by_number=True,
    ),
    "chat": NamedPolicy(form="chat", about="not here: these workers can not be prompted as a conductor", make=_chat),
}
"""What only the built-in pool has, and what means something else in it."""
