"""What a visitor of a new server is told above the box: what the pool answers, and how to bring models of one's own."""

from html import escape

from podium.page.parts import piece
from podium.page.site import Site
from podium.workflow.draw import counted


def introduction(site: Site) -> None:
    """Say what this pool can do, where it can not do everything."""
    playground = site.playground
    if playground is None or not playground.answers_only_these:
        return
    kinds = dict.fromkeys(problem.kind for problem in playground.problems)
    words = (
        f"This is the built-in practice pool: {counted(len(site.catalog.cards), 'simulated worker')}, no key and no bill. It "
        f"answers problems of {counted(len(kinds), 'kind')} ({', '.join(kinds)}) and nothing else. Take one of the examples "
        "below, or bring your own models and ask what you like."
    )
    own = f'<a class="button quiet small" href="{escape(site.link("/models"))}">Bring your own models</a>'
    piece(f"<p>{escape(words)}</p>{own}", "introduction", "section", aria_label="About this pool")
