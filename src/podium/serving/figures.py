"""What of a request is written down: how long its prompt is, what was asked, what was used, how it ended."""

from collections.abc import Iterable, Sequence

from podium.errors import Cancelled
from podium.serving.asking import ChoiceDone
from podium.serving.wire import ClientLeft
from podium.types import Call, Transcript, Usage
from podium.workers.bound import attachment_tokens
from podium.workers.seeing import told


def prompt_size(call: Call) -> int:
    """Characters of the prompt, tools and response format included."""
    size = len(call.response_options.response_format or "")
    for message in call.question:
        size += len(message.content) + sum(4 * attachment_tokens(attachment) for attachment in message.attachments)
        for called in message.tool_calls:
            size += len(called.name) + len(called.arguments)
    for tool in call.response_options.tools:
        size += len(tool.name) + len(tool.description) + len(tool.parameters)
    return size


def total_usage(dones: Sequence[ChoiceDone]) -> Usage:
    """Tokens and dollars of all choices together."""
    return Usage.total(done.completion.usage for done in dones)


def ended_by(end: BaseException | None) -> str:
    """What stands in the run's record: the name of a bug, or that the run was stopped from outside."""
    while isinstance(end, BaseExceptionGroup):
        end = end.exceptions[0]
    is_bug = isinstance(end, Exception) and not isinstance(end, ClientLeft)
    return type(end).__name__ if is_bug else Cancelled.__name__


def question_of(call: Call) -> str:
    """What the user said last; in the middle of a tool loop that is not the last turn."""
    return told(next((turn for turn in reversed(call.question) if turn.role == "user"), call.question[-1])).content


def simulated_seconds(transcripts: Iterable[Transcript]) -> float:
    """The seconds that a run stands for: simulated workers answer at once."""
    return sum(transcript.critical_seconds for transcript in transcripts)
