"""A real server with the page: run by the tests as a program. Arguments: port, folder, and "keys" where visitors sign in."""

import asyncio
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import uvicorn

from podium.acting.human import HumanWorker, HumanWorkerConfig
from podium.conduct import Conductor
from podium.errors import ConfigError, WorkerUnavailable
from podium.gym.questions import kind_of
from podium.gym.specialists import specialists
from podium.gym.stored import stored
from podium.gym.verify import GymVerifier
from podium.gym.world import World
from podium.jsonl import append, dumps
from podium.page.attach import attach
from podium.page.site import Playground
from podium.policies.chat import ChatPolicy
from podium.policies.fixed import FixedPolicy, by_kind, consensus, solo
from podium.policies.voting import with_vote
from podium.protocols import ServedModel, Worker
from podium.request_options import RequestOptions
from podium.serving.accounts import Accounts
from podium.serving.app import make_app
from podium.serving.store.database import Database
from podium.types import Call, Card, Completion, Step, ToolCall, ToolUse, Usage, Workflow
from podium.workers.pool import Member, WorkerPool
from podium.workers.scripted import Scripted
from tests.page.hostile import HIT, PAYLOADS

ANY = RequestOptions()
EVIL = f'<img src=x onerror="{HIT}">'


class Slow:
    """Takes ten minutes, and leaves a file where it was stopped before. Each call is a line of ``paid``."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def __call__(self, call: Call) -> Completion:
        append(self._folder / "paid", dumps([message.content for message in call.question]))
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            (self._folder / "stopped").touch()
            raise
        return Completion(text="late")


async def talks(call: Call) -> Completion:
    """Says a word at a time, for a second and a half."""
    words = [f"word {number} " for number in range(30)]
    for word in words:
        await asyncio.sleep(0.05)
        if call.on_token is not None:
            call.on_token(word)
    return Completion(text="".join(words), usage=Usage(completion_tokens=60, cost_usd=None))


class Plans:
    """Writes a workflow of two steps for more dollars than they cost; the second half when the file ``go_on`` is there."""

    def __init__(self, folder: Path) -> None:
        self._go_on = folder / "go_on"

    async def __call__(self, call: Call) -> Completion:
        text = 'model_id = [1, 0]\nsubtasks = ["Think of it.", "Say it."]\naccess_list = [[], [0]]'
        assert call.on_token is not None
        call.on_token(text[:30])
        while not self._go_on.exists():  # noqa: ASYNC110 - another process makes it
            await asyncio.sleep(0.05)
        call.on_token(text[30:])
        return Completion(text=text, usage=Usage(prompt_tokens=200, completion_tokens=50, cost_usd=0.02), seconds=1.5)


async def searches(call: Call) -> Completion:
    """Called a tool by itself, and asks the client to call another."""
    used = ToolUse(tool=f"search {EVIL}", arguments=f'{{"for": "{EVIL}"}}', result=EVIL, seconds=0.2)
    asked = ToolCall(id="call_1", name=f"deploy {EVIL}", arguments=EVIL)
    usage = Usage(prompt_tokens=1000, completion_tokens=5, cached_tokens=900, cost_usd=0.01)
    return Completion(text="", tool_uses=(used,), tool_calls=(asked,), usage=usage)


def remembers(call: Call) -> str:
    """Says how much it was told."""
    return f"I was told {len(call.question)} things, the first was {call.question[0].content!r}."


class Small:
    """An offer of the gym's specialists, and of some workers that no page should have to meet."""

    def __init__(self, folder: Path) -> None:
        self._plans = Plans(folder)
        self._chosen = folder / "chosen.jsonl"
        self.gym = WorkerPool([Member(worker=worker, card=worker.card) for worker in specialists(World())])
        odd: dict[str, Worker] = {
            "slow": Slow(folder),
            "talks": talks,
            "huge": Scripted("0123456789" * 1_000_000),
            "broken": Scripted(_unavailable),
            "remembers": Scripted(remembers),
            "searches": searches,
            "editor": HumanWorker(HumanWorkerConfig(name="editor", kind="human", timeout_seconds=60, usd_per_call=0)),
        }
        self.odd = WorkerPool([Member(worker=worker, card=Card(name=name, about=EVIL)) for name, worker in odd.items()])
        evil = Scripted(_evil)
        self.evil = WorkerPool([Member(worker=evil, card=Card(name=EVIL)), Member(worker=evil, card=Card(name="{{evil}}"))])

    task_worker = None
    tools_in_every_step = False

    @property
    def models(self) -> Sequence[str]:
        written = ("best", "three", "plans", "in turn", "vote", "slow", "talks", "huge", "broken")
        odd = ("remembers", "searches", "editor", "evil")
        return (*written, *odd, *self.gym.names)

    @property
    def baselines(self) -> Mapping[str, str]:
        return {"all": "brook answers three times", "best": "the best that is known"}

    @property
    def cards(self) -> Sequence[Card]:
        return self.gym.cards

    def conductor(self, model: str, options: RequestOptions = ANY) -> ServedModel:
        if options != ANY:
            append(self._chosen, dumps([model, options.workers, options.budget_usd, options.rounds]))
        if (model == "three" and options.policy is None) or options.policy == "all":
            return Conductor(consensus(1, judge=0, samples=3), self.gym)
        if model == "best" or options.policy == "best":
            return Conductor(by_kind(lambda text: kind_of(text) or "", stored().optima), self.gym)
        if model == "plans":
            return Conductor(ChatPolicy(self._plans), self.gym)
        if model == "in turn":
            in_turn = (Step(worker=0, subtask="x"), Step(worker=1, subtask="y", access=(0,)))
            return Conductor(FixedPolicy(Workflow(steps=in_turn)), self.odd)
        if model == "vote":
            counted = Step(worker=len(self.gym), subtask="?", access=(0, 1, 2, 3))
            voting = Workflow(steps=(*(Step(worker=1, subtask=said) for said in "abcd"), counted))
            return Conductor(FixedPolicy(voting), with_vote(self.gym))
        if model == "evil":
            steps = (Step(worker=0, subtask=EVIL), Step(worker=1, subtask=f"{{{{{HIT}}}}} ${{{HIT}}}", access=(0,)))
            return Conductor(FixedPolicy(Workflow(steps=steps)), self.evil)
        for pool in (self.gym, self.odd):
            if model in pool.names:
                return Conductor(solo(pool.names.index(model)), pool)
        raise ConfigError(f"there is no model {model}")


def _evil(call: Call) -> str:
    asked = call.question or call.visible[0].question
    number = re.search(r"\d+", asked[-1].content)
    return PAYLOADS[int(number[0])] if number else ""


def _unavailable(call: Call) -> str:
    raise WorkerUnavailable(f"503 {EVIL}")


def _known(question: str) -> None:
    """As a pool does that is not for any question; the tests ask a good deal."""
    if question.startswith("Nobody can answer"):
        raise ConfigError("the pool is not for this")


async def main(port: int, folder: Path, *, with_keys: bool) -> None:
    """Serve until killed."""
    catalog = Small(folder)
    async with Database(f"sqlite:///{folder}/runs.db") as database:
        accounts = Accounts(database=database, replica="page", with_keys=with_keys, store_content=True, request_usd=0.1)
        app = make_app(catalog, accounts, version="0")
        playground = Playground(
            problems=World().problems(split="held_out_numbers", n=120),
            verifier=GymVerifier(),
            conductor=lambda lists: Conductor(FixedPolicy(lists), catalog.gym),
            check_question=_known,
            answers_only_these=True,
        )
        attach(app, app.state.service, training=folder / "training", playground=playground, pool_files=folder)
        await uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="warning")).serve()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), Path(sys.argv[2]), with_keys="keys" in sys.argv[3:]))
