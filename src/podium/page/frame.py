"""What stands around every page: the name, the links to the other pages, light or dark."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nicegui.element import Element

from podium.page.parts import box, link, text
from podium.page.site import Site

PAGES = (("/", "Ask"), ("/play", "Play"), ("/runs", "Runs"), ("/training", "Training"), ("/pool", "Pool"))

ICON, _LOOK, _TOGGLE, _KEYS = (
    Path(__file__).with_name(name).read_text().strip() for name in ("icon.svg", "head.html", "theme.js", "keys.js")
)
HEAD = f"{_LOOK}\n<script>\n{_KEYS}\n</script>"
"""The chosen look is applied before anything is drawn, so that a dark page never flashes white."""


@contextmanager
def frame(site: Site, path: str, title: str, lead: str = "") -> Iterator[Element]:
    """The page at ``path``. Example: ``with frame(site, "/pool", "Pool"): text("Seven workers.")``."""
    text("Skip to the content", "a", "skip", href="#content")
    with box("top", "header"):
        link("Podium", site.link("/"), "house")
        with box("ways", "nav", aria_label="Pages"):
            for address, name in PAGES:
                here = {"aria_current": "page"} if address == path else {}
                link(name, site.link(address), "way", **here)
        if site.with_keys:
            link("Sign out", site.link("/sign-out"), "way")
        toggle = text("Light / dark", "button", "theme", type="button", aria_label="Change between light and dark")
        toggle.on("click", js_handler=_TOGGLE)
    with box("content", "main", id="content", tabindex="-1") as main:
        text(title, "h1")
        if lead:
            text(lead, "p", "lead")
        yield main
