"""Every relative link in the Markdown files leads to a file, and every anchor to a heading; nothing is fetched from elsewhere."""

import re
from pathlib import Path

import pytest

from docs.check_site import loads_from_elsewhere

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "AGENTS.md", *sorted(DOCS.rglob("*.md"))]
LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """Of the headings, as the generator and GitHub both make them."""
    text = FENCE.sub("", page.read_text())
    plain = (re.sub(r"[^\w\s-]", "", title).strip().lower() for title in re.findall(r"^#+ (.+)$", text, re.MULTILINE))
    return {re.sub(r"\s+", "-", title) for title in plain}


def links(page: Path) -> list[str]:
    return [target for target in LINK.findall(FENCE.sub("", page.read_text())) if "://" not in target]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_and_anchors_lead_somewhere(page: Path) -> None:
    for target in links(page):
        path, _, anchor = target.partition("#")
        file = (page.parent / path) if path else page
        assert file.exists(), f"{page.name} links to {target}"
        assert not anchor or anchor in anchors(file), f"{page.name} links to {target}, and there is no such heading"
        if page.is_relative_to(DOCS):
            assert file.resolve().is_relative_to(DOCS), f"{page.name} links to {target}, which is not on the site"


def test_every_page_is_in_the_menu_and_can_be_reached() -> None:
    menu = set(re.findall(r"([\w/]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE))
    assert menu == {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}


def test_every_picture_is_shown() -> None:
    shown = {(page.parent / target).resolve() for page in PAGES for target in links(page)}
    assert {path for path in DOCS.rglob("*") if path.suffix in (".png", ".svg")} <= shown


def test_no_diagram_needs_a_script_from_elsewhere() -> None:
    assert not [page.name for page in PAGES if "```mermaid" in page.read_text()]


@pytest.mark.parametrize(
    "text",
    [
        '<script src="https://cdn.example/x.js"></script>',
        '<link rel="stylesheet" href="//fonts.example/css">',
        "<img alt=x src=http://pictures.example/x.png>",
        "@import 'https://fonts.example/a.css';",
        "src: url(https://fonts.example/a.woff2)",
        '<pre class="mermaid">flowchart</pre>',
    ],
)
def test_what_is_loaded_from_elsewhere_is_found(text: str) -> None:
    assert loads_from_elsewhere(text)


@pytest.mark.parametrize(
    "text", ['<a href="https://arxiv.org">x</a>', '<script src="assets/x.js"></script>', "url(data:image/svg+xml)"]
)
def test_links_and_own_files_are_fine(text: str) -> None:
    assert not loads_from_elsewhere(text)
