"""Made-up workflows whose steps call tools, made-up clients: the answer is that of the same workflow without tools, paid once."""

import json
import random
from dataclasses import replace
from typing import Any

import pytest

from podium.conduct import Conductor
from podium.errors import PodiumError, WorkerUnavailable
from podium.jsonl import dumps
from podium.policies.fixed import FixedPolicy
from podium.request_options import RequestOptions
from podium.serving.asking import ChoiceDone, answer
from podium.serving.conversation import ParsedRequest
from podium.serving.paused_step import paused, read
from podium.types import Call, Card, Completion, Message, PausedWorkflow, ResponseOptions, Step, Tool, ToolCall, Usage, Workflow
from podium.workers.direct import DirectWorker
from podium.workers.pool import Member, WorkerPool
from podium.workflow.syntax import WorkflowSyntax

QUESTION = Message(role="user", content="What is in the boxes?")
TOOLS = ResponseOptions(tools=(Tool(name="look"),))
SYNTAX = WorkflowSyntax(conditions=True)


class Scene:
    """A workflow, how often each of its steps calls tools and what it says then, and what has been paid."""

    def __init__(self, draw: random.Random) -> None:
        steps = []
        count = draw.randint(2, 6)
        for index in range(count):
            access = tuple(seen for seen in range(index) if draw.random() < 0.6)
            if index == count - 1 and not access:
                access = (index - 1,)
            conditional = len(access) > 1 and index < count - 1 and draw.random() < 0.5
            condition = "unless 2 agree" if conditional else "always"
            steps.append(Step(worker=draw.randrange(3), subtask=f"S{index}", access=access, condition=condition))
        self.workflow = Workflow(steps=tuple(steps))
        self.rounds = [draw.randint(0, 3) for _ in steps]
        self.at_once = [draw.randint(1, 2) for _ in steps]
        self.says = [draw.choice(["42", "43"]) for _ in steps]
        self.breaks = {(draw.randrange(count), draw.randint(0, 3)) for _ in range(draw.randint(0, 3))}
        self.paid: list[tuple[int, int]] = []

    async def work(self, call: Call) -> Completion:
        """As a model that looks, and forgets nothing."""
        step = int(call.subtask.removeprefix("S"))
        told = [turn.content for turn in call.turns if turn.role == "tool"]
        looked = sum(bool(turn.tool_calls) for turn in call.turns)
        wanted = [f"{step}.{n}.{k}" for n in range(looked) for k in range(self.at_once[step])]
        assert sorted(told) == wanted, "its own results, and all of them"
        if (step, looked) in self.breaks:
            self.breaks.discard((step, looked))
            raise WorkerUnavailable("gone")
        self.paid.append((step, looked))
        usage = Usage(prompt_tokens=1, cost_usd=1.0)
        if call.response_options.tools and looked < self.rounds[step]:
            calls = tuple(
                ToolCall(id=f"call_{k}", name="look", arguments=json.dumps([step, looked, k])) for k in range(self.at_once[step])
            )
            return Completion(text=f"S{step} looks", tool_calls=calls, usage=usage)
        shown = sorted({f"{seen.subtask} said {seen.response}" for seen in call.visible})
        last = step == len(self.workflow.steps) - 1
        return Completion(text=f"{shown}" if last else self.says[step], usage=usage)

    def conductor(self) -> Conductor:
        pool = WorkerPool([Member(worker=self.work, card=Card(name=f"w{number}")) for number in range(3)])
        return Conductor(FixedPolicy(self.workflow, SYNTAX), pool, max_steps=9, syntax=SYNTAX)


class Client:
    """Runs tools, sends results in any order, now and then again, and never more than it was asked for."""

    def __init__(self, scene: Scene, draw: random.Random) -> None:
        self.scene, self.draw = scene, draw
        self.one = draw.random() < 0.3
        self.said: list[Message] = [QUESTION]
        self.kept: dict[tuple[str, ...], str] = {}
        self.is_workflow = False

    def _parsed(self) -> ParsedRequest:
        options = replace(TOOLS, one_tool_call=self.one)
        call = Call(question=tuple(self.said), response_options=options, tools_in_every_step=True)
        return ParsedRequest(model="podium", call=call, options=RequestOptions())

    async def request(self) -> ChoiceDone:
        """One request, as the server works on it."""
        parsed = self._parsed()
        ids = tuple(sorted({turn.tool_call_id for turn in self.said[_newest(self.said) :] if turn.role == "tool"}))
        going = read(ids, self.kept.get(ids), parsed, ["w0", "w1", "w2"]) if ids else None
        self.is_workflow = going is not None and going.is_workflow
        if going is None:
            assert not ids, "what waits is found"
            done = await answer(self.scene.conductor(), parsed.call)
        elif going.is_workflow:

            async def note(workflow: PausedWorkflow) -> None:
                self.kept[ids] = dumps(going.progress(workflow))

            done = await answer(self.scene.conductor(), replace(going.call, tools_in_every_step=True, on_progress=note))
        else:
            done = await self._last_step(going.call, going.worker)
        waits = None if done.failure is not None else paused(done.completion, parsed, going)
        if waits is not None:
            self.kept[tuple(sorted(call.id for call in done.completion.tool_calls))] = dumps(waits)
        return done

    async def _last_step(self, call: Call, worker: str) -> ChoiceDone:
        return await answer(DirectWorker(self.scene.conductor().pool.named(worker)), call)

    async def until_answered(self) -> str:
        """The answer."""
        for _ in range(60):
            done = await self.request()
            if done.failure is not None:
                if len(self.said) == 1:
                    raise done.failure.error()
                continue
            is_inner, calls = done.completion.paused is not None, done.completion.tool_calls
            if self.is_workflow and self.draw.random() < 0.3:
                continue  # its answer got lost on the way: it asks again
            if not calls:
                return done.completion.text
            assert not (self.one and is_inner) or len({json.loads(call.arguments)[0] for call in calls}) == 1
            results = [Message(role="tool", content=_ran(call), tool_call_id=call.id) for call in calls]
            self.draw.shuffle(results)
            self.said += [Message(role="assistant", content=done.completion.text, tool_calls=calls), *results]
        raise AssertionError("no end")


def _newest(said: list[Message]) -> int:
    return max((index for index, turn in enumerate(said) if turn.tool_calls), default=len(said))


def _ran(call: ToolCall) -> str:
    return ".".join(map(str, json.loads(call.arguments)))


@pytest.mark.parametrize("seed", range(100))
async def test_made_up_workflows_and_clients(seed: int) -> None:
    draw = random.Random(seed)
    scene = Scene(draw)
    breaks, scene.breaks = scene.breaks, set()
    plain: Any = Call(question=(QUESTION,))
    wanted = (await scene.conductor().conduct(plain)).text
    once = {step for step, _ in scene.paid}
    scene.paid, scene.breaks = [], {*breaks}
    client = Client(scene, draw)
    while True:
        try:
            assert await client.until_answered() == wanted
            break
        except PodiumError:  # before anything was kept: it begins anew
            scene.paid = []
    assert len(set(scene.paid)) == len(scene.paid), "nothing is paid twice"
    if not breaks and all(step.condition == "always" for step in scene.workflow.steps):
        assert {step for step, _ in scene.paid} == once, "and every step is carried out"
