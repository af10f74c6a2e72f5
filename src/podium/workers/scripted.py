"""A worker that says what you tell it: for examples, tests and benchmarks."""

import asyncio
from collections.abc import Callable

from podium.types import Call, Completion, Usage


class Scripted:
    """Answers with a fixed text, or with whatever a function of the call returns (or raises).

    Example::

        echo = Scripted(lambda call: call.subtask.upper(), seconds=0.01)

    ``seconds`` is really slept and reported. The text is streamed line by line where the call listens.
    """

    def __init__(self, answer: str | Callable[[Call], str], *, seconds: float = 0.0, usage: Usage = Usage()) -> None:
        self._answer = answer
        self._seconds = seconds
        self._usage = usage

    async def __call__(self, call: Call) -> Completion:
        """Return the text."""
        text = self._answer if isinstance(self._answer, str) else self._answer(call)
        if self._seconds:
            await asyncio.sleep(self._seconds)
        if call.on_token is not None:
            for line in text.splitlines(keepends=True):
                call.on_token(line)
        return Completion(text=text, usage=self._usage, seconds=self._seconds)
