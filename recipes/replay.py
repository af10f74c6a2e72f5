"""Six recorded real models and a vote: a policy of 0.9 M parameters learns by reward whom to ask, and whose votes to count.

    podium train recipes/replay.py
    podium evaluate recipes/replay_table.toml       then: beside routers, a vote of all, and the best model of each benchmark

A recorded answer does not change with the subtask, so the policy writes none: two lists, who answers and what the last step sees.
Learned on one half of the questions, asked about the other.
"""

import random
from pathlib import Path

from podium.policies.voting import with_vote
from podium.pools.problems import ProblemSource
from podium.training.config import TrainConfig
from podium.training.exploration import Exploration
from podium.training.learner_config import LearnerConfig
from podium.training.schedule import Schedule
from podium.training.warm_start import Demonstration, WarmStart
from podium.types import Brief, Card, Problem, Step, Workflow
from podium.workers.pool import Member, WorkerPool
from podium.workers.recorded import load_replay
from podium.workflow.parse import format_workflow
from podium.workflow.syntax import FIXED_SUBTASK, WorkflowSyntax

FOLDER = Path("../shared/data/replay")
MODELS = 6
NAMES = {"gsm8k": "Word problem", "math-level-5": "Mathematics", "cruxeval": "Programming"}
"""What the first line calls a question of each benchmark."""


def config(seed: int = 0) -> TrainConfig:
    """The run."""
    return TrainConfig(
        name="replay",
        seed=seed,
        problems=problems,
        pool=lambda: with_vote(WorkerPool([Member(worker=w, card=Card(name=name)) for name, w in load_replay(FOLDER)])),
        syntax=WorkflowSyntax(access="binary", subtasks=False),
        warm_start=WarmStart(
            problems=problems, write=committee, workers=(MODELS + 1,), steps=600, vocab_size=2048, max_tokens=90
        ),
        iterations=100,
        problems_per_step=16,
        group_size=16,
        max_steps=MODELS + 1,
        advantage="softly_normalised",
        word_dropout=0.5,
        learner=LearnerConfig(learning_rate=1e-3, minibatches=2, min_lr_ratio=0.2),
        exploration=Exploration(
            entropy=Schedule(start=0.01, hold=0.4, end=0.8),
            forced_prefix=Schedule(start=1.0, hold=0.3, end=0.5),
            draft_sft_weight=Schedule(start=0.1, hold=0.6, end=1.0),
        ),
        cooldown_iterations=0,
    )


def problems() -> list[Problem]:
    """The half that is learned from."""
    return ProblemSource(replay=FOLDER, half="first").problems()


def committee(problem: Problem, brief: Brief, rng: random.Random, syntax: WorkflowSyntax) -> Demonstration:
    """One model, or three to six and a vote, drawn at random: what is imitated before any reward.

    Each model once, in ascending order. Places that are filled independently of each other all get the same model from reward,
    the one that is best alone, and one model five times is no committee (docs/log.md, "Recorded answers").
    """
    voters = rng.choice((1, 3, 4, 5, 6))
    asked = sorted(rng.sample(range(MODELS), voters))
    workers = asked if voters == 1 else [*asked, MODELS]
    steps = tuple(Step(worker=worker, subtask=FIXED_SUBTASK, access=tuple(range(index))) for index, worker in enumerate(workers))
    opening = f"{NAMES[problem.source]}: {'one answer' if voters == 1 else f'a vote of {voters}'}."
    return Demonstration(f"{opening}\n{format_workflow(Workflow(steps=steps), syntax)}", ())
