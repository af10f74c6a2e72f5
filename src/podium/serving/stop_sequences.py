"""Stop texts: the answer ends before the first of them, however it was cut into pieces."""

from collections.abc import Sequence


class StopSequences:
    """Lets text through up to the first stop text. Example: ``StopSequences(("END",)).feed("42 EN")`` gives ``"42 "``."""

    def __init__(self, stops: Sequence[str]) -> None:
        self._stops = tuple(stops)
        self._held = ""
        self.stopped = False
        self.found = ""
        """The stop text that was met."""

    def feed(self, piece: str) -> str:
        """What of ``piece``, and of what was held back, can be shown now."""
        if self.stopped:
            return ""
        if not self._stops:
            return piece
        self._held += piece
        ends = [(found, stop) for stop in self._stops if (found := self._held.find(stop)) >= 0]
        if ends:
            end, self.found = min(ends)
            self.stopped = True
            shown, self._held = self._held[:end], ""
            return shown
        keep = max(_overlap(self._held, stop) for stop in self._stops)
        shown, self._held = self._held[: len(self._held) - keep], self._held[len(self._held) - keep :]
        return shown

    def rest(self) -> str:
        """What was held back, once nothing more comes."""
        held, self._held = self._held, ""
        return "" if self.stopped else held


def _overlap(text: str, stop: str) -> int:
    """How many characters at the end of ``text`` may be the beginning of ``stop``."""
    return next((n for n in range(min(len(text), len(stop) - 1), 0, -1) if text.endswith(stop[:n])), 0)
