"""Learning when to stop: the recipe for a world in which two cheap workers that agree are right (:mod:`podium.gym.stopping`).

    podium train recipes/gym_stopping.py             a fourth list says when a step is carried out
    podium train recipes/gym_stopping.py:without     the same without it: three lists, everything else alike

What a call costs comes off the reward in dollars, and a step that is skipped costs nothing, so that stopping is worth what it
saves. What it learns, and what kept it from learning it for long: docs/log.md.
"""

from dataclasses import replace

from podium.gym import GymVerifier
from podium.gym.stopping.world import KINDS, WORKERS, WORLD, WORTH_USD
from podium.recipes.gym_stopping_start import TOPICS, written_for
from podium.training.config import TrainConfig
from podium.training.exploration import Exploration
from podium.training.learner_config import LearnerConfig
from podium.training.reward import WRONG
from podium.training.schedule import Schedule
from podium.training.warm_start import WarmStart
from podium.workers.pool import Member, WorkerPool
from podium.workflow.syntax import WorkflowSyntax

SIZE = {"hidden_size": 64, "intermediate_size": 192, "num_hidden_layers": 3}


def config(seed: int = 0) -> TrainConfig:
    """The run that learns when to stop."""
    return TrainConfig(
        name="gym-stopping",
        seed=seed,
        problems=lambda: WORLD.problems(kinds=KINDS, n=3000, seed=11 + seed),
        pool=lambda: WorkerPool([Member(worker=worker, card=worker.card) for worker in WORKERS]),
        verifier=GymVerifier(),
        syntax=WorkflowSyntax(access="binary", conditions=True),
        warm_start=WarmStart(
            problems=lambda: WORLD.problems(kinds=KINDS, n=4000, seed=7),
            write=written_for,
            topics=TOPICS,
            size=SIZE,
            vocab_size=512,
            steps=1000,
            workers=(len(WORKERS),),
        ),
        iterations=150,
        problems_per_step=16,
        group_size=16,
        max_steps=3,
        advantage="centred",
        per_usd=(1 - WRONG) / WORTH_USD,
        curriculum=True,
        word_dropout=0.3,
        learner=LearnerConfig(learning_rate=1e-3, warmup_ratio=0.05, min_lr_ratio=0.2),
        exploration=Exploration(
            entropy=Schedule(start=0.02, hold=0.75, end=0.9),
            forced_prefix=Schedule(start=1.0, hold=0.65, end=0.75),
            longest_of=3,
            draft_sft_weight=Schedule(start=0.03, hold=0.7, end=0.8),
        ),
        cooldown_iterations=0,
    )


def without(seed: int = 0) -> TrainConfig:
    """The same recipe in the paper's three lists."""
    return replace(config(seed), name="gym-stopping-without", syntax=WorkflowSyntax(access="binary"))
