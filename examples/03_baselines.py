"""Baselines are policies over the same pool, judged on the same problems: python examples/03_baselines.py"""

import asyncio

from rich.console import Console

from podium import Conductor, Member, WorkerPool, mixture_of_agents, self_reflection, solo
from podium.evaluation.evaluate import evaluate
from podium.evaluation.metrics import summarise
from podium.evaluation.report import terminal_table
from podium.gym.specialists import specialists
from podium.gym.verify import GymVerifier
from podium.gym.world import World


async def main() -> None:
    world = World()
    pool = WorkerPool([Member(worker=worker, card=worker.card) for worker in specialists(world)])
    strongest = pool.names.index("ember")
    arms = {
        "one worker": Conductor(solo(strongest), pool),
        "5x self-reflection": Conductor(self_reflection(strongest), pool),
        "mixture of agents": Conductor(mixture_of_agents(strongest), pool, max_steps=8),
    }
    results = await evaluate(arms, world.problems(split="held_out_numbers", n=200), GymVerifier())
    Console(width=200).print(terminal_table(summarise(results)))


asyncio.run(main())
