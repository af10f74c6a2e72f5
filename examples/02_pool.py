"""Workers behind an API, here the gym's own server on a free local port: python examples/02_pool.py

For real models change `model`, drop `base_url`, and set the provider's key: ChatWorker(model="openai:gpt-5-mini", api_key=...).
"""

import asyncio

from podium import Call, Card, Conductor, Member, WorkerPool, solo
from podium.gym.server import make_app, running
from podium.gym.specialists import specialists
from podium.gym.world import World
from podium.workers.chat import ChatWorker
from podium.workers.connections import Connections
from podium.workers.limited import Limit, Limited
from podium.workers.retried import Retried


async def main() -> None:
    world = World()
    [problem] = world.problems(kinds=("choice",), n=1)
    async with running(make_app(specialists(world))) as url, Connections() as connections:
        members = []
        for name in ("brook", "delta"):
            chat = ChatWorker(model=f"openai:{name}", base_url=f"{url}/v1", api_key="unused", connections=connections)
            members.append(Member(worker=Retried(Limited(chat, Limit(concurrency=8))), card=Card(name=name)))
        completion = await Conductor(solo(1), WorkerPool(members))(Call.plain(problem.question))
    print(problem.question, "->", completion.text.splitlines()[-1])


asyncio.run(main())
