"""The gym: a policy of 0.16 M parameters learns, by reward alone, to conduct seven specialists. No key, no GPU, 20 minutes.

    podium train recipes/gym.py                  one run
    podium train recipes/gym.py --seeds 5        five, one after the other
    podium train recipes/gym.py:plain            the same budget without the exploration parts, for comparison
    podium train recipes/gym.py:short            60 iterations over three kinds, as podium demo trains it
    podium train recipes/gym.py:drawn            the first recipe in another world, the one drawn from the seed
    podium train recipes/gym.py:adaptive         another pool for every question, workers known by their cards only
    podium train recipes/gym.py:faulty           with workers that fail three calls in ten
    podium train recipes/gym.py:conditional      a fourth list says when a step is carried out
    podium train recipes/gym.py:recursive        second rounds, on top of a finished run of the first recipe

Budget as in the paper (section 4.1): 200 iterations of 256 rollouts, 51,200 in all; 16 questions x 16 instead of 4 x 64.
What each part is for and what it was measured to bring: docs/log.md.
"""

import random
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from podium.access import call_for
from podium.errors import WorkerUnavailable
from podium.gym import GymVerifier, Specialist, World, draw_world, specialists
from podium.gym.kinds import SHORT_KINDS
from podium.policies.shipped import conductor_folder
from podium.protocols import Worker
from podium.recipes.gym_skills import measured_skills
from podium.recipes.gym_start import TOPICS, imaginary_skills, lesson, written_for
from podium.recipes.gym_wordings import made_from, other_questions
from podium.training.config import TrainConfig
from podium.training.exploration import Exploration
from podium.training.learner_config import LearnerConfig
from podium.training.sampler import Pools, described
from podium.training.schedule import Schedule
from podium.training.warm_start import Cards, WarmStart
from podium.types import Call, Completion, Problem, Workflow, ask
from podium.workers.pool import Member, WorkerPool
from podium.workers.retried import Retried
from podium.workflow.syntax import WorkflowSyntax

WORLD = World()
WORKERS = specialists(WORLD)
HELD_OUT, HELD_OUT_KIND = "fjord", "code"
"""The best at writing programs: the adaptive run never sees it."""
CARD_READER = {
    "hidden_size": 96,
    "intermediate_size": 256,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
    "rope_theta": 1000,  # prompts of some hundred tokens, in which neighbours have to be told apart
}
"""Sizes of the adaptive policy, 0.4 M parameters: looking things up takes more than 0.16 M."""
FAULTS = 0.3
"""Share of the calls that fail in the faulty run."""


def config(seed: int = 0, world: World = WORLD) -> TrainConfig:
    """The run that works."""
    workers = specialists(world)
    return TrainConfig(
        name="gym",
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
        held_reading=lambda: [*world.problems(n=8000, seed=7), *other_questions(5000, seed=7)],
        learner=LearnerConfig(learning_rate=2e-3, minibatches=2, min_lr_ratio=0.2),
        exploration=Exploration(
            entropy=Schedule(start=0.06, hold=0.55, end=0.7),
            settled_from=0.7,
            forced_prefix=Schedule(start=1.0, hold=0.65, end=0.7),
            longest_of=3,
            drawn_workers=Schedule(start=0.25, hold=0.85, end=0.85),
            draft_sft_weight=Schedule(start=0.3, hold=0.7, end=0.8),
            draft_access=True,
        ),
        cooldown_iterations=0,
    )


def plain(seed: int = 0) -> TrainConfig:
    """GRPO as usual: no openings, no drafts, no entropy, no cost, no curriculum, whole questions, and no other wordings."""
    return replace(
        config(seed),
        name="gym-plain",
        advantage="group_normalised",
        per_step=0.0,
        saving_from=0.0,
        curriculum=False,
        word_dropout=0.0,
        held_reading=list,
        warm_start=replace(warm_start(seed), also_read=list),  # as it was measured, before there were any
        exploration=Exploration(),
    )


def short(seed: int = 0) -> TrainConfig:
    """Three kinds of question and 60 iterations, from the start in the package: what podium demo trains in three minutes."""
    return replace(
        config(seed),
        name="gym-short",
        start=conductor_folder("gym-start"),
        iterations=60,
        problems=lambda: WORLD.problems(kinds=SHORT_KINDS, n=6000, seed=11 + seed),
        held_reading=list,
    )


def drawn(seed: int = 0) -> TrainConfig:
    """The first recipe in the world that is drawn from ``seed``, no setting changed."""
    return replace(config(seed, draw_world(seed)), name="gym-drawn")


def adaptive(seed: int = 0) -> TrainConfig:
    """Every question with three or four workers of six, shuffled, nameless, described by their measured skills.

    The start can read cards, and four times in five it goes by them. What is left to learn is that going by cards pays, which
    plan does, and who has to see what. Nothing is forced: the first line names the workers too, and would hide the plan from the
    reward (docs/log.md, "Changing pools").
    """
    return replace(
        config(seed),
        name="gym-adaptive",
        pool=lambda: described(skills(), pool_without(HELD_OUT)),
        pools=Pools(sizes=(3, 4), shuffled=True, pseudonyms=True),
        held_reading=list,  # and also_read below: as it was measured, before there were any
        exploration=Exploration(
            # Of three drafts the longest is kept likely where a kind fails, or its longest plan would hardly be tried.
            settled_from=0.7,
            longest_of=3,
            draft_sft_weight=Schedule(start=0.3, hold=0.5, end=0.75),
            draft_access=True,
        ),
        learner=LearnerConfig(learning_rate=1.5e-3, minibatches=2, min_lr_ratio=0.2, micro_tokens=1024),
        syntax=WorkflowSyntax(access="positions", cards=True),
        warm_start=replace(
            warm_start(seed),
            workers=(2, 3, 4),
            size=CARD_READER,
            scaled_start=True,
            learning_rate=5e-3,
            cards=Cards(lessons=110, imagine=imaginary_skills, lesson=lesson),
            steps=900,
            problems_per_step=6,
            texts=2,
            openings=5,
            sharpened=1.95,  # long texts have more slips, and what is seldom valid is soon not written
            reading=20,
            micro_tokens=1024,
            max_tokens=200,
            carried_out=None,
            also_read=list,
        ),
    )


def recursive(seed: int = 0) -> TrainConfig:
    """Second rounds (paper, section 4.2 and 3.3), on top of a finished run; a quarter of the questions shows how they come on.

    That run leaves few wrong answers to mend, so most questions are mixed of two, which it misreads as it misreads kinds that it
    never saw. Hindsight alone is learned from: rewards would move the first rounds, and what they say of the second is known.
    """
    usual = config(seed)
    return replace(
        usual,
        name="gym-recursive",
        start=Path("runs") / usual.name / f"seed-{seed}" / "policy",
        iterations=80,
        problems_per_step=64,
        group_size=1,
        recursive=0.25,
        reinforced=False,
        per_step=0.0,
        saving_from=0.0,
        curriculum=False,
        word_dropout=0.0,
        word_mixing=0.8,
        held_reading=list,  # first rounds are held as a whole
        learner=LearnerConfig(learning_rate=1e-3, min_lr_ratio=0.1, warmup_ratio=0.05),
        exploration=Exploration(draft_sft_weight=Schedule(start=1.0, hold=1.0), draft_round=2),
    )


def faulty(seed: int = 0) -> TrainConfig:
    """The first recipe with workers that fail three calls in ten and are asked once more: faults are never scored."""
    return replace(config(seed), name="gym-faulty", pool=unreliable)


def conditional(seed: int = 0) -> TrainConfig:
    """The first recipe in the language with conditions, for comparison: there is little to stop for in this world."""
    usual = config(seed)
    return replace(
        usual,
        name="gym-conditional",
        syntax=WorkflowSyntax(access="positions", conditions=True),
        # A fourth list makes the texts longer by a quarter, and with as few steps the start would read worse for it.
        warm_start=replace(warm_start(seed), steps=1000),
    )


def unreliable() -> WorkerPool:
    """The specialists behind a bad line."""
    return WorkerPool([Member(worker=_bad_line(m.worker, m.name), card=m.card) for m in pool_without()])


def _bad_line(worker: Worker, name: str) -> Worker:
    """``worker`` behind a line that fails, and is tried once more.

    Which attempts fail is drawn from the call alone, so that a run that was killed fails in the same places when it goes on.
    """

    async def asked(call: Call) -> Completion:
        rng = random.Random(f"bad line {name} {call!r}")

        async def attempt(call: Call) -> Completion:
            if rng.random() < FAULTS:
                raise WorkerUnavailable("503, as injected")
            return await worker(call)

        return await Retried(attempt, attempts=2, base_seconds=0.0)(call)

    return asked


def warm_start(seed: int, world: World = WORLD) -> WarmStart:
    """The start of every run: workflows of the right form, workers at random, second rounds included."""
    workers = specialists(world)
    return WarmStart(
        problems=lambda: world.problems(n=8000, seed=7),
        write=written_for,
        topics=TOPICS,
        workers=(len(workers),),
        size={"hidden_size": 64, "intermediate_size": 192, "num_hidden_layers": 3},
        steps=800,
        word_dropout=0.9,
        word_dropout_max=0.8,
        reading=40,
        also_read=lambda: other_questions(5000, seed=7),
        mixed=0.75,
        template=made_from,
        seed=seed,
        carried_out=lambda problem, workflow: carried_out(workers, problem, workflow),
    )


def pool_without(*names: str) -> WorkerPool:
    """The seven specialists but those."""
    return WorkerPool([Member(worker=worker, card=worker.card) for worker in WORKERS if worker.name not in names])


@cache
def skills() -> dict[str, dict[str, float]]:
    """Measured on training problems, the held-out worker's as well: its card is all that will be known of it."""
    return {name: dict(each) for name, each in measured_skills(WORKERS, WORLD).items()}


def carried_out(workers: Sequence[Specialist], problem: Problem, workflow: Workflow) -> str:
    """What the specialists make of a workflow."""
    responses: dict[int, str] = {}
    for index, step in enumerate(workflow.steps):
        responses[index] = workers[step.worker].complete(call_for(workflow, index, ask(problem.question), responses)).text
    return responses[len(workflow.steps) - 1]
