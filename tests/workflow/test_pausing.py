"""A workflow whose steps ask for the client's tools, at the Conductor: what is kept of it, and how it goes on."""

from dataclasses import replace

import pytest

from podium.conduct import Conductor
from podium.errors import ConfigError, WorkerUnavailable
from podium.events import Event, StepFinished, StepStarted
from podium.jsonl import dumps, loads
from podium.policies.fixed import FixedPolicy
from podium.types import Call, Card, Completion, Message, PausedWorkflow, ResponseOptions, Tool, ToolCall, Usage
from podium.workers.pool import Member, WorkerPool
from podium.workflow.syntax import WorkflowSyntax

PLAN = 'model_id = [0, 1, 2]\nsubtasks = ["A.", "B.", "C."]\naccess_list = [[], [], "all"]'
ASKED = replace(Call.plain("6 times 7?"), response_options=ResponseOptions(tools=(Tool(name="look"),)), tools_in_every_step=True)


class Looking:
    """Asks for the tool ``rounds`` times, then says its name and what it was told."""

    def __init__(self, name: str, rounds: int = 0, *, takes_tools: bool = True, fails: bool = False) -> None:
        self.name, self.rounds, self.takes_tools, self.fails = name, rounds, takes_tools, fails
        self.calls: list[Call] = []

    def check(self, response_options: ResponseOptions) -> None:
        if response_options.tools and not self.takes_tools:
            raise ConfigError("it calls no tools")

    async def __call__(self, call: Call) -> Completion:
        self.calls.append(call)
        self.check(call.response_options)
        if self.fails:
            raise WorkerUnavailable("gone")
        told = [turn.content for turn in call.turns if turn.role == "tool"]
        usage = Usage(prompt_tokens=10, cost_usd=0.01)
        if call.response_options.tools and len(told) < self.rounds:
            wanted = ToolCall(id="call_0", name="look", arguments="{}")
            return Completion(text=f"{self.name} looks", tool_calls=(wanted,), usage=usage)
        seen = [step.response for step in call.visible]
        if call.on_token is not None:
            call.on_token(f"{self.name} {told} {seen}")
        return Completion(text=f"{self.name} {told} {seen}", usage=usage)


def team(*workers: Looking) -> WorkerPool:
    return WorkerPool([Member(worker=worker, card=Card(name=worker.name)) for worker in workers])


def with_results(paused: PausedWorkflow) -> Call:
    """The call that goes on when the client has run what it was handed out."""
    given = {step.index for step in paused.handed_out}
    asking = []
    for step in paused.asking:
        if step.index in given and step.asks is not None:
            results = [Message(role="tool", content=f"for {step.index}", tool_call_id=c.id) for c in step.asks.tool_calls]
            turns = (*step.call.turns, step.asks, *results)
            step = replace(step, call=replace(step.call, turns=turns), asks=None)
        asking.append(step)
    return replace(ASKED, paused=replace(paused, asking=tuple(asking)))


async def asks(conductor: Conductor, call: Call) -> PausedWorkflow:
    completion = await conductor.conduct(call)
    assert completion.paused is not None
    assert completion.text == ""
    return completion.paused


async def test_what_is_kept_survives_the_disk_and_costs_nothing_again() -> None:
    workers = [Looking("a", 2), Looking("b", 1), Looking("c")]
    conductor = Conductor(FixedPolicy(PLAN), team(*workers))
    call, spent = ASKED, 0.0
    for handed in ((0, 1), (0,)):
        completion = await conductor.conduct(call)
        assert completion.paused is not None
        assert tuple(step.index for step in completion.paused.handed_out) == handed
        spent += completion.usage.cost_usd or 0.0
        call = with_results(loads(PausedWorkflow, dumps(completion.paused)))
    done = await conductor.conduct(call)
    assert done.text == "c [] [\"a ['for 0', 'for 0'] []\", \"b ['for 1'] []\"]"
    assert spent + (done.usage.cost_usd or 0.0) == pytest.approx(0.01 * 6)
    assert [result.kept for result in done.transcripts[0].results] == [False, True, False]
    assert [len(worker.calls) for worker in workers] == [3, 2, 1]


async def test_every_step_that_was_paid_is_told_at_once_to_whoever_keeps_it() -> None:
    kept: list[list[bool]] = []

    async def keep(paused: PausedWorkflow) -> None:
        kept.append([result is not None for result in paused.results])

    plan = 'model_id = [0, 1, 2]\nsubtasks = ["A.", "B.", "C."]\naccess_list = [[], [0], [1]]'
    conductor = Conductor(FixedPolicy(plan), team(Looking("a"), Looking("b"), Looking("c", 1)))
    await conductor.conduct(replace(ASKED, on_progress=keep))
    assert kept[:2] == [[True, False, False], [True, True, False]]


async def test_a_worker_that_takes_no_tools_is_asked_without() -> None:
    workers = [Looking("a", 1, takes_tools=False), Looking("b", 1), Looking("c")]
    conductor = Conductor(FixedPolicy(PLAN), team(*workers), answering=[2])
    paused = await asks(conductor, ASKED)
    assert [step.index for step in paused.handed_out] == [1]
    done = await conductor.conduct(with_results(paused))
    assert done.text.startswith("c")
    assert len(workers[0].calls) == 1


@pytest.mark.parametrize("choice", ["none", "required", "look"])
async def test_only_the_last_step_can_be_made_to_call_a_tool(choice: str) -> None:
    workers = [Looking("a"), Looking("b"), Looking("c")]
    conductor = Conductor(FixedPolicy(PLAN), team(*workers))
    await conductor.conduct(replace(ASKED, response_options=replace(ASKED.response_options, tool_choice=choice)))
    assert workers[2].calls[0].response_options.tool_choice == choice
    options = workers[0].calls[0].response_options
    assert options.tool_choice == "auto"
    assert bool(options.tools) is (choice == "required"), "a client that demands one tool is given no other one's call"


async def test_a_failure_beside_one_that_waits_is_the_answer_and_all_that_was_paid_is_told() -> None:
    workers = [Looking("a", 1), Looking("b", fails=True), Looking("c")]
    with pytest.raises(WorkerUnavailable) as found:
        await Conductor(FixedPolicy(PLAN), team(*workers)).conduct(ASKED)
    [transcript] = found.value.transcripts
    assert transcript.usage.cost_usd == pytest.approx(0.01)
    assert [result.failure is None for result in transcript.results] == [True, False, False]
    assert workers[2].calls == []


async def test_a_pool_that_has_changed_meanwhile_is_asked_by_name_or_says_who_is_gone() -> None:
    before = [Looking("a", 1), Looking("b"), Looking("c")]
    paused = await asks(Conductor(FixedPolicy(PLAN), team(*before)), ASKED)
    turned = [Looking("c"), Looking("new"), Looking("b"), Looking("a", 1)]
    done = await Conductor(FixedPolicy(PLAN), team(*turned)).conduct(with_results(paused))
    assert done.text.startswith("c")
    assert [result.worker for result in done.transcripts[0].results] == ["a", "b", "c"]
    with pytest.raises(ConfigError, match="'c' of the workflow"):
        await Conductor(FixedPolicy(PLAN), team(*before[:2])).conduct(with_results(paused))


@pytest.mark.parametrize("rounds", [1, 2])
async def test_the_answer_streams_once_and_a_step_that_goes_on_is_begun_again(rounds: int) -> None:
    conductor = Conductor(FixedPolicy(PLAN), team(Looking("a", 1), Looking("b"), Looking("c")), rounds=rounds)
    paused = await asks(conductor, ASKED)
    pieces: list[str | None] = []
    events: list[Event] = []
    done = await conductor.conduct(replace(with_results(paused), on_token=pieces.append), events.append)
    assert pieces == [done.text]
    assert [event.index for event in events if isinstance(event, StepStarted)] == [0, 2]
    assert [event.index for event in events if isinstance(event, StepFinished)] == [1, 0, 2]


@pytest.mark.parametrize("rounds", [1, 3])
async def test_a_step_that_stands_in_for_a_failed_one_goes_on_in_spite_of_it(rounds: int) -> None:
    plan = (
        'model_id = [0, 1, 2]\nsubtasks = ["A.", "Mend it.", "C."]\naccess_list = [[], [0], [1]]\n'
        'conditions = ["always", "if failed", "always"]'
    )
    workers = [Looking("a", fails=True), Looking("b", rounds), Looking("c")]
    conductor = Conductor(FixedPolicy(plan), team(*workers), syntax=WorkflowSyntax(conditions=True))
    call = ASKED
    for _ in range(rounds):
        paused = await asks(conductor, call)
        assert [step.index for step in paused.handed_out] == [1]
        call = with_results(loads(PausedWorkflow, dumps(paused)))
    done = await conductor.conduct(call)
    assert done.text == f'c [] ["b {["for 1"] * rounds} []"]'
    assert len(workers[0].calls) == 1, "what failed is not asked again: another went on without it"
