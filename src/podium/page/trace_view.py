"""The tree of a run, and beside it, where there is room, what the chosen part was asked, saw and said.

The parts of the pane are unfolded and folded by the visitor and stay so when something else is chosen.
"""

from collections.abc import Sequence
from html import escape

from nicegui import ui
from nicegui.events import GenericEventArguments

from podium.page.long_text import Folded
from podium.page.parts import box, in_turn, piece
from podium.page.trace import Node, every, trace
from podium.types import Transcript

_CHOSEN = "event.target.closest('[data-node]')?.dataset.node"
_MARK = """document.querySelectorAll('.trace [data-node]').forEach(
    each => each.setAttribute('aria-pressed', each.dataset.node === {id!r}))"""


class TraceView:
    """Shows the tree. ``at`` is the id of what is chosen at first, ``address`` the page's own, which then says what is."""

    def __init__(self, transcripts: Sequence[Transcript], at: str, address: str) -> None:
        tree = trace(transcripts)
        self._nodes = {node.id: node for node in every(tree)}
        self._address = address
        chosen = at if at in self._nodes else next(iter(self._nodes))
        with box("trace"):
            made = piece(_list(tree, chosen), "trace-tree", "nav", aria_label="Parts of the run")
            made.on("click", self._clicked, js_handler=in_turn(_CHOSEN))
            with box("trace-detail", "section", aria_label="The chosen part", aria_live="polite"):
                self._head = piece("")
                self._parts = {part: Folded(part, is_open=part == "Said") for part in ("Asked", "Saw", "Said")}
        self._show(self._nodes[chosen])

    def _clicked(self, event: GenericEventArguments) -> None:
        node = self._nodes.get(event.args) if isinstance(event.args, str) else None
        if node is not None:
            self._show(node)
            ui.run_javascript(_MARK.format(id=node.id))
            ui.navigate.history.replace(f"{self._address}?at={node.id}")

    def _show(self, node: Node) -> None:
        self._head.content = f'<h3>{escape(node.name)}</h3><p class="soft">{escape(node.figures)}</p>'
        for part, content in (("Asked", node.asked), ("Saw", node.saw), ("Said", node.said)):
            self._parts[part].show(content)
            self._parts[part].hide(not content)


def _list(nodes: Sequence[Node], chosen: str) -> str:
    return f"<ul>{''.join(_item(node, chosen) for node in nodes)}</ul>" if nodes else ""


def _item(node: Node, chosen: str) -> str:
    # What stands below rounds is seen at once; what a step did inside is unfolded.
    below = _list(node.below, chosen)
    if below and not node.name.startswith("Round "):
        opened = " open" if chosen.startswith(f"{node.id}.") else ""
        below = f"<details{opened}><summary>inside {escape(node.name)}</summary>{below}</details>"
    ended = " failed" if node.failed else " stopped" if node.stopped else ""
    name = f'<span class="{"bad" if node.failed else "name"}">{escape(node.name)}{ended}</span>'
    pressed = "true" if node.id == chosen else "false"
    button = f'<button type="button" data-node="{escape(node.id)}" aria-pressed="{pressed}">'
    return f'<li>{button}{name}<span class="soft">{escape(node.figures)}</span></button>{below}</li>'
