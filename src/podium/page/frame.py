"""What stands around every page: the name, the links to the other pages, light or dark."""

from collections.abc import Iterator
from contextlib import contextmanager

from nicegui.element import Element

from podium.page.parts import box, link, text
from podium.page.site import Site

PAGES = (("/", "Ask"), ("/play", "Play"), ("/runs", "Runs"), ("/training", "Training"), ("/pool", "Pool"))

ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">'
    '<rect x="2" y="17" width="8" height="11" rx="1.5" fill="#7fb3dd"/>'
    '<rect x="12" y="8" width="8" height="20" rx="1.5" fill="#0b62a4"/>'
    '<rect x="22" y="21" width="8" height="7" rx="1.5" fill="#7fb3dd"/></svg>'
)
HEAD = """<script>
(() => { const chosen = localStorage.getItem("podium-theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen; })();
</script>"""
"""Applied before anything is drawn, so that a dark page never flashes white."""

_TOGGLE = """() => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  localStorage.setItem("podium-theme", root.dataset.theme);
}"""


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
