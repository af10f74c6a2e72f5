"""Whether a round gives a reason for another one."""

from podium.conditions import Condition
from podium.tasks.agreement import Reading
from podium.types import StepResult, Transcript
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
    said = [each.completion.text for each in transcript.asked if each.completion is not None and _is_a_voice(each, transcript)]
    return not Reading(asked_in(transcript.question)).agreed(said, condition.agree)


def _went_wrong(transcript: Transcript) -> bool:
    if transcript.workflow is None:
        return False
    results = dict(enumerate(transcript.results))
    deciding = Deciding(transcript.workflow, transcript.question, results)
    failed = [index for index in results if deciding.failed(index)]
    reported = any(each.completion is not None and each.completion.check_passed is False for each in transcript.results)
    return all(deciding.caught(index) for index in failed) and (bool(failed) or reported)


def _is_a_voice(result: StepResult, transcript: Transcript) -> bool:
    """False of a failing check, and of a worker that wrote nothing of its own: a vote repeats one that was counted."""
    completion = result.completion
    if completion is None or completion.check_passed is False:
        return False
    seen = [transcript.results[index].completion for index in result.step.access]
    repeats = any(each is not None and each.text == completion.text for each in seen)
    return not (repeats and completion.usage.tokens == 0 and completion.usage.cost_usd == 0)
