"""Keeps a model's thinking out of its answer, where a server leaves it inline as ``<think>...</think>``.

Providers with a thinking field of their own never need this. Servers of open-weight models do: without a reasoning parser
the text starts with a ``<think>`` block, or, where the chat template has already written the opening tag, it holds only the
closing one. Both are cut, along with the white space after them, and nothing else: an answer that *speaks* of the tags
keeps them. The adapter library has a splitter too, switched off for our models because it only knows a tag that arrives
as one piece, so that a stream and a plain reply of the same text would differ.
"""

from collections.abc import Callable

OPEN, CLOSE = "<think>", "</think>"


class AnswerText:
    """Collects pieces of a reply and passes on the answer only; how the text was cut into pieces changes nothing.

    ``listener`` gets the answer as it arrives, and None where what it got so far turns out to have been thinking.
    Example::

        answer = AnswerText()
        for piece in ("<thi", "nk>6*7</think>\\n", "42"):
            answer.feed(piece)
        answer.finish()  # "42"
    """

    def __init__(self, listener: Callable[[str | None], None] | None = None) -> None:
        self._listener = listener
        self._held = ""
        self._said: list[str] = []
        self._feed = self._start
        self._opened = False

    def feed(self, piece: str) -> None:
        """Take the next piece of the reply."""
        self._held += piece
        # A stage that changes the stage may leave text for the next one.
        while self._feed():
            pass

    def finish(self) -> str:
        """The whole answer; empty where the reply was all thinking."""
        if self._feed != self._think:
            self._say(self._held)
        self._held = ""
        return "".join(self._said)

    def _start(self) -> bool:
        text = self._held.lstrip()
        if text.startswith(OPEN):
            self._held, self._feed = text.removeprefix(OPEN), self._think
            return True
        if OPEN.startswith(text):
            return False
        self._feed = self._answer
        return True

    def _think(self) -> bool:
        _, tag, rest = self._held.partition(CLOSE)
        if tag:
            self._held, self._feed, self._opened = rest, self._gap, True
            return True
        self._held = self._held[-len(CLOSE) + 1 :]
        return False

    def _gap(self) -> bool:
        self._held = self._held.lstrip()
        if not self._held:
            return False
        self._feed = self._answer
        return True

    def _answer(self) -> bool:
        if self._opened:
            self._say(self._held)
            self._held = ""
            return False
        opened, closed = self._held.find(OPEN), self._held.find(CLOSE)
        if opened >= 0 and (closed < 0 or opened < closed):
            self._opened = True
            return True
        if closed >= 0:
            # No opening tag before it: the template wrote that one, and all of this was thinking.
            self._said.clear()
            if self._listener is not None:
                self._listener(None)
            self._held, self._feed, self._opened = self._held[closed + len(CLOSE) :], self._gap, True
            return True
        kept = max(_overlap(self._held, OPEN), _overlap(self._held, CLOSE))
        self._say(self._held[: len(self._held) - kept])
        self._held = self._held[len(self._held) - kept :]
        return False

    def _say(self, text: str) -> None:
        if text:
            self._said.append(text)
            if self._listener is not None:
                self._listener(text)


def _overlap(text: str, tag: str) -> int:
    """How many characters at the end of ``text`` could be the start of ``tag``."""
    return next((size for size in range(min(len(tag) - 1, len(text)), 0, -1) if text.endswith(tag[:size])), 0)
