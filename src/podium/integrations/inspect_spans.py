"""A run as Inspect's transcript shows it: one span for the plan, one for each step, with what was asked and what came of it."""

import json

from inspect_ai.log import transcript
from inspect_ai.util import span

from podium.conduct import Conductor
from podium.jsonl import dumps
from podium.protocols import Policy, Worker
from podium.types import Brief, Call, Card, Completion, Generation

SOURCE = "podium"


def spanned(conductor: Conductor) -> Conductor:
    """``conductor`` with its policy and its workers writing spans."""
    return conductor.wrapped(policy=_SpannedPolicy, worker=_SpannedWorker)


class _SpannedPolicy:
    def __init__(self, policy: Policy) -> None:
        self._policy = policy

    async def write(self, brief: Brief, n: int = 1) -> list[Generation]:
        async with span(f"plan, round {len(brief.previous_rounds) + 1}", type="podium.plan"):
            written = await self._policy.write(brief, n)
            transcript().info({"written": [generation.text for generation in written]}, source=SOURCE)
            return written


class _SpannedWorker:
    def __init__(self, worker: Worker, card: Card) -> None:
        self._worker = worker
        self._name = card.name

    async def __call__(self, call: Call) -> Completion:
        async with span(self._name, type="podium.step"):
            transcript().info({"subtask": call.subtask, "sees": json.loads(dumps(call.visible))}, source=SOURCE)
            completion = await self._worker(call)
            usage = json.loads(dumps(completion.usage))
            transcript().info({"response": completion.text, "usage": usage, "seconds": completion.seconds}, source=SOURCE)
            return completion
