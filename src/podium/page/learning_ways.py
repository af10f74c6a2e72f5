"""The three places of learning, as links above each of them."""

from datetime import UTC, datetime
from html import escape
from urllib.parse import urlencode

from podium.page.parts import box, link, table, text
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
    rows = [(to_folder(site, path, name), f"{datetime.fromtimestamp(written, UTC):%Y-%m-%d %H:%M}") for name, written in found]
    table("Folders", ("Folder", "Written (UTC)"), rows)


def to_folder(site: Site, path: str, name: str) -> str:
    """A link to the page of a folder, as markup."""
    address = f"{site.link(path)}?{urlencode({'run': name})}"
    return f'<a href="{escape(address)}">{escape(line(name, 80))}</a>'
