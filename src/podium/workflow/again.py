"""Whether a round gives a reason for another one."""

from podium.conditions import Condition
from podium.tasks.agreement import Reading
from podium.types import StepResult, Transcript
from podium.workers.checking import verdict_of
from podium.workflow.deciding import Deciding, asked_in


def wants_another(transcript: Transcript, condition: Condition) -> bool:
    """Whether ``condition`` comes about over the steps of ``transcript``, a finished round.

    "unless 2 agree": no two of those that were asked gave the same answer; a round without an answer is none to disagree about.
    "if failed": a step failed that a step could stand in for (:meth:`podium.workflow.deciding.Deciding.caught`), or reported a
    failing check. Always: there is an answer to look at. A policy that kept its answer, or wrote no workflow, is through.
    """
    if transcript.workflow is None:
        return False
    if condition.if_failed:
        return _went_wrong(transcript)
    if transcript.failure is not None:
        return False
    if condition.agree is None:
        return True
    said = [_said(each, transcript) for each in transcript.asked if _is_a_voice(each, transcript)]
    return not Reading(asked_in(transcript.question)).agreed(said, condition.agree)


def _went_wrong(transcript: Transcript) -> bool:
    if transcript.workflow is None:
        return False
    results = dict(enumerate(transcript.results))
    deciding = Deciding(transcript.workflow, transcript.question, results)
    failed = [index for index in results if deciding.failed(index)]
    reported = any(_check(each) is False for each in transcript.results)
    return all(deciding.caught(index) for index in failed) and (bool(failed) or reported)


def _is_a_voice(result: StepResult, transcript: Transcript) -> bool:
    """False of a failing check, and of a worker that wrote nothing of its own: a vote repeats one that was counted."""
    completion = result.completion
    if completion is None or _check(result) is False:
        return False
    seen = [transcript.results[index].completion for index in result.step.access]
    repeats = any(each is not None and each.text == completion.text for each in seen)
    return not (repeats and completion.usage.tokens == 0 and completion.usage.cost_usd == 0)


def _check(result: StepResult) -> bool | None:
    """Whether a step that saw something to check reports that it holds, where no step of its workflow waited to hear that too."""
    done = result.completion
    if done is None or done.check_passed is not None or not result.step.access:
        return None if done is None else done.check_passed
    return verdict_of(done.text)


def _said(result: StepResult, transcript: Transcript) -> str:
    """The answer of a step; a check that passes says what it checked."""
    own = "" if result.completion is None else result.completion.text
    seen = [transcript.results[index].completion for index in result.step.access]
    return own if verdict_of(own) is None or not seen or seen[-1] is None else seen[-1].text
