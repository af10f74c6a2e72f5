"""Train a Conductor for a few iterations, from the start policy in the package, and ask it something.

It needs ``pip install 'podium[train]'``. The whole run is ``podium train recipes/gym.py`` (docs/training.md).
"""

import asyncio
import tempfile
from dataclasses import replace
from pathlib import Path

from podium import Call, Conductor
from podium.policies.local import LocalPolicy
from podium.policies.shipped import conductor_folder
from podium.recipes.gym import WORLD, config, pool_without
from podium.training.run import train


async def main() -> None:
    """Eight questions, eight workflows each, four times; then one question to what came of it."""
    recipe = replace(config(seed=1), start=conductor_folder("gym-start"), iterations=4, problems_per_step=8, group_size=8)
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        policy = LocalPolicy.load(await train(recipe, run))
        conductor = Conductor(policy, pool_without(), syntax=policy.dialect.syntax)
        question = WORLD.problems(n=1)[0].question
        completion = await conductor(Call.plain(question))
        print(question, completion.text, completion.transcripts[0].workflow, sep="\n\n")


if __name__ == "__main__":
    asyncio.run(main())
