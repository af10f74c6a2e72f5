"""``podium pool check``: does every worker answer, how fast, and is its price known? ``podium pool ledger``: what was spent."""

import json
from dataclasses import asdict
from pathlib import Path

from rich.table import Table
from rich.text import Text

from podium.cli.screen import Screen
from podium.errors import WorkerUnavailable
from podium.pools.health import Health, check_workers
from podium.pools.ledger import read_ledger
from podium.workflow.draw import dollars, plain


async def check(*, pool: Path, seconds: float, as_json: bool) -> None:
    """Ask every worker once, side by side, without retries or fallbacks. Raises where one gives no answer."""
    healths = await check_workers(pool, seconds=seconds)
    if as_json:
        print(json.dumps([asdict(health) for health in healths]))  # noqa: T201 - the command's output
    else:
        screen = Screen()
        screen.print(_table(healths))
        for health in healths:
            if health.caution:
                screen.print(Text(plain(f"{health.worker}: {health.caution}", 300), style="yellow"))
    silent = [health.worker for health in healths if not health.answers]
    if silent:
        raise WorkerUnavailable(f"{len(silent)} of {len(healths)} workers do not answer: {', '.join(silent)}")


async def ledger(*, path: Path, pool: Path | None, as_json: bool) -> None:
    """Show what the journal at ``path`` has paid, per run and worker, by its name in ``pool`` (default: in ``pool.toml``)."""
    beside = Path("pool.toml")
    rows = await read_ledger(path, pool or (beside if beside.is_file() else None))
    if as_json:
        print(json.dumps([asdict(each.row) | {"name": each.name} for each in rows]))  # noqa: T201 - the command's output
        return
    table = Table("run", "worker", "paid calls", "replays", "unsettled", "tokens", "cost", box=None, padding=(0, 1, 0, 0))
    for each in rows:
        row = each.row
        cost = dollars(row.usage) if row.cost_usd is not None else f"unknown (known part ${row.known_usd:.6f})"
        counts = (str(row.calls), str(row.replays), f"{row.unsettled}{each.uncertain}", str(row.usage.tokens))
        table.add_row(*(Text(plain(cell, 200), overflow="fold") for cell in (row.run, each.name, *counts, cost)))
    Screen().print(table)


def _table(healths: list[Health]) -> Table:
    table = Table("worker", "answers", "seconds", "price", "says")
    for health in healths:
        style = "green" if health.answers else "red"
        price = "known" if health.price_known else "unknown: set prompt_usd_per_million and completion_usd_per_million"
        cells = (health.worker, "yes" if health.answers else "no", f"{health.seconds:.2f}", price, plain(health.said, 120))
        table.add_row(*(Text(cell, style=style if i == 1 else "", overflow="fold") for i, cell in enumerate(cells)))
    return table
