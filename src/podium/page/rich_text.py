"""An answer as its author meant it: Markdown with code and formulas, made safe by :mod:`podium.page.markup`."""

from pathlib import Path

import nicegui
from nicegui.element import Element

from podium.page import markup

KATEX = "/_podium/katex.js"
"""Where the page finds the formula library."""


def katex() -> Path | None:
    """KaTeX as it comes inside the NiceGUI wheel, with its drawing library; None where a release no longer has it."""
    return next(iter((Path(nicegui.__file__).parent / "elements" / "mermaid" / "dist").glob("katex-*.js")), None)


class RichText(Element, component="rich_text.js"):
    """Shows Markdown. Example: ``RichText().show("The sum is $1 + 1 = 2$.")``."""

    def __init__(self) -> None:
        super().__init__()
        self.props["katex"] = KATEX if katex() is not None else ""
        self.props["html"] = ""

    def show(self, text: str) -> None:
        """Show ``text``, the first :data:`podium.page.markup.MOST` characters of it."""
        self.props["html"] = markup.html(text)
