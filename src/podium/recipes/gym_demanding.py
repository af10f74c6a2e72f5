"""The demanding gym: the recipe for a world in which no fixed workflow will do (:mod:`podium.gym.demanding`)."""

from collections.abc import Sequence
from dataclasses import replace

from podium.access import call_for
from podium.gym import GymVerifier
from podium.gym.demanding.specialists import Specialist, specialists
from podium.gym.demanding.world import World
from podium.recipes.gym_demanding_start import TOPICS, written_for
from podium.training.config import TrainConfig
from podium.training.exploration import Exploration
from podium.training.learner_config import LearnerConfig
from podium.training.schedule import Schedule
from podium.training.warm_start import WarmStart
from podium.types import Problem, Workflow, ask
from podium.workers.pool import Member, WorkerPool
from podium.workflow.syntax import WorkflowSyntax

WORLD = World()


def config(seed: int = 0, world: World = WORLD) -> TrainConfig:
    """The run that works."""
    workers = specialists(world)
    return TrainConfig(
        name="gym-demanding",
        seed=seed,
        problems=lambda: world.problems(n=9000, seed=11 + seed),
        pool=lambda: WorkerPool([Member(worker=worker, card=worker.card) for worker in workers]),
        verifier=GymVerifier(),
        syntax=WorkflowSyntax(access="positions"),
        warm_start=warm_start(seed, world),
        iterations=200,
        problems_per_step=16,
        group_size=16,
        advantage="softly_normalised",
        per_step=0.012,
        saving_from=0.92,
        curriculum=True,
        word_dropout=0.5,
        learner=LearnerConfig(learning_rate=2e-3, minibatches=2, min_lr_ratio=0.2),
        exploration=Exploration(
            entropy=Schedule(start=0.06, hold=0.55, end=0.7),
            settled_from=0.7,
            forced_prefix=Schedule(start=1.0, hold=0.65, end=0.7),
            longest_of=3,
            draft_sft_weight=Schedule(start=0.3, hold=0.7, end=0.8),
            draft_access=True,
        ),
        cooldown_iterations=0,
    )


def plain(seed: int = 0) -> TrainConfig:
    """GRPO as usual from the same start: no openings, no drafts, no entropy, no cost, no curriculum, whole questions."""
    return replace(
        config(seed),
        name="gym-demanding-plain",
        advantage="group_normalised",
        per_step=0.0,
        saving_from=0.0,
        curriculum=False,
        word_dropout=0.0,
        exploration=Exploration(),
    )


def warm_start(seed: int, world: World = WORLD) -> WarmStart:
    """The start of every run: workflows of the right form, workers at random."""
    workers = specialists(world)
    return WarmStart(
        problems=lambda: world.problems(n=8000, seed=7),
        write=written_for,
        topics=TOPICS,
        size={"hidden_size": 64, "intermediate_size": 192, "num_hidden_layers": 3},
        steps=800,
        word_dropout=0.9,
        word_dropout_max=0.8,
        reading=16,
        seed=seed,
        carried_out=lambda problem, workflow: carried_out(workers, problem, workflow),
    )


def carried_out(workers: Sequence[Specialist], problem: Problem, workflow: Workflow) -> str:
    """What the specialists make of a workflow."""
    responses: dict[int, str] = {}
    for index, step in enumerate(workflow.steps):
        responses[index] = workers[step.worker].complete(call_for(workflow, index, ask(problem.question), responses)).text
    return responses[len(workflow.steps) - 1]
