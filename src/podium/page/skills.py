"""One worker as its card says: name, description, price, measured skills."""

from podium.page.parts import box, text
from podium.page.shown import line
from podium.types import Card

MOST_SKILLS = 12


def worker_line(card: Card, number: int) -> None:
    """Show ``card``; ``number`` is what a workflow calls the worker by."""
    with box("card-line", "article"):
        with box(tag="h3"):
            text(str(number), "span", "number")
            text(line(card.name, 60), "span")
        if card.about:
            text(line(card.about, 400), "p")
        for ability in card.abilities:
            text(line(ability, 200), "p")
        text(prices(card), "p", "soft")
        if card.skills:
            with box("skills", "div", role="list", aria_label="Measured success rates"):
                for skill, rate in card.skills[:MOST_SKILLS]:
                    share = min(1.0, max(0.0, rate))
                    text(line(skill, 30), "span", role="listitem")
                    with box("meter", aria_hidden="true"):
                        box().style(f"width:{100 * share:.1f}%")
                    text(f"{100 * share:.0f} %", "span")


def worker_row(card: Card, number: int) -> None:
    """Show ``card`` on one line."""
    with box("brief", "div"):
        text(str(number), "span", "number")
        text(line(card.name, 40), "b")
        text(prices(card), "span", "soft")


def prices(card: Card) -> str:
    """Example: ``"$1.00 read, $4.00 written, per million tokens"``."""
    if card.prompt_usd is None or card.completion_usd is None:
        return "price unknown"
    return f"${1e6 * card.prompt_usd:,.2f} read, ${1e6 * card.completion_usd:,.2f} written, per million tokens"
