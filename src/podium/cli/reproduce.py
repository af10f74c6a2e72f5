"""``podium reproduce --list``: tables and figures of the paper, and the commands that make our counterparts."""

import json
import sys
from dataclasses import asdict

from rich.table import Table
from rich.text import Text

from podium.cli.screen import Screen
from podium.recipes.counterparts import COMPLETION_SHARE, COUNTERPARTS, PAPER_POOL, TOKENS, usd_per_question


def list_counterparts(*, show: bool, as_json: bool) -> None:
    """Print :data:`COUNTERPARTS`. ``show`` is the flag ``--list``, without which they are printed as well."""
    if as_json:
        found = [{**asdict(each), "live_usd": each.live_usd} for each in COUNTERPARTS]
        sys.stdout.write(json.dumps({"usd_per_question": usd_per_question(), "counterparts": found}) + "\n")
        return
    screen = Screen()
    table = Table("of the paper", "ours, without a key", "the same", "substituted", "live, about", show_lines=True)
    for each in COUNTERPARTS:
        usd = "unknown" if each.live_usd is None else f"${each.live_usd:,.0f}"
        table.add_row(
            *(Text(cell) for cell in (each.paper, "\n".join(each.commands), each.same, each.substituted, f"{each.live}\n{usd}"))
        )
    screen.print(table)
    price = usd_per_question()
    cents = "unknown" if price is None else f"{100 * price:.2f} cents"
    names = ", ".join(model for _, model in PAPER_POOL)
    screen.print(
        Text(
            f"Live dollars: workers only, {TOKENS:,} tokens a question as in the paper, {COMPLETION_SHARE:.0%} written, at the "
            f"mean list price of {names}: {cents} a question. Without a key everything above costs nothing."
        ),
        soft_wrap=True,
    )
