"""Plain HTML elements with text inside: the few parts all pages are made of.

Attributes are set one by one, never through NiceGUI's ``props("...")`` text, in which a worker's words could add attributes.
Every field has ``autocomplete="off"``: a browser that goes back would fill it again, and the server would not hear of it.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from html import escape
from typing import Any

from nicegui import ui
from nicegui.element import Element
from nicegui.elements.mixins.text_element import TextElement
from nicegui.events import GenericEventArguments

from podium.page.shown import LONG, clipped, line

Act = Callable[[], Any]

# One promise for the whole page: what is waiting for it goes on in the order in which it began to wait.
_SHAKEN = (
    "(window.podiumShaken ??= new Promise(done => { const look = () => window.did_handshake ? done() : setTimeout(look, 10); "
    "look(); }))"
)
_VALUE = "event.target.value"


def in_turn(value: str = "", *, condition: str = "") -> str:
    """A handler for the browser that sends ``value`` (JavaScript), where ``condition`` holds; it keeps the order of events.

    NiceGUI sends what happens before its socket is ready later on, each event when a timer of its own finds the socket ready.
    So a quick visitor's Enter could overtake the choice of a model that came before it, and another model was asked.
    Example: ``element.on("change", act, js_handler=in_turn("event.target.value"))``.
    """
    does = f"const value = [{value}]; {_SHAKEN}.then(() => emit(...value));"
    return f"(event) => {{ if ({condition}) {{ event.preventDefault(); {does} }} }}" if condition else f"(event) => {{ {does} }}"


def box(classes: str = "", tag: str = "div", **attributes: str) -> Element:
    """An element for others to stand in. ``aria_label`` is written ``aria-label``."""
    made = Element(tag)
    _dress(made, classes, attributes)
    return made


def text(content: str, tag: str = "p", classes: str = "", **attributes: str) -> TextElement:
    """An element with text, which is never read as HTML."""
    made = TextElement(tag=tag, text=content)
    _dress(made, classes, attributes)
    return made


def button(label: str, act: Act, classes: str = "", **attributes: str) -> TextElement:
    """A button. Example: ``button("Stop", task.cancel, "quiet")``."""
    made = text(label, "button", f"button {classes}", type="button", **attributes)
    made.on("click", lambda _: act(), js_handler=in_turn())
    return made


def enable(element: Element, wanted: bool) -> None:
    """Whether a button or a field can be used."""
    element.props.set_bool("disabled", not wanted)


def show(element: Element, wanted: bool) -> None:
    """Whether an element is there, for the eye and for a screen reader."""
    element.props.set_bool("hidden", not wanted)


def link(label: str, address: str, classes: str = "", **attributes: str) -> TextElement:
    """A link to one of our own pages."""
    return text(label, "a", classes, href=address, **attributes)


def piece(markup: str, classes: str = "", tag: str = "div", **attributes: str) -> ui.html:
    """HTML of our own with escaped texts inside, as one element: an open page costs the server 5 kB for each element.

    Example: ``piece(f"<b>{escape(name)}</b>")``.
    """
    made = ui.html(narrow(markup), sanitize=True, tag=tag)
    _dress(made, classes, attributes)
    return made


def narrow(markup: str) -> str:
    """The same HTML in ASCII: with one emoji in it Python would hold the whole text in four times the memory."""
    return markup.encode("ascii", "xmlcharrefreplace").decode()


def asked(heading: str, question: str, when: str = "") -> None:
    """What was asked, below a heading; ``when``: a line above both."""
    above = f'<p class="soft">{escape(when)}</p>' if when else ""
    piece(f'{above}<h2>{escape(heading)}</h2><p class="problem">{escape(clipped(question))}</p>', "asked")


class Choice:
    """A labelled list to choose from. ``value`` is what is chosen."""

    def __init__(self, label: str, groups: Mapping[str, Sequence[tuple[str, str]]], value: str, act: Act | None = None) -> None:
        self.value = value
        self._act = act
        self._label, self._groups = label, groups
        self._refused: dict[str, str] = {}
        self._known = {option for options in groups.values() for option, _ in options}
        self.field = piece(self._markup(), "field", "label")
        self.field.on("change", self._chosen, js_handler=in_turn(_VALUE))

    def allow(self, option: str, wanted: bool, why: str = "") -> None:
        """Whether ``option`` can be chosen; ``why`` not, in words."""
        before = self._refused.pop(option, None)
        if not wanted:
            self._refused[option] = why
        if before != self._refused.get(option):
            self.field.content = self._markup()

    def _markup(self) -> str:
        groups = "".join(
            f'<optgroup label="{escape(line(name, 60))}">{"".join(self._option(*option) for option in options)}</optgroup>'
            for name, options in self._groups.items()
        )
        return f'<span class="label">{escape(self._label)}</span><select class="select" autocomplete="off">{groups}</select>'

    def _option(self, option: str, shown: str) -> str:
        why = self._refused.get(option)
        refused = "" if why is None else f' disabled title="{escape(why)}"'
        chosen = " selected" if option == self.value else ""
        return f'<option value="{escape(option)}"{chosen}{refused}>{escape(line(shown, 80))}</option>'

    def _chosen(self, event: GenericEventArguments) -> None:
        if event.args in self._known:
            self.value = event.args
            if self._act is not None:
                self._act()


class _Written:
    """What fields for text do: ``value`` is what stands in one, at most ``most`` characters of it."""

    def __init__(self, label: str, field: str, *, value: str, most: int, changed: Act | None, send: Act | None) -> None:
        self.value, self._most = value, most
        self._changed, self._send = changed, send
        self._element = piece(f'<span class="label">{escape(label)}</span>{field}', "field", "label")

    def focus(self) -> None:
        """Take the visitor to the field."""
        self._does("focus()")

    def write(self, value: str) -> None:
        """Put ``value`` into the field."""
        self.value = value
        self._does(f"value = {json.dumps(value)}")
        if self._changed is not None:
            self._changed()

    def enable(self, wanted: bool) -> None:
        """Whether it can be written in."""
        self._does(f"disabled = {json.dumps(not wanted)}")

    def hint(self, words: str) -> None:
        """Say in the empty field what belongs there."""
        self._does(f"placeholder = {json.dumps(words)}")

    def _does(self, does: str) -> None:
        ui.run_javascript(f"document.querySelector('#c{self._element.id} :is(input, textarea)').{does}")

    def _typed(self, event: GenericEventArguments) -> None:
        before, self.value = self.value, str(event.args)[: self._most]
        if self._changed is not None and self.value != before:
            self._changed()

    def _sent(self, event: GenericEventArguments) -> Any:
        self._typed(event)
        return None if self._send is None else self._send()


class Area(_Written):
    """A labelled field for text; ``value`` is what stands in it. ``send`` is called on Enter where it is given."""

    def __init__(
        self,
        label: str,
        *,
        value: str = "",
        rows: int = 4,
        changed: Act | None = None,
        send: Act | None = None,
        classes: str = "area",
        hint: str = "",
    ) -> None:
        given = {"class": classes, "rows": str(rows), "spellcheck": "false", "autocomplete": "off", "maxlength": str(LONG)}
        value = value.encode("utf-8", "replace").decode()  # half of a character can not be sent
        # A browser leaves out a line end at the very beginning.
        field = f"<textarea{_attributes(given | {'placeholder': hint})}>\n{escape(value)}</textarea>"
        super().__init__(label, field, value=value, most=LONG, changed=changed, send=send)
        self._element.on("input", self._typed, js_handler=in_turn(_VALUE))
        if send is not None:
            # Enter asks, Shift+Enter breaks the line; an Enter that ends a composition (Japanese, say) is part of the text.
            enter = "event.key === 'Enter' && !event.shiftKey && !event.isComposing"
            self._element.on("keydown", self._sent, js_handler=in_turn(_VALUE, condition=enter))


class Line(_Written):
    """A labelled field for a few words, a number or a date: ``value`` is what stands in it, "?" where it is half a date.

    ``changed`` is called when the value changes, ``send`` on Enter. Further attributes are the field's own.
    Example: ``Line("From", changed=search, type="date")``.
    """

    def __init__(
        self,
        label: str,
        *,
        value: str = "",
        send: Act | None = None,
        changed: Act | None = None,
        enabled: bool = True,
        **attributes: str,
    ) -> None:
        given = {"class": "line", "type": "search", "maxlength": "300", "autocomplete": "off", "value": value, **attributes}
        given |= {} if enabled else {"disabled": ""}
        if given["type"] == "date" and not _is_day(value):
            given["value"] = ""  # a browser takes no other, and complains
        super().__init__(label, f"<input{_attributes(given)}>", value=value, most=300, changed=changed, send=send)
        # Of a date that is not whole, or that no calendar has, the browser says only that it is bad.
        written = f"event.target.validity.badInput ? '?' : {_VALUE}"
        for happens in ("input", "focusout"):
            self._element.on(happens, self._typed, js_handler=in_turn(written))
        if send is not None:
            self._element.on("keydown", self._sent, js_handler=in_turn(written, condition="event.key === 'Enter'"))


def _is_day(written: str) -> bool:
    try:
        return date.fromisoformat(written).isoformat() == written
    except ValueError:
        return False


def _attributes(named: Mapping[str, str]) -> str:
    return "".join(f' {name.replace("_", "-")}="{escape(value)}"' for name, value in named.items())


class Checks:
    """Labelled boxes to tick, all of them ticked at first; ``values`` says which are.

    Example: ``Checks(["atlas"], changed=show).values == [True]``.
    """

    def __init__(self, labels: Sequence[str], *, changed: Act, enabled: bool = True) -> None:
        self.values = [True for _ in labels]
        self._changed = changed
        off = "" if enabled else " disabled"
        boxes = (
            f'<label class="check-field"><input class="tick" type="checkbox" autocomplete="off" checked{off} value="{number}">'
            f"<span>{escape(label)}</span></label>"
            for number, label in enumerate(labels)
        )
        self._element = piece("".join(boxes), "checks")
        self._element.on("change", self._ticked, js_handler=in_turn("[event.target.value, event.target.checked]"))

    def tick(self, wanted: bool) -> None:
        """Tick all of them, or none."""
        self.values = [wanted for _ in self.values]
        self._each(f"each.checked = {json.dumps(wanted)}")

    def enable(self, wanted: bool) -> None:
        """Whether they can be ticked."""
        self._each(f"each.disabled = {json.dumps(not wanted)}")

    def _each(self, does: str) -> None:
        ui.run_javascript(f"document.querySelectorAll('#c{self._element.id} input').forEach(each => {does})")

    def _ticked(self, event: GenericEventArguments) -> None:
        match event.args:
            case [str(number), bool(value)] if number.isascii() and number.isdecimal() and int(number) < len(self.values):
                self.values[int(number)] = value
                self._changed()


def table(label: str, columns: Sequence[str], rows: Sequence[Sequence[str]], units: Sequence[str] = ()) -> ui.html:
    """A table as one element. Cells are markup; the first of a row says what it is of, the others are figures.

    Where the screen is narrow a row becomes a few lines without the names of the columns, and ``units`` stand behind the figures.
    """
    heads = "".join(f'<th scope="col"{_FIGURE if at else ""}>{escape(name)}</th>' for at, name in enumerate(columns))
    said = [*(f' data-unit="{escape(unit)}"' for unit in units), *("" for _ in columns)]
    body = "".join(
        f'<tr><td class="wide">{first}</td>'
        + "".join(f"<td{_FIGURE}{unit if each else ''}>{each}</td>" for each, unit in zip(figures, said, strict=False))
        + "</tr>"
        for first, *figures in rows
    )
    whole = f'<table class="plain stack"><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>'
    return piece(whole, "scroll", tabindex="0", role="region", aria_label=label)


_FIGURE = ' class="n"'


def _dress(element: Element, classes: str, attributes: Mapping[str, str]) -> None:
    element.classes(classes)
    for name, value in attributes.items():
        element.props[name.replace("_", "-")] = value
