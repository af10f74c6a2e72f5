"""What a visitor chooses for one question: which workers, and the most it may cost, take and try."""

import math
from collections.abc import Sequence
from functools import partial

from nicegui import ui
from nicegui.element import Element

from podium.errors import ConfigError
from podium.page.parts import Act, Checks, Line, box, button, enable, show, text
from podium.page.shown import clipped, line
from podium.request_options import RequestOptions
from podium.types import Card
from podium.workflow.draw import counted

MOST_ROUNDS, MOST = 10, 1_000_000
"""As many rounds, and as many dollars or seconds, as a client of the API may ask for."""


class RequestOptionsForm:
    """A folded form; its heading says what is chosen. What is left empty is not limited.

    Example::

        form = RequestOptionsForm(catalog.cards)
        conductor = catalog.conductor("podium", form.read())
    """

    def __init__(self, cards: Sequence[Card]) -> None:
        self._names = tuple(card.name for card in cards)
        self._why = ("", "")
        self._fields: _Fields | None = None  # few visitors unfold the form
        with box("quoted request-options", "details") as self._folded:
            self._summary = text("Options", "summary")
        self._folded.on("toggle", lambda _: self._unfold(), js_handler="(event) => { if (event.target.open) emit(); }")

    def _unfold(self) -> None:
        if self._fields is None:
            with self._folded:
                self._fields = _Fields(self._names, self._show_summary, *self._why)
            self._show_summary()

    def allow(self, *, workers: str, rounds: str) -> None:
        """Why workers can not be left out, and why rounds can not be chosen, in words; "": they can."""
        self._why = (workers, rounds)
        if self._fields is not None:
            self._fields.allow(*self._why)
        self._show_summary()

    def open(self) -> None:
        """Unfold it, so that what is wrong in it is seen."""
        ui.run_javascript(f"document.getElementById('c{self._folded.id}').open = true")

    def read(self) -> RequestOptions:
        """What is chosen. Raises :class:`ConfigError`, in words for the visitor, where the form makes no sense."""
        return RequestOptions() if self._fields is None else self._fields.read(*self._why)

    def _show_summary(self) -> None:
        """Say in the heading what is chosen, so that a folded form hides nothing, and what is wrong below the fields."""
        try:
            self._summary.text, mistake = in_words(self.read(), len(self._names)), ""
        except ConfigError as error:
            self._summary.text, mistake = "Options: something is wrong here", str(error)
        if self._fields is not None:
            self._fields.mistake.text = mistake


class _Fields:
    """What stands in the form; ``why_workers`` and ``why_rounds`` as :meth:`RequestOptionsForm.allow` takes them."""

    def __init__(self, names: Sequence[str], changed: Act, why_workers: str, why_rounds: str) -> None:
        self._names, self._changed = names, changed
        with box("request-options-workers", "fieldset"):
            text("Workers that may be asked", "legend", "label")
            self._workers = Checks([line(name, 40) for name in names], changed=changed, enabled=not why_workers)
            self._ticking: list[Element] = []
            if len(names) > 1:
                with box("checks-all"):
                    tick_all = button("All", partial(self._tick, True), "quiet small", aria_label="Tick all workers")
                    tick_none = button("None", partial(self._tick, False), "quiet small", aria_label="Tick no worker")
                self._ticking = [tick_all, tick_none]
            self._no_workers = text("", "p", "soft why-not")
        with box("bar"):
            self._usd = self._field("At most, in dollars", "decimal")
            self._seconds = self._field("At most, in seconds", "decimal")
            self._rounds = self._field("At most, in rounds", "numeric", enabled=not why_rounds)
        self._no_rounds = text("", "p", "soft why-not")
        self.mistake = text("", "p", "bad mistake", role="alert")
        self._explain(why_workers, why_rounds)

    def allow(self, why_workers: str, why_rounds: str) -> None:
        """What can be chosen from now on."""
        self._workers.enable(not why_workers)
        self._rounds.enable(not why_rounds)
        self._explain(why_workers, why_rounds)

    def _explain(self, why_workers: str, why_rounds: str) -> None:
        for element in self._ticking:
            enable(element, not why_workers)
        for note, why in ((self._no_workers, why_workers), (self._no_rounds, why_rounds)):
            note.text = line(why, 300)
            show(note, bool(why))

    def read(self, why_workers: str, why_rounds: str) -> RequestOptions:
        """What is chosen."""
        return options_from(
            self._names,
            [value or bool(why_workers) for value in self._workers.values],
            usd=self._usd.value,
            seconds=self._seconds.value,
            rounds="" if why_rounds else self._rounds.value,
        )

    def _field(self, label: str, keys: str, *, enabled: bool = True) -> Line:
        # No type="number": browsers keep what they can not read to themselves, and the server could not say what is wrong.
        return Line(label, changed=self._changed, enabled=enabled, type="text", inputmode=keys, placeholder="no limit")

    def _tick(self, wanted: bool) -> None:
        self._workers.tick(wanted)
        self._changed()


def options_from(names: Sequence[str], chosen: Sequence[bool], *, usd: str, seconds: str, rounds: str) -> RequestOptions:
    """What the fields of the form say; "" is no limit. Raises :class:`ConfigError` where they make no sense.

    Example: ``options_from(["a", "b"], [True, False], usd="0.05", seconds="", rounds="").workers == ("a",)``.
    """
    wanted = tuple(name for name, on in zip(names, chosen, strict=True) if on)
    if names and not wanted:
        raise ConfigError("No worker is left: tick at least one.")
    return RequestOptions(
        workers=() if len(wanted) == len(names) else wanted,
        budget_usd=_number("dollars", usd, "0.05"),
        budget_seconds=_number("seconds", seconds, "30"),
        rounds=_rounds(rounds),
    )


def in_words(options: RequestOptions, workers: int) -> str:
    """The heading of the form. Example: ``in_words(RequestOptions(budget_usd=0.05), 7) == "Options: at most $0.05"``."""
    limits = [f"${options.budget_usd:g}"] if options.budget_usd is not None else []
    limits += [f"{options.budget_seconds:g} s"] if options.budget_seconds is not None else []
    limits += [counted(options.rounds, "round")] if options.rounds is not None else []
    parts = [f"{len(options.workers)} of {counted(workers, 'worker')}"] if options.workers else []
    parts += [f"at most {', '.join(limits)}"] if limits else []
    return f"Options: {'; '.join(parts)}" if parts else "Options"


def _number(what: str, written: str, example: str) -> float | None:
    """A number above zero. "nan" and "inf" are numbers for Python, and none for a visitor."""
    if not written.strip():
        return None
    try:
        number = float(written)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ConfigError(f"The most {what}: {_quoted(written)} is not a number. Write it like {example}.")
    if number <= 0:
        raise ConfigError(f"The most {what}: {_quoted(written)} is too little. It must be more than 0.")
    if number > MOST:
        raise ConfigError(f"The most {what}: {_quoted(written)} is too much. It can be {MOST:,} at most.")
    return number


def _rounds(written: str) -> int | None:
    if not written.strip():
        return None
    try:
        number = int(written)
    except ValueError:
        number = 0
    if not 1 <= number <= MOST_ROUNDS:
        raise ConfigError(f"The most rounds: {_quoted(written)} is not a whole number from 1 to {MOST_ROUNDS}.")
    return number


def _quoted(written: str) -> str:
    return f'"{line(clipped(written.strip(), 40), 40)}"'
