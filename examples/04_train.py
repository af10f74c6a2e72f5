"""Train a tiny Conductor in about a minute: one kind of question, four workers, a policy of 0.1 M parameters.

It starts from a policy that writes valid workflows and chooses workers at random, and learns from rewards alone whom to ask.
Needs ``pip install 'podium[train]'``. The real thing is ``podium train recipes/gym.py`` (docs/training.md).
"""

import asyncio
import tempfile
from pathlib import Path

from podium.gym import GymVerifier, World, specialists
from podium.policies.local import use_threads
from podium.training.checkpoint import RunFolder
from podium.training.config import TrainConfig
from podium.training.engine import ReferenceEngine
from podium.training.exploration import Exploration
from podium.training.imitation import warm_started
from podium.training.learner_config import LearnerConfig
from podium.training.recipe import fingerprint
from podium.training.trainer import Trainer
from podium.training.warm_start import WarmStart
from podium.workers.pool import Member, WorkerPool
from podium.workflow.language import Language

WORLD = World()
POOL = WorkerPool([Member(worker=worker, card=worker.card) for worker in specialists(WORLD, 4)])
WARM_START = WarmStart(
    problems=lambda: WORLD.problems(kinds=("choice",), n=400, seed=7),
    steps=200,
    questions=4,
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
CONFIG = TrainConfig(
    name="tiny",
    problems=lambda: WORLD.problems(kinds=("choice",), n=400),
    pool=lambda: POOL,
    verifier=GymVerifier(),
    language=Language(access="binary"),
    warm_start=WARM_START,
    iterations=30,
    questions=8,
    rollouts=12,
    learner=LearnerConfig(learning_rate=1e-3),
    exploration=Exploration(entropy=0.05, opened=0.5),
)


async def main() -> None:
    start = warm_started(WARM_START, CONFIG.language)
    engine, untrained = (ReferenceEngine(start, CONFIG.learner, iterations=CONFIG.iterations) for _ in range(2))
    with tempfile.TemporaryDirectory() as folder:
        await Trainer(
            CONFIG,
            engine,
            untrained,
            POOL,
            RunFolder(Path(folder) / "run", fingerprint(CONFIG)),
            on_iteration=lambda seen, _: print(
                f"{seen.iteration + 1:3}  right {seen.correct:4.0%}  valid {seen.valid:4.0%}  steps {seen.steps:.2f}"
            ),
        ).run()


if __name__ == "__main__":
    use_threads(1)
    asyncio.run(main())
