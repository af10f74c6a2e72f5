"""The three places of learning, as links above each of them."""

from datetime import UTC, datetime
from urllib.parse import urlencode

from podium.page.parts import box, heads, link, text
from podium.page.shown import line
from podium.page.site import Site

_WAYS = (("/training", "Training"), ("/tuning", "Tuning"), ("/studies", "Studies"))


def learning_ways(site: Site, path: str) -> None:
    """Show the links; ``path`` is where the visitor is."""
    with box("ways below", "nav", aria_label="Learning"):
        for address, name in _WAYS:
            link(name, site.link(address), "way", **({"aria_current": "true"} if address == path else {}))


def listed(site: Site, path: str, found: list[tuple[str, float]], nothing: str) -> None:
    """Names, each a link to its page, and when they were written."""
    if not found:
        text(nothing)
        return
    with box("scroll"), box("plain", "table"):
        heads(("Folder", ""), ("Written (UTC)", "n"))
        with box(tag="tbody"):
            for name, written in found:
                with box(tag="tr"):
                    with box(tag="td"):
                        link(line(name, 80), f"{site.link(path)}?{urlencode({'run': name})}")
                    text(f"{datetime.fromtimestamp(written, UTC):%Y-%m-%d %H:%M}", "td", "n")
