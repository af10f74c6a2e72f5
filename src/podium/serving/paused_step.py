"""The last step of a workflow while the client runs the tools it asked for: all that is needed to go on.

The turns since then, the step's own calls and what came of them, are not kept: every request brings the whole conversation,
and what the client left out or cut short since then is not put back.
"""

import hashlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

from podium.errors import ConfigError
from podium.jsonl import loads
from podium.request_options import RequestOptions
from podium.serving.conversation import ParsedRequest
from podium.types import Call, Completion, Question, ResponseOptions
from podium.workers.seeing import in_words

log = logging.getLogger("podium.serving")


@dataclass(frozen=True, slots=True, kw_only=True)
class PausedStep:
    """Who waits, what it was asked, and what for."""

    model: str
    options: RequestOptions
    """As they were when the workflow was written, without the budgets, which each request brings anew."""
    question: str
    """SHA-256 of what the user had said last when the workflow was written."""
    worker: str
    call: Call
    """As the worker was asked, without its turns and response options, which the next request brings."""
    tool_calls: tuple[str, ...]
    """Every tool call the step has made so far, by the ids that the client was given."""

    def call_for(self, parsed: ParsedRequest) -> Call | None:
        """The call that the step goes on with; None where ``parsed`` is no longer what its workflow was written for.

        Everything before the step's first tool call is what the workflow was written for, everything from there on are its own
        turns. Where the client has edited either (an agent that compacts its history does), the client's words count.
        """
        conversation, own = parsed.call.question, {*self.tool_calls}
        begin = next(i for i, turn in enumerate(conversation) if any(call.id in own for call in turn.tool_calls))
        before, turns = conversation[:begin], conversation[begin:]
        if (self.model, self.options, self.question) != (parsed.model, _lasting(parsed.options), last_said(before)):
            return None
        return replace(
            self.call,
            # Whichever of the two carried the conversation, if any did (podium.access).
            question=before if self.call.question else (),
            visible=tuple(replace(seen, question=before if seen.question else ()) for seen in self.call.visible),
            turns=turns,
            response_options=parsed.call.response_options,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed:
    """A step that goes on: who it is asked of, and what was kept of it under which tool calls."""

    worker: str
    call: Call
    ids: tuple[str, ...]


def paused_step(completion: Completion, parsed: ParsedRequest) -> PausedStep | None:
    """What to keep of the step that asked for tools; None where none did, or where nothing needs to be kept.

    A worker that was asked nothing but the conversation (a model that is a worker's name) goes on from what the client sends.
    """
    waiting = completion.waiting
    if waiting is None or not (waiting.call.subtask or waiting.call.visible):
        return None
    call = waiting.call
    before = parsed.call.question[: len(parsed.call.question) - len(call.turns)]
    own = (made.id for turn in call.turns for made in turn.tool_calls)
    return PausedStep(
        model=parsed.model,
        options=_lasting(parsed.options),
        question=last_said(before),
        worker=waiting.worker,
        # Of the conversation it only matters that it was shown; pictures would be kept a second time.
        call=replace(in_words(call), turns=(), response_options=ResponseOptions()),
        tool_calls=(*own, *(made.id for made in completion.tool_calls)),
    )


def resumed(ids: tuple[str, ...], state: str, parsed: ParsedRequest, workers: Sequence[str]) -> Resumed | None:
    """The step that was kept as ``state``, where it can go on with what ``parsed`` brings; None: ``parsed`` is conducted anew."""
    try:
        paused = loads(PausedStep, state)
    except ConfigError as error:  # kept by another version of Podium: the client's conversation holds all that matters
        log.warning("a paused step can not be read, so its conversation is conducted anew: %s", error)
        return None
    call = paused.call_for(parsed)
    if call is None or paused.worker not in workers:
        return None
    return Resumed(worker=paused.worker, call=call, ids=ids)


def _lasting(options: RequestOptions) -> RequestOptions:
    return options.model_copy(update={"budget_usd": None, "budget_seconds": None, "session_usd": None})


def last_said(conversation: Question) -> str:
    """SHA-256 of the user's last turn, pictures and files included; "" where there is none."""
    last = next((turn for turn in reversed(conversation) if turn.role == "user"), None)
    if last is None:
        return ""
    said = [last.content, *(part for each in last.attachments for part in (each.data, each.url, str(each.at)))]
    return hashlib.sha256("\x1f".join(said).encode("utf-8", "surrogatepass")).hexdigest()
