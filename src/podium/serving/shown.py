"""What of a run a client is shown: the ``podium`` object for those who look for it, lines of reasoning for those who do not."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from podium.errors import NotYet
from podium.events import Event, StepFinished, StepStarted, ToolCalled, WorkflowWritten
from podium.types import Completion, Generation, StepResult, Transcript, Usage, Workflow
from podium.workers.budget import Budget
from podium.workflow.draw import sees


def podium_object(
    run: str, completion: Completion, paid: Budget | None = None, session: dict[str, object] | None = None
) -> dict[str, Any]:
    """Everything about how an answer came to be: each round's workflow, why, and what every step did and cost.

    ``why`` is what the policy wrote, the lists included. ``paid`` as in :func:`totals_object`; ``session`` is the session's part.
    """
    return {
        **totals_object(run, completion.usage, paid),
        **({} if session is None else {"session": session}),
        "seconds": round(completion.seconds, 6),
        "rounds": [_round(transcript) for transcript in completion.transcripts],
    }


def totals_object(run: str, usage: Usage, paid: Budget | None = None) -> dict[str, Any]:
    """What the answer cost: the tokens and dollars of all steps together, the policy's writing included, whoever paid them.

    ``paid`` is the request's budget, where the whole request is told of: what it paid itself, replies from a journal not
    included, and what may be on the bill besides.
    """
    totals = {"run": run, "cost_usd": usage.cost_usd, "usage": usage_object(usage)}
    return totals if paid is None else {**totals, "paid_usd": paid.paid_usd, "uncertain_usd": paid.uncertain_usd}


def answer_usage(completions: Sequence[Completion]) -> Usage:
    """What a client is told as ``usage``: the tokens of the call that gave the answer, for clients measure by them how full the
    model's context is. Several choices are several answers to one prompt, and so are several steps that ask for tools.
    """
    usages = [each.usage for completion in completions for each in (_asking(completion) or [_answering(completion)])]
    return Usage(
        prompt_tokens=max(usage.prompt_tokens for usage in usages),
        completion_tokens=sum(usage.completion_tokens for usage in usages),
        cached_tokens=max(usage.cached_tokens for usage in usages),
    )


def usage_object(usage: Usage) -> dict[str, Any]:
    """Tokens, as OpenAI names them."""
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
    }


def event_object(event: Event) -> dict[str, Any] | None:
    """An event for a client that looks for it; None where it is nothing to be told (pieces of text come by themselves)."""
    match event:
        case WorkflowWritten():
            steps = (
                []
                if event.workflow is None
                else [_step(event.workflow, i, event.workers) for i in range(len(event.workflow.steps))]
            )
            return {"event": "workflow", "round": event.round, "steps": steps, "why": event.generation.text}
        case StepStarted():
            started = {"round": event.round, "step": event.index, "worker": event.worker, "attempt": event.attempt}
            return {"event": "step_started", **started}
        case ToolCalled(use=use):
            return {"event": "tool_called", "round": event.round, "step": event.index, **asdict(use)}
        case StepFinished():
            return {"event": "step_finished", "round": event.round, "step": event.index, **_result(event.result)}
        case _:
            return None


def reasoning(event: Event, last: int) -> str:
    """An event in words, for a client that shows reasoning; "" where there is nothing to say. ``last``: the answer's step."""
    match event:
        case WorkflowWritten(workflow=None):
            return f"round {event.round}: the answer stands.\n\n"
        case WorkflowWritten(generation=Generation(text="")):
            return ""  # there was no plan: a worker by its own name, or a step that goes on
        case WorkflowWritten(workflow=workflow) if workflow is not None:
            head = f"round {event.round}\n" if event.round > 1 else ""
            lines = [
                f"step {index}, {event.workers[step.worker]} (sees {sees(workflow, index)}): {step.subtask}"
                for index, step in enumerate(workflow.steps)
            ]
            return head + "\n".join(lines) + "\n\n"
        case StepFinished(result=StepResult(kept=True)):
            return ""  # of a workflow that goes on: it was said before
        case StepFinished(index=index, result=result) if index != last:
            if result.skipped is not None:
                return f"step {index}, {result.worker}: skipped, the answer of step {result.skipped.passes_on} stands for it\n\n"
            if result.failure is not None and result.failure.kind == NotYet.__name__:
                return ""
            said = result.completion.text if result.completion is not None else "no answer"
            calls = () if result.completion is None else result.completion.tool_calls
            return f"step {index}, {result.worker}: {' '.join([said, *(f'(calls {call.name})' for call in calls)]).strip()}\n\n"
        case _:
            return ""


def step_summaries(transcripts: Sequence[Transcript]) -> list[str]:
    """Finished rounds in the words that :func:`reasoning` has for them while they go on."""
    words = []
    for number, transcript in enumerate(transcripts, start=1):
        workflow, results = transcript.workflow, transcript.results
        workers = {result.step.worker: result.worker for result in results}
        names = tuple(workers.get(index, "") for index in range(max(workers, default=-1) + 1))
        written: Event = WorkflowWritten(round=number, workflow=workflow, generation=transcript.generation, workers=names)
        last = -1 if workflow is None else len(workflow.steps) - 1
        finished: list[Event] = [StepFinished(round=number, index=index, result=result) for index, result in enumerate(results)]
        words += [said for event in (written, *finished) if (said := reasoning(event, last))]
    return words


def _asking(completion: Completion) -> list[Completion]:
    """What the steps before the last said that ask for tools now."""
    results = completion.transcripts[-1].results if completion.paused is not None else ()
    return [result.completion for result in results if result.completion is not None and result.completion.tool_calls]


def _answering(completion: Completion) -> Completion:
    """The completion that gave the answer: the last step of the newest round that has one, however deep Conductors nest.

    Of a skipped step it is that of the step whose response it passes on: a client that watches how full its context is would
    take the nothing that a skipped step used for an empty one.
    """
    for transcript in reversed(completion.transcripts):
        if transcript.answer is not None and transcript.results:
            result = transcript.results[-1]
            while result.skipped is not None:
                result = transcript.results[result.skipped.passes_on]
            if result.completion is not None:
                return _answering(result.completion)
    return completion


def _round(transcript: Transcript) -> dict[str, Any]:
    workflow = transcript.workflow
    steps = [] if workflow is None else [{"step": index, **_result(result)} for index, result in enumerate(transcript.results)]
    return {"why": transcript.generation.text, "policy": _usage(transcript.generation.usage), "steps": steps}


def _step(workflow: Workflow, index: int, workers: tuple[str, ...]) -> dict[str, Any]:
    step = workflow.steps[index]
    shown = {"step": index, "worker": workers[step.worker], "subtask": step.subtask, "access": list(step.access)}
    return {**shown, "condition": step.condition}


def _result(result: StepResult) -> dict[str, Any]:
    completion, failure = result.completion, result.failure
    return {
        "worker": result.worker,
        "subtask": result.step.subtask,
        "access": list(result.step.access),
        "condition": result.step.condition,
        "skipped": result.skipped is not None,
        "kept": result.kept,
        "passes_on": None if result.skipped is None else result.skipped.passes_on,
        "seconds": round(result.seconds, 6),
        "start_seconds": round(result.start_seconds, 6),
        "usage": None if result.usage is None else _usage(result.usage),
        "response": None if completion is None else completion.text,
        "failure": None if failure is None else failure.kind,
    }


def _usage(usage: Usage) -> dict[str, Any]:
    return {**usage_object(usage), "cost_usd": usage.cost_usd}
