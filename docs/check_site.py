"""Fails where a page of the built site would load anything from another host: a script, a style, a picture, a font."""

import re
import sys
from pathlib import Path

SITE = Path(__file__).parents[1] / "site"
LOADED = re.compile(
    r"""<(?:script|img|iframe|source|video|audio|embed)\b[^>]*\bsrc=["']?(?:https?:)?//"""
    r"""|<link\b(?![^>]*\brel=["']?canonical)[^>]*\bhref=["']?(?:https?:)?//"""
    r"""|(?:@import\s|url\()\s*["']?(?:https?:)?//""",
    re.IGNORECASE,
)
DIAGRAMS = re.compile(r"""class=["'][^"']*\bmermaid\b""")
"""The theme fetches a script from another host for these, and only for these."""


def loads_from_elsewhere(text: str) -> bool:
    """Whether this page or style would make a browser ask another host."""
    return LOADED.search(text) is not None or DIAGRAMS.search(text) is not None


if __name__ == "__main__":
    files = [*SITE.rglob("*.html"), *SITE.rglob("*.css")]
    bad = [str(file) for file in files if loads_from_elsewhere(file.read_text(encoding="utf-8"))]
    if bad or not files:
        sys.exit(f"the site would load something from another host: {', '.join(bad)}" if bad else f"there is no site in {SITE}")
