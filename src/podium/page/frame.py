"""What stands around every page: the name, the links to the other pages, light or dark."""

from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path

from nicegui.element import Element

from podium.page.parts import box, piece, text
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
    ways = "".join(_way(site.link(address), name, here=address == path) for address, name in PAGES)
    leave = _way(site.link("/sign-out"), "Sign out") if site.with_keys else ""
    house = f'<a class="house" href="{escape(site.link("/"))}">Podium</a><nav class="ways" aria-label="Pages">{ways}</nav>'
    toggle = '<button class="theme" type="button" aria-label="Change between light and dark">Light / dark</button>'
    skip = '<a class="skip" href="#content">Skip to the content</a>'
    top = piece(f"{skip}{house}{leave}{toggle}", "top", "header")
    top.on("click", js_handler=f"(event) => {{ if (event.target.closest('.theme')) ({_TOGGLE})(); }}")
    with box("content", "main", id="content", tabindex="-1") as main:
        text(title, "h1")
        if lead:
            text(lead, "p", "lead")
        yield main


def _way(address: str, name: str, *, here: bool = False) -> str:
    current = ' aria-current="page"' if here else ""
    return f'<a class="way" href="{escape(address)}"{current}>{name}</a>'
