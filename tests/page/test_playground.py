"""What visitors can play with is what the pool brings: its problems, judged by the verifier of their kind."""

from dataclasses import replace

from podium.hosting import _playground
from podium.pools.gym import gym_pool
from podium.pools.models import PoolCatalog
from podium.pools.opened import OpenPool
from podium.types import Call, Card, Problem
from podium.workers.budget import Budget
from podium.workers.pool import Member, WorkerPool
from podium.workers.scripted import Scripted

ALONE = 'model_id = [0]\nsubtasks = ["Answer."]\naccess_list = [[]]'


async def test_a_pool_of_any_kind_with_problems_of_its_own() -> None:
    problems = [Problem(question="Which is a colour?\n\nA) seven\nB) red", target="B", kind="multiple_choice", source="test")]
    workers = WorkerPool([Member(worker=Scripted("Answer: B"), card=Card(name="chooser"))])
    async with _playground(OpenPool(workers=workers, problems=lambda: problems)) as playground:
        assert playground is not None
        completion = await playground.conductor(ALONE).conduct(Call.plain(problems[0].question))
        assert (await playground.verifier(playground.problems[0], completion.text)).correct
        assert not (await playground.verifier(playground.problems[0], "Answer: A")).correct


async def test_it_is_the_problems_that_count_and_not_the_workers_names() -> None:
    pool = gym_pool(Budget())
    async with _playground(pool) as playground:
        assert playground is not None
        assert len(playground.problems) == 120
    assert "best" in PoolCatalog(pool).baselines, "what Play shows at the end"
    async with _playground(replace(pool, problems=None)) as playground:
        assert playground is None
    async with _playground(None) as playground:
        assert playground is None
