"""The gym: a policy of 0.9 M parameters learns, by reward alone, to conduct seven specialists. No key, no GPU, about 15 minutes.

    podium train recipes/gym.py                  one run
    podium train recipes/gym.py --seeds 5        five, one after the other
    podium train recipes/gym.py:plain            the same budget without the exploration parts, for comparison

Budget as in the paper (section 4.1): 200 iterations of 256 rollouts, 51,200 in all; 16 questions x 16 instead of 4 x 64.
What each part is for and what it was measured to bring: docs/log.md.
"""

from dataclasses import replace

from podium.gym import GymVerifier, World, specialists
from podium.training.config import TrainConfig
from podium.training.exploration import Exploration
from podium.training.learner_config import LearnerConfig
from podium.training.warm_start import WarmStart
from podium.workers.pool import Member, WorkerPool
from podium.workflow.language import Language

WORLD = World()


def config(seed: int = 0) -> TrainConfig:
    """The run that works."""
    return TrainConfig(
        name="gym",
        seed=seed,
        problems=lambda: WORLD.problems(n=6000, seed=11 + seed),
        pool=lambda: WorkerPool([Member(worker=worker, card=worker.card) for worker in specialists(WORLD)]),
        verifier=GymVerifier(),
        language=Language(access="binary"),
        warm_start=WarmStart(problems=lambda: WORLD.problems(n=8000, seed=7), steps=1000, seed=seed),
        iterations=200,
        questions=16,
        rollouts=16,
        advantage="softly_normalised",
        per_usd=40.0,
        curriculum=True,
        learner=LearnerConfig(learning_rate=1e-3, updates=2),
        exploration=Exploration(
            entropy=0.3, entropy_while=0.5, entropy_until=0.7, opened=1.0, opened_while=0.55, opened_until=0.8, anchor=0.1
        ),
        rest_iterations=0,
    )


def plain(seed: int = 0) -> TrainConfig:
    """GRPO as usual: no openings, no entropy of the worker choice, a start that was not asked what its steps are about."""
    usual = config(seed)
    return replace(usual, name="gym-plain", exploration=Exploration(), warm_start=replace(usual.warm_start, topics=False))
