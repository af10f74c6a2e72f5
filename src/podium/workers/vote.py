"""A worker that counts: the answer most of the visible responses agree on. Costs nothing, makes no mistake."""

from collections import Counter
from collections.abc import Callable

from podium.errors import ConfigError, WorkerRefused
from podium.types import Call, Completion, Demands


class MajorityVote:
    """Returns the first visible response whose extracted answer is the most common one; ties go to the earliest.

    ``extract`` reads the answer out of a response (None: there is none), e.g. the verifier's own extraction, so that two
    spellings of one answer count together. It knows no target. Example: ``MajorityVote(str.strip)``.

    Raises :class:`WorkerRefused` where no visible response has an answer, :class:`ConfigError` where tools are to be called or a
    form is to be followed: it repeats what others said.
    """

    def __init__(self, extract: Callable[[str], str | None]) -> None:
        self._extract = extract

    def check(self, demands: Demands) -> None:
        """Raises :class:`ConfigError` for tools and forms."""
        if demands.needs_a_chat_model:
            raise ConfigError(
                "a vote gives the last answer here, and it calls no tools and follows no response_format; leave them out, or "
                "take a policy whose last step is a chat model's, such as chat, solo:NAME or mixture"
            )

    async def __call__(self, call: Call) -> Completion:
        """Count the votes."""
        self.check(call.demands)
        answers = [(self._extract(earlier.response), earlier.response) for earlier in call.visible]
        counts = Counter(answer for answer, _ in answers if answer is not None)
        if not counts:
            raise WorkerRefused("there is nothing to vote on: no step that the vote may see has an answer")
        # Counter keeps the order of first appearance, and most_common is stable.
        winner = counts.most_common(1)[0][0]
        text = next(response for answer, response in answers if answer == winner)
        if call.on_token is not None:
            call.on_token(text)
        return Completion(text=text)
