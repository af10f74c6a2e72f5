"""A text of any length, as it was written: its start at first, more of it on demand; standing there, or behind its title."""

from collections.abc import Sequence
from html import escape

from nicegui.elements.mixins.text_element import TextElement
from nicegui.events import GenericEventArguments

from podium.page.parts import box, button, in_turn, piece, show, text
from podium.page.shown import LONG, SHORT, clipped


class LongText:
    """A text of any length as it was written; long ones can be opened, up to :data:`podium.page.shown.LONG` characters."""

    def __init__(self, content: str = "", label: str = "text") -> None:
        with box("long") as self._frame:
            self._text = text("", "pre", "said", tabindex="0", role="region", aria_label=label)
        self._more: TextElement | None = None
        self._content = ""
        self.show(content)

    def show(self, content: str) -> None:
        """Show the start of ``content``."""
        self._content = content
        self._text.text = clipped(content, SHORT)
        more = _more(content)
        if more and self._more is None:
            with self._frame:
                self._more = button("", self._open, "quiet small")
        if self._more is not None:
            self._more.text = more
            show(self._more, bool(more))

    def _open(self) -> None:
        self._text.text = clipped(self._content, LONG)
        if self._more is not None:
            show(self._more, False)


class Folded:
    """A long text behind its title, as one element; a click opens it, and it stays open when another text is shown."""

    def __init__(self, title: str, content: str = "", *, is_open: bool = False) -> None:
        self._title = title
        self._element = piece("", "quoted", "details", **({"open": ""} if is_open else {}))
        self._element.on("click", self._open, js_handler=in_turn(condition="event.target.closest('.button')"))
        self.show(content)

    def show(self, content: str) -> None:
        """Show the start of ``content``."""
        self._content = content
        self._write(SHORT)

    def hide(self, wanted: bool) -> None:
        """Whether it is away."""
        show(self._element, not wanted)

    def _open(self, _: GenericEventArguments) -> None:
        self._write(LONG)

    def _write(self, most: int) -> None:
        self._element.content = _behind(self._title, self._content, most)


class Folds:
    """Long texts, each behind its title, as one element. Example: ``Folds([("question", asked), ("answer", said)])``."""

    def __init__(self, titled: Sequence[tuple[str, str]]) -> None:
        self._titled = titled
        self._whole: set[int] = set()
        self._element = piece(self._markup(()))
        self._element.on("click", self._more, js_handler=in_turn(_UNFOLDED, condition="event.target.closest('.button')"))

    def _more(self, event: GenericEventArguments) -> None:
        """Show the whole of the one whose button was clicked; what the visitor has unfolded stays so."""
        match event.args:
            case [int(number), [*unfolded]]:
                self._whole.add(number)
                self._element.content = self._markup(unfolded)

    def _markup(self, unfolded: Sequence[object]) -> str:
        return "".join(
            f'<details class="quoted"{" open" if number in unfolded else ""}>'
            f"{_behind(title, content, LONG if number in self._whole else SHORT)}</details>"
            for number, (title, content) in enumerate(self._titled)
        )


_UNFOLDED = """((all) => [all.indexOf(event.target.closest('details')), all.flatMap((each, at) => each.open ? [at] : [])])(
    [...event.currentTarget.querySelectorAll('details')])"""


def folded(title: str, content: str) -> None:
    """A long text behind its title. Example: ``folded("the question", question)``."""
    Folds([(title, content)])


def _behind(title: str, content: str, most: int) -> str:
    """What stands in the ``<details>`` of a text."""
    more = _more(content) if most == SHORT else ""
    button = f'<button type="button" class="button quiet small">{more}</button>' if more else ""
    # A browser leaves out a line end at the very beginning of a <pre>.
    said = f'<pre class="said" tabindex="0" role="region" aria-label="{escape(title)}">\n'
    return f'<summary>{escape(title)}</summary><div class="long">{said}{escape(clipped(content, most))}</pre>{button}</div>'


def _more(content: str) -> str:
    """What the button says that shows more than the start of ``content``; "" where there is no more."""
    part = "all (" if len(content) <= LONG else f"more (the first {LONG:,} of "
    return f"Show {part}{len(content):,} characters)" if len(content) > SHORT else ""
