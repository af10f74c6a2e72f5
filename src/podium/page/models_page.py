"""One's own models: the page around the form.

Only for who may change what the server does: a key with the scope "admin", or a server that only its own machine reaches.
"""

import asyncio
from typing import TYPE_CHECKING

from podium.page.frame import frame
from podium.page.parts import text
from podium.page.site import Site
from podium.page.visitor import Visitor

if TYPE_CHECKING:
    from podium.page.models_form import ModelsForm


async def models_page(site: Site, visitor: Visitor) -> None:
    """Build the page."""
    # In a thread: it takes a second, and the server goes on meanwhile.
    form = None if site.pool_files is None else await asyncio.to_thread(_form)
    lead = "Podium conducts any models you can reach. Name them here; a key stays in its environment variable."
    with frame(site, "", "Your own models", lead):
        if form is None or site.pool_files is None:
            text("This server writes no files: other machines can reach it and it asks for no keys.")
            text("Write a pool file by hand (docs/pool.md) and start podium serve --pool pool.toml.", "p", "soft")
            return
        form(visitor, site.pool_files)


def _form() -> "type[ModelsForm]":
    from podium.page.models_form import ModelsForm  # the vendors' libraries

    return ModelsForm
