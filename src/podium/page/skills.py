"""One worker as its card says: name, description, price, measured skills."""

from html import escape

from podium.page.parts import piece
from podium.page.shown import line
from podium.types import Card

MOST_SKILLS = 12


def worker_line(card: Card, number: int) -> None:
    """Show ``card``; ``number`` is what a workflow calls the worker by."""
    said = [card.about[:400], *(each[:200] for each in card.abilities)]
    words = "".join(f"<p>{escape(line(each, 400))}</p>" for each in said if each)
    skills = "".join(_skill(skill, rate) for skill, rate in card.skills[:MOST_SKILLS])
    measured = f'<div class="skills" role="list" aria-label="Measured success rates">{skills}</div>' if skills else ""
    name = f'<h3><span class="number">{number}</span> <span>{escape(line(card.name, 60))}</span></h3>'
    piece(f'{name}{words}<p class="soft">{prices(card)}</p>{measured}', "card-line", "article")


def worker_row(card: Card, number: int) -> None:
    """Show ``card`` on one line."""
    name = f'<span class="number">{number}</span><b>{escape(line(card.name, 40))}</b>'
    piece(f'{name}<span class="soft">{prices(card)}</span>', "brief")


def _skill(skill: str, rate: float) -> str:
    share = 100 * min(1.0, max(0.0, rate))
    meter = f'<div class="meter" aria-hidden="true"><div style="width:{share:.1f}%"></div></div>'
    return f'<span role="listitem">{escape(line(skill, 30))}</span>{meter}<span>{share:.0f} %</span>'


def prices(card: Card) -> str:
    """Example: ``"$1.00 read, $4.00 written, per million tokens"``."""
    if card.prompt_usd is None or card.completion_usd is None:
        return "price unknown"
    return f"${1e6 * card.prompt_usd:,.2f} read, ${1e6 * card.completion_usd:,.2f} written, per million tokens"
