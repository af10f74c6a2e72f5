"""The last step of a workflow while the client runs the tools it asked for: all that is needed to go on."""

from dataclasses import dataclass

from podium.access import call_for
from podium.types import Call, Completion, Earlier, Message, Question


@dataclass(frozen=True, slots=True, kw_only=True)
class PausedStep:
    """Who waits, and what it was asked (:class:`podium.types.Call` without what the next request brings anew)."""

    worker: str
    question: Question
    subtask: str
    visible: tuple[Earlier, ...]
    turns: tuple[Message, ...] = ()

    def call(self) -> Call:
        """What the worker was asked."""
        return Call(question=self.question, subtask=self.subtask, visible=self.visible, turns=self.turns)


def paused_step(completion: Completion) -> PausedStep | None:
    """The step that asked for tools; None where none did."""
    if not completion.tool_calls or not completion.transcripts:
        return None
    last, *before = reversed(completion.transcripts)
    if last.workflow is None or not last.results:
        return None
    responses = {index: result.completion.text for index, result in enumerate(last.results) if result.completion is not None}
    index = len(last.workflow.steps) - 1
    answer = before[0].answer if before else None
    call = call_for(last.workflow, index, last.question, responses, last_answer=answer)
    return PausedStep(worker=last.results[-1].worker, question=call.question, subtask=call.subtask, visible=call.visible)
