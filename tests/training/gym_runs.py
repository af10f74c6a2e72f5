"""Runs small enough for a test: one kind of question, four workers, a policy of 0.1 M parameters."""

from dataclasses import replace
from functools import cache

from podium.gym import GymVerifier, World, specialists
from podium.policies.local import LocalPolicy
from podium.recipes.gym_start import TOPICS, written_for
from podium.training.config import TrainConfig
from podium.training.engine import ReferenceEngine
from podium.training.exploration import Exploration
from podium.training.imitation import warm_started
from podium.training.learner_config import LearnerConfig
from podium.training.schedule import Schedule
from podium.training.warm_start import WarmStart
from podium.workers.pool import Member, WorkerPool
from podium.workflow.syntax import WorkflowSyntax

WORLD = World()
WARM_START = WarmStart(
    problems=lambda: WORLD.problems(kinds=("choice",), n=200, seed=7),
    write=written_for,
    topics=TOPICS,
    steps=160,
    problems_per_step=4,
    texts=4,
    learning_rate=5e-3,
    workers=(4,),
    vocab_size=400,
    size={
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "num_key_value_heads": 2,
    },
)


def gym_pool() -> WorkerPool:
    return WorkerPool([Member(worker=w, card=w.card) for w in specialists(WORLD)[:4]])


def small_config(*, iterations: int = 12, seed: int = 0) -> TrainConfig:
    return TrainConfig(
        name="small",
        seed=seed,
        problems=lambda: WORLD.problems(kinds=("choice",), n=200),
        pool=gym_pool,
        verifier=GymVerifier(),
        syntax=WorkflowSyntax(access="binary"),
        warm_start=WARM_START,
        iterations=iterations,
        problems_per_step=8,
        group_size=12,
        learner=LearnerConfig(learning_rate=1e-3),
        exploration=Exploration(
            entropy=Schedule(start=0.05, end=0.6),
            forced_prefix=Schedule(start=0.5, hold=0.5, end=0.9),
            drawn_workers=Schedule(start=0.25, hold=0.8, end=0.8),
        ),
        cooldown_iterations=0,
    )


@cache
def start() -> LocalPolicy:
    """The warm start of :func:`small_config`, made once for all tests of a process."""
    return warm_started(WARM_START, small_config().syntax)


def engine_for(config: TrainConfig) -> ReferenceEngine:
    return ReferenceEngine(start(), config.learner, iterations=config.iterations)


def without_exploration(config: TrainConfig) -> TrainConfig:
    return replace(config, exploration=Exploration())
