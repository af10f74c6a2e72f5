"""A Conductor over Inspect's own models: their limits, caches, retries and logs stay Inspect's.

inspect eval task.py --model openai/gpt-5 --solver podium/conduct -S "workers=openai/gpt-5-mini,anthropic/claude-haiku-4-5"
"""

from inspect_ai.model import Model, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver

from podium.conduct import Conductor
from podium.errors import Blame, ConfigError, PodiumError
from podium.integrations.inspect_messages import config_of, messages_of, output_of, question_of
from podium.integrations.inspect_spans import spanned
from podium.policies.chat import ChatPolicy
from podium.types import Call, Card, Completion, Usage
from podium.workers.pool import Member, WorkerPool
from podium.workers.render import render
from podium.workflow.syntax import WorkflowSyntax


@solver
def conduct(workers: str | list[str], rounds: int = 1, max_steps: int = 5, cards: bool = False) -> Solver:
    """The model under evaluation writes the workflow, ``workers`` (Inspect's names of models) carry it out.

    ``cards`` tells it their names; without, they are numbers, as in the paper. A text that is no workflow gives an empty answer.
    """
    names = workers.split(",") if isinstance(workers, str) else list(workers)
    if not all(names):
        raise ConfigError("workers=... names models as Inspect does, with commas between them")

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        # A model may be there twice, so its place is part of its name.
        pool = WorkerPool(
            [
                Member(worker=_InspectWorker(get_model(name.strip())), card=Card(name=f"{index} {name.strip()}"))
                for index, name in enumerate(names)
            ]
        )
        syntax = WorkflowSyntax(cards=cards)
        policy = ChatPolicy(_InspectWorker(get_model()), syntax=syntax)
        conductor = spanned(Conductor(policy, pool, rounds=rounds, max_steps=max_steps, syntax=syntax))
        model = str(state.model)
        try:
            completion = await conductor(Call(question=question_of(state.messages)))
        except PodiumError as error:
            if error.blame is not Blame.POLICY:
                raise
            state.metadata["podium_error"] = str(error)
            completion = Completion(text="")
        state.output = output_of(completion, model)
        state.messages.append(state.output.message)
        return state

    return solve


class _InspectWorker:
    """One of Inspect's models as a worker. Its cost is unknown where Inspect has no price for it."""

    def __init__(self, model: Model) -> None:
        self._model = model

    async def __call__(self, call: Call) -> Completion:
        output = await self._model.generate(messages_of(render(call)), config=config_of(call.sampling))
        used = output.usage
        usage = Usage(cost_usd=None)
        if used is not None:
            usage = Usage(prompt_tokens=used.input_tokens, completion_tokens=used.output_tokens, cost_usd=used.total_cost)
        reason = {"max_tokens": "length", "content_filter": "content_filter"}.get(output.stop_reason, "stop")
        return Completion(text=output.completion, finish_reason=reason, usage=usage, seconds=output.time or 0.0)
