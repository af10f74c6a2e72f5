"""A worker that counts: the answer most of the visible responses agree on. Costs nothing, makes no mistake."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence

from podium.errors import ConfigError, UnworkableStep
from podium.types import Call, Completion, Question, ResponseOptions

Read = Callable[[str, Sequence[str]], Sequence[str | None]]
"""The question and the responses -> what each response says: equal texts for the same, None for nothing."""


class MajorityVote:
    """Returns the first visible response that says what most of them say; ties go to the earliest.

    ``read`` tells what the responses say (:mod:`podium.tasks.agreement`), so that two spellings of one answer count together. It
    knows no target. Responses that say nothing have no vote; where none says anything, the first one is passed on and judged as
    it is. Example: ``MajorityVote(lambda question, responses: [text.strip() or None for text in responses])``.

    Raises :class:`UnworkableStep` where the vote may see no step, :class:`ConfigError` where tools are to be called or a response
    format is to be followed: it repeats what others said.
    """

    def __init__(self, read: Read) -> None:
        self._read = read

    def check(self, response_options: ResponseOptions) -> None:
        """Raises :class:`ConfigError` for tools and response formats."""
        if response_options.needs_a_chat_model:
            raise ConfigError(
                "a vote gives the last answer here, and it calls no tools and follows no response_format; leave them out, or "
                "take a policy whose last step is a chat model's, such as chat, solo:NAME or mixture"
            )

    def check_call(self, call: Call) -> None:
        """Raises :class:`UnworkableStep` where there is nothing to count."""
        if not call.visible:
            raise UnworkableStep("there is nothing to vote on: the vote may see no step; let it see those that answer")

    async def __call__(self, call: Call) -> Completion:
        """Count the votes."""
        self.check(call.response_options)
        self.check_call(call)
        responses = [step.response for step in call.visible]
        # In a thread: formulas are compared in another process, which is waited for.
        said = await asyncio.to_thread(self._read, _question(call), responses)
        # Counter keeps the order of first appearance, and most_common is stable.
        counts = Counter(text for text in said if text is not None).most_common(1)
        text = responses[said.index(counts[0][0]) if counts else 0]
        if call.on_token is not None:
            call.on_token(text)
        return Completion(text=text)


def _question(call: Call) -> str:
    """What the user asked, as far as the vote was shown it; steps that stand alone have it in their subtask."""
    asked = (call.question, *(step.question for step in call.visible))
    words = next((found for question in asked if (found := _last_user(question))), "")
    return words or "\n\n".join(dict.fromkeys(step.subtask for step in call.visible))


def _last_user(question: Question) -> str:
    return next((message.content for message in reversed(question) if message.role == "user"), "")
