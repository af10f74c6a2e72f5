"""What an answer cost and what was paid for it now are two figures: a reply from the journal was paid before."""

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from podium.pools.models import PoolCatalog
from podium.pools.opened import OpenPool
from podium.types import Card, Usage
from podium.workers.budget import Budget
from podium.workers.journal import Journal
from podium.workers.metered import Metered
from podium.workers.pool import Member, WorkerPool
from podium.workflow.draw import price
from tests.serving.live import Live, Puppet, live, said
from tests.serving.test_chat_api import ASKED

CARD = Card(name="w", prompt_usd=1e-6, completion_usd=1e-5)


async def asked(server: Live, path: str, **more: Any) -> httpx.Response:
    body = {"input": ASKED[0]["content"]} if path == "responses" else {"messages": ASKED}
    async with httpx.AsyncClient(timeout=60) as http:
        return await http.post(f"{server.url}/v1/{path}", json={"model": "podium", **body, **more})


def catalog_over(journal: Journal, puppet: Puppet) -> PoolCatalog:
    worker = journal.worker(Metered(puppet, CARD, 100, []), "w")
    return PoolCatalog(OpenPool(workers=WorkerPool([Member(worker=worker, card=CARD)])), "solo:w")


def last(reply: httpx.Response) -> dict[str, Any]:
    """The newest ``podium`` object that tells of the whole request."""
    lines = [line.removeprefix("data: ") for line in reply.text.splitlines() if line.startswith("data: {")]
    told = [json.loads(line).get("podium") or json.loads(line).get("response", {}).get("podium") for line in lines]
    found: dict[str, Any] = [each for each in told if each and "paid_usd" in each][-1]
    return found


async def test_a_reply_from_the_journal_cost_what_it_cost_and_is_not_paid_again(tmp_path: Path) -> None:
    with Journal(tmp_path / "calls.db", run="serve") as journal:
        puppet = said("42")
        async with live(catalog_over(journal, puppet), tmp_path) as server:
            for path in ("chat/completions", "responses"):
                for again in (False, True, True):
                    reply = await asked(server, path)
                    story, paid = reply.json()["podium"], 0.0 if again else 0.001
                    assert (story["cost_usd"], story["paid_usd"], story["uncertain_usd"]) == (0.001, paid, 0)
                    assert float(reply.headers["X-Podium-Cost-Usd"]) == 0.001
                    assert float(reply.headers["X-Podium-Paid-Usd"]) == paid
                    run = await server.accounts.runs.get(story["run"], key=None)
                    assert run is not None
                    assert (run.usage.cost_usd, run.paid_usd) == (0.001, paid)
                streamed = last(await asked(server, path, stream=True))
                assert (streamed["cost_usd"], streamed["paid_usd"]) == (0.001, 0)
            async with httpx.AsyncClient() as http:
                metrics = (await http.get(f"{server.url}/metrics")).text
        assert len(puppet.calls) == 2, "the two endpoints ask in other words"
    assert 'podium_usd_total{model="podium"} 0.008' in metrics
    assert 'podium_paid_usd_total{model="podium"} 0.002' in metrics


async def test_of_two_equal_requests_at_once_one_pays(tmp_path: Path) -> None:
    with Journal(tmp_path / "calls.db", run="serve") as journal:
        async with live(catalog_over(journal, Puppet(lambda call: "42", seconds=0.3)), tmp_path) as server:
            both = await asyncio.gather(*(asked(server, "chat/completions") for _ in range(2)))
    stories = [reply.json()["podium"] for reply in both]
    assert sorted(story["paid_usd"] for story in stories) == [0, 0.001]
    assert [story["cost_usd"] for story in stories] == [0.001, 0.001]


async def test_several_choices_are_told_once_what_all_of_them_paid(tmp_path: Path) -> None:
    with Journal(tmp_path / "calls.db", run="serve") as journal:
        async with live(catalog_over(journal, said("42")), tmp_path) as server:
            whole = (await asked(server, "chat/completions", n=2)).json()["podium"]
            assert (whole["cost_usd"], whole["paid_usd"]) == (0.002, 0.002)
            more = {"stream": True, "stream_options": {"include_usage": True}}
            streamed = await asked(server, "chat/completions", n=3, **more)
            assert streamed.text.count('"paid_usd"') == 1, "with the totals, and not beside one choice of several"
            assert (last(streamed)["cost_usd"], last(streamed)["paid_usd"]) == (0.003, 0.001)


def test_a_budget_tells_what_was_paid_under_it_from_what_was_charged_before() -> None:
    budget = Budget(usd=1.0)
    budget.charge(Usage(prompt_tokens=5, cost_usd=0.3), uncertain_usd=0.1)
    budget.settle(budget.reserve(0.2, 9), Usage(prompt_tokens=2, completion_tokens=1, cost_usd=0.1))
    budget.release(budget.reserve(0.2, 9), uncertain=True)
    assert (budget.spent.cost_usd, budget.paid) == (0.4, Usage(prompt_tokens=2, completion_tokens=1, cost_usd=0.1))
    unpriced = Budget()
    unpriced.settle(unpriced.reserve(None, 9), Usage(prompt_tokens=2, cost_usd=None))
    assert unpriced.paid.cost_usd is None


@pytest.mark.parametrize(
    ("cost", "paid", "words"),
    [
        (0.5, 0.5, "$0.5000"),
        (0.5, None, "$0.5000"),
        (0.5, 0.0, "$0.5000, $0.000000 of it paid now"),
        (None, 0.25, "unknown, $0.2500 of it paid now"),
    ],
)
def test_the_two_figures_in_words(cost: float | None, paid: float | None, words: str) -> None:
    assert price(Usage(cost_usd=cost), paid) == words
