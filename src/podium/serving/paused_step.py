"""What waits while the client runs the tools that it was asked for: all that is needed to go on.

Mostly that is the last step of a workflow, and nothing but that step is kept. Where steps before it may call tools, too, the
workflow is kept with the answers of the steps that are over, and with each step that waits: several may, and the client is given
their calls together. Every step gets back its own results and no other's.

The calls and what came of them are not kept: every request brings the whole conversation, and what the client left out or cut
short since then is not put back. What a step before the last said beside its calls was never part of the client's conversation,
so that is kept.

A workflow that goes on is kept with each step that is over (``since``), so that who sends the results again, to whatever replica
and after whatever failure, pays for none of them twice.
"""

import hashlib
import json
import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from podium.errors import ConfigError
from podium.jsonl import dumps, loads
from podium.request_options import RequestOptions
from podium.serving.api_errors import ApiError, ApiErrorException
from podium.serving.conversation import ParsedRequest
from podium.types import AskingStep, Call, Completion, Message, PausedWorkflow, Question, ResponseOptions, ToolCall

log = logging.getLogger("podium.serving")
_OF_A_STEP = re.compile(r"call_s\d{1,9}_[0-9a-f]{24}")


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingStep:
    """One step that waits: what it was asked, and what for."""

    index: int
    """Its number; -1 of a step that is all that is left of its workflow."""
    call: Call
    """As the worker was asked, without its turns and response options, which the next request brings."""
    tool_calls: tuple[str, ...]
    """Every tool call the step has made so far, by the ids that the client was given."""
    said: tuple[Message, ...] = ()
    """Its own turns so far, with those ids; of a step whose words the client was not sent."""
    asks: Message | None = None
    """Its newest turn, where the client was not given its calls yet."""

    def call_for(self, before: Question, after: Question, *, is_alone: bool) -> Call:
        """The call that the step goes on with; ``is_alone``: all calls of its workflow are its own."""
        return replace(_told(self.call, before), turns=after if is_alone else tuple(self._own(after)))

    def _own(self, turns: Question) -> list[Message]:
        own = {*self.tool_calls}
        said = {call.id: turn for turn in self.said for call in turn.tool_calls}
        found = []
        for turn in turns:
            calls = tuple(call for call in turn.tool_calls if call.id in own)
            if calls:
                kept = said.get(calls[0].id, turn)
                found.append(replace(turn, content=kept.content, tool_calls=calls, thoughts=kept.thoughts))
            elif turn.tool_call_id in own or turn.role == "system":
                found.append(turn)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Paused:
    """What waits for one round of results."""

    model: str
    options: RequestOptions
    """As they were when the workflow was written, without the budgets, which each request brings anew."""
    question: str
    """SHA-256 of what the user had said last when the workflow was written."""
    worker: str
    """Who gives the answer, as far as is known."""
    tool_calls: tuple[str, ...]
    """Every tool call of the workflow so far, whichever step made it, by the ids that the client was given."""
    steps: tuple[WaitingStep, ...]
    workflow: PausedWorkflow | None = None
    """Without those who wait; None where only the last step is left."""
    results: str = ""
    """SHA-256 of the results that ``since`` came of."""
    since: PausedWorkflow | None = None
    """How far the workflow has come with those results."""
    demanded: str = ""
    """SHA-256 of what its answer was to keep to then: tools, form, sampling."""

    def resumed(self, ids: tuple[str, ...], parsed: ParsedRequest) -> "Resumed | None":
        """What goes on with what ``parsed`` brings; None where that is no longer what the workflow was written for.

        Everything before its first tool call is what the workflow was written for, everything from there on are turns of its
        steps. Where the client has edited either (an agent that compacts its history does), the client's words count.
        """
        conversation, known = parsed.call.question, {*self.tool_calls}
        begin = next(i for i, turn in enumerate(conversation) if any(call.id in known for call in turn.tool_calls))
        before, after = conversation[:begin], conversation[begin:]
        if (self.model, self.options, self.question) != (parsed.model, _lasting(parsed.options), last_said(before)):
            return None
        is_alone = self.workflow is None and {*self.steps[0].tool_calls} == known
        if not is_alone and any(turn.role == "user" for turn in after):
            return None  # words that the steps which are over should have known
        results, demanded = _hash_of(after), _hash(dumps(parsed.call.response_options))
        calls = {step.index: step.call_for(before, after, is_alone=is_alone) for step in self.steps}
        if self.workflow is None:
            [call] = calls.values()
            call = replace(call, response_options=parsed.call.response_options)
        else:
            waits = tuple(AskingStep(index=each.index, call=each.call, asks=each.asks) for each in self.steps)
            goes_on = replace(self.workflow, asking=waits)
            if self.since is not None and self.results == results:
                goes_on = self.since if self.demanded == demanded else _before_its_answer(self.since, waits)
            asking = (replace(each, call=calls.get(each.index, _told(each.call, before))) for each in goes_on.asking)
            call = replace(parsed.call, question=before, paused=replace(goes_on, asking=tuple(asking)))
        return Resumed(worker=self.worker, call=call, ids=ids, kept=self, results=results, demanded=demanded)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed:
    """A step or a workflow that goes on: who gives the answer, what is asked, and what was kept under which tool calls."""

    worker: str
    call: Call
    ids: tuple[str, ...]
    kept: Paused
    results: str
    """SHA-256 of what the client brings."""
    demanded: str
    """And of what its answer is to keep to."""

    @property
    def is_workflow(self) -> bool:
        """Whether more is left than the last step."""
        return self.call.paused is not None

    def progress(self, workflow: PausedWorkflow) -> Paused:
        """What is kept under the same calls once more of it is over."""
        asking = tuple(replace(step, call=_kept(step.call)) for step in workflow.asking)
        return replace(self.kept, results=self.results, demanded=self.demanded, since=replace(workflow, asking=asking))


def paused(completion: Completion, parsed: ParsedRequest, before: Resumed | None) -> Paused | None:
    """What to keep of what asked for tools; None where nothing did, or where nothing needs to be kept.

    ``before`` is what this request went on with. A worker that was asked nothing but the conversation (a model that is a worker's
    name) goes on from what the client sends.
    """
    waiting = completion.waiting
    workflow = completion.paused if waiting is None else waiting.workflow
    given = tuple(call.id for call in completion.tool_calls)
    if workflow is not None:
        worker = workflow.workers[workflow.workflow.steps[-1].worker]
        steps = _waiting(workflow, completion.tool_calls, is_content=waiting is not None)
    elif waiting is not None and (before is not None or waiting.call.subtask or waiting.call.visible):
        step = WaitingStep(index=-1, call=_kept(waiting.call), tool_calls=(*_made(waiting.call.turns), *given))
        worker, steps = waiting.worker, (step,)
    else:
        return None
    return Paused(
        model=parsed.model,
        options=_lasting(parsed.options),
        question=last_said(parsed.call.question),
        worker=worker,
        tool_calls=(*(() if before is None else before.kept.tool_calls), *given),
        steps=steps,
        workflow=None if workflow is None else replace(workflow, asking=()),
    )


def _waiting(workflow: PausedWorkflow, given: Sequence[ToolCall], *, is_content: bool) -> tuple[WaitingStep, ...]:
    """Who waits, where the client is ``given`` these calls; ``is_content``: also the words beside them, as the answer."""
    steps, calls = [], iter(given)
    handed_out = [step.index for step in workflow.handed_out]
    for each in workflow.asking:
        said, asks = tuple(turn for turn in each.call.turns if turn.tool_calls), each.asks
        if asks is not None and each.index in handed_out:
            said, asks = (*said, replace(asks, tool_calls=tuple(next(calls) for _ in asks.tool_calls))), None
        made, said = _made(said), () if is_content else said
        steps.append(WaitingStep(index=each.index, call=_kept(each.call), tool_calls=made, said=said, asks=asks))
    return tuple(steps)


def _before_its_answer(workflow: PausedWorkflow, waits: Sequence[AskingStep]) -> PausedWorkflow:
    """``workflow`` with its last step still to be done, as it is in ``waits`` where it had begun."""
    last = len(workflow.results) - 1
    asking = (*(each for each in workflow.asking if each.index != last), *(each for each in waits if each.index == last))
    return replace(workflow, results=(*workflow.results[:-1], None), asking=asking)


def _made(turns: Sequence[Message]) -> tuple[str, ...]:
    return tuple(call.id for turn in turns for call in turn.tool_calls)


def read(ids: tuple[str, ...], state: str | None, parsed: ParsedRequest, workers: Sequence[str]) -> Resumed | None:
    """What was kept as ``state``, where it can go on with what ``parsed`` brings; None: ``parsed`` is conducted anew.

    Raises :class:`ApiErrorException` where a step before the last made these calls, and nothing waits for them.
    """
    if state is None:
        if any(_OF_A_STEP.fullmatch(each) for each in ids):
            raise _nobody_waits(ids)
        return None
    try:
        found = loads(Paused, state).resumed(ids, parsed)
    except ConfigError as error:  # kept by another version of Podium: the client's conversation holds all that matters
        log.warning("what waits for tools can not be read, so its conversation is conducted anew: %s", error)
        return None
    return None if found is None or (found.worker not in workers and not found.is_workflow) else found


def _nobody_waits(ids: Sequence[str]) -> ApiErrorException:
    named = ", ".join(repr(each[:60]) for each in ids[:8])
    message = (
        f"no step waits for the results of {named}: send those of all calls of one turn together, within an hour, with the key "
        "that was given them; or ask anew without these calls"
    )
    return ApiErrorException(ApiError(status=404, message=message, kind="invalid_request_error", code="tool_call_not_found"))


def _kept(call: Call) -> Call:
    """Of the conversation it only matters that it was shown: every request brings it, and it may be long."""
    visible = tuple(replace(seen, question=_shown(seen.question)) for seen in call.visible)
    return replace(call, question=_shown(call.question), visible=visible, turns=(), response_options=ResponseOptions())


def _shown(question: Question) -> Question:
    return (Message(role="user", content="(the conversation)"),) if question else ()


def _told(call: Call, before: Question) -> Call:
    """``call`` with the conversation as the client sends it, in whichever place carried it, if any did (podium.access)."""
    visible = tuple(replace(seen, question=before if seen.question else ()) for seen in call.visible)
    return replace(call, question=before if call.question else (), visible=visible)


def _lasting(options: RequestOptions) -> RequestOptions:
    return options.model_copy(update={"budget_usd": None, "budget_seconds": None, "session_usd": None})


def _hash_of(turns: Question) -> str:
    """Of all results, in whatever order they are sent."""
    results = sorted(
        [turn.tool_call_id, turn.content, *(part for each in turn.attachments for part in (each.data, each.url))]
        for turn in turns
        if turn.role == "tool"
    )
    return _hash(json.dumps(results))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def last_said(conversation: Question) -> str:
    """SHA-256 of the user's last turn, pictures and files included; "" where there is none."""
    last = next((turn for turn in reversed(conversation) if turn.role == "user"), None)
    if last is None:
        return ""
    said = [last.content, *(part for each in last.attachments for part in (each.data, each.url, str(each.at)))]
    return hashlib.sha256("\x1f".join(said).encode("utf-8", "surrogatepass")).hexdigest()
