"""Steps that call the client's tools: which may, which wait for what came of it, and what is kept of a workflow meanwhile.

The last step may, and in a call with ``tools_in_every_step`` every step that the answer needs and whose worker takes tools; an
earlier step is free to call them, only the last can be made to. A step that asks holds those that would see it; the others go on,
and so what several steps ask for is given to the client at once. What is kept (:class:`podium.types.PausedWorkflow`) holds the
results of the steps that are over, without what they cost: that is paid. What failed, and nobody went on without, is tried again.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace

from podium.errors import ConfigError, NotYet
from podium.types import (
    AskingStep,
    Call,
    Completion,
    Failure,
    Message,
    PausedWorkflow,
    ResponseOptions,
    StepResult,
    Tool,
    Workflow,
)
from podium.workers.pool import WorkerPool
from podium.workers.seeing import in_words


def tools_of_every_step(call: Call) -> tuple[Tool, ...]:
    """The client's tools that steps before the last may call: none where the client demands one of them, or forbids all."""
    options = call.response_options
    return options.tools if call.tools_in_every_step and options.tool_choice in ("auto", "required") else ()


class Pausing:
    """The steps before the last one that call the client's tools, of one run of ``workflow``."""

    def __init__(self, workflow: Workflow, pool: WorkerPool, call: Call, needed: Collection[int]) -> None:
        self._workflow = workflow
        self._pool = pool
        self._call = call
        self._last = len(workflow.steps) - 1
        offered = call.response_options
        self._offered = ResponseOptions(tools=offered.tools, one_tool_call=offered.one_tool_call, cache_tools=offered.cache_tools)
        self._may = needed if tools_of_every_step(call) else ()
        self.asking: dict[int, AskingStep] = {}
        """Who waits for the client."""
        self.results: dict[int, StepResult] = {}
        """What each of those said when it asked."""
        self._last_call = Call()
        self.goes_on: dict[int, Call] = {}
        """Who has what it waited for, and so is asked this."""
        for step in () if call.paused is None else call.paused.asking:
            if step.asks is not None and self._is_offered(step.index, step.asks):
                self.asking[step.index] = step
            else:
                self.goes_on[step.index] = step.call

    def _is_offered(self, index: int, asks: Message) -> bool:
        """Whether the client still offers the tools that step ``index`` asked for; else that step is asked anew."""
        options = self._options_of(index)
        names = {tool.name for tool in options.tools} if options.tool_choice in ("auto", "required") else {options.tool_choice}
        return options.tool_choice != "none" and names.issuperset(call.name for call in asks.tool_calls)

    def call_of(self, index: int, call: Call) -> Call:
        """What step ``index`` is asked: ``call``, or what it goes on with, and the tools it may call."""
        if index in self.goes_on:
            call = self.goes_on[index]
            if not self._pool[self._workflow.steps[index].worker].card.sees:
                call = in_words(call)
        if index == self._last:
            self._last_call = call
        return replace(call, response_options=self._options_of(index))

    def _options_of(self, index: int) -> ResponseOptions:
        if index == self._last:
            return self._call.response_options
        if index not in self._may:
            return ResponseOptions()
        try:
            self._pool[self._workflow.steps[index].worker].check(self._offered)
        except ConfigError:  # a vote, a program: its step is carried out without
            return ResponseOptions()
        return self._offered

    def ask(self, index: int, call: Call, result: StepResult) -> bool:
        """Whether step ``index`` waits for the client with ``result``; the last one's ends the workflow instead."""
        if index == self._last or result.completion is None or not result.completion.tool_calls:
            return False
        self.asking[index] = _asking(index, call, result.completion)
        self.results[index] = result
        return True

    def forget(self, index: int) -> StepResult | None:
        """What step ``index`` said, where it asked and nobody needs it any more."""
        self.asking.pop(index, None)
        return self.results.pop(index, None)

    def paused(self, results: Mapping[int, StepResult], round_number: int, last_answer: str | None) -> PausedWorkflow:
        """What is kept, where ``results`` are over."""
        going = {
            index: AskingStep(index=index, call=call)
            for index, call in self.goes_on.items()
            if not self._is_settled(index, results) and index not in self.asking
        }
        last = results.get(self._last)
        if last is not None and last.completion is not None and last.completion.tool_calls:
            # Were it asked by itself, only it would be kept; here it is one of those whose calls are not handed out yet.
            results = {index: result for index, result in results.items() if index != self._last}
            going[self._last] = _asking(self._last, self._last_call, last.completion)
        return PausedWorkflow(
            workflow=self._workflow,
            workers=self._pool.names,
            results=tuple(freed(results[index]) if self._is_settled(index, results) else None for index in range(self._last + 1)),
            asking=tuple(step for _, step in sorted({**going, **self.asking}.items())),
            round=round_number,
            last_answer=last_answer,
            sample=self._call.sample,
            one_tool_call=self._offered.one_tool_call,
        )

    def _is_settled(self, index: int, results: Mapping[int, StepResult]) -> bool:
        """Whether step ``index`` is over for good; one that failed is tried again, unless another went on without it."""
        if index not in results or results[index].failure is None or not results[index].was_needed:
            return index in results
        seen_by = [by for by, step in enumerate(self._workflow.steps) if index in step.access]
        went_on = {by for by, result in results.items() if result.failure is None} | self.asking.keys() | self.goes_on.keys()
        return not seen_by or not went_on.isdisjoint(seen_by)

    def shown(self, rest: Mapping[int, StepResult]) -> dict[int, StepResult]:
        """The records of the steps without a result, which are ``rest`` for those that do not wait for the client."""
        found = dict(rest)
        for index, step in self.asking.items():
            if index not in self.results and step.asks is not None:  # since an earlier request
                said = Completion(text=step.asks.content, finish_reason="tool_calls", tool_calls=step.asks.tool_calls)
                found[index] = replace(rest[index], completion=said, failure=None, kept=True)
        return found | self.results


def _asking(index: int, call: Call, said: Completion) -> AskingStep:
    turn = Message(role="assistant", content=said.text, tool_calls=said.tool_calls, thoughts=said.thoughts)
    return AskingStep(index=index, call=replace(call, response_options=ResponseOptions()), asks=turn)


def not_yet(where: str) -> Failure:
    """Why a step has no result that comes after one that waits."""
    return Failure.of(NotYet("not started yet: a step before it waits for the client's tools"), where)


def freed(result: StepResult) -> StepResult:
    """``result`` as it is kept: what it said and whether it held, not what it took."""
    said = result.completion
    if said is not None:
        said = Completion(text=said.text, finish_reason=said.finish_reason, check_passed=said.check_passed)
    return replace(result, completion=said, start_seconds=0.0, seconds=0.0, failed_rounds=(), kept=True)


def renumbered(paused: PausedWorkflow, pool: WorkerPool) -> PausedWorkflow:
    """``paused`` with the numbers that its workers have in ``pool``. Raises :class:`ConfigError` where one is not there."""
    missing = sorted({paused.workers[step.worker] for step in paused.workflow.steps} - {*pool.names})
    if missing:
        raise ConfigError(
            f"the worker {missing[0]!r} of the workflow that waits for these results is gone: ask anew without them"
        )
    numbers = {number: pool.names.index(name) for number, name in enumerate(paused.workers) if name in pool.names}
    steps = tuple(replace(step, worker=numbers[step.worker]) for step in paused.workflow.steps)
    results = tuple(None if each is None else replace(each, step=step) for each, step in zip(paused.results, steps, strict=True))
    return replace(paused, workflow=Workflow(steps=steps), workers=pool.names, results=results)
