"""The flags that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

MOST_ROUNDS = 20  # the policies' own bound; written here because --help loads none of them

PoolFlag = Annotated[Path | None, typer.Option("--pool", help="Pool file (TOML); without it, the built-in offline pool.")]
JournalFlag = Annotated[Path | None, typer.Option(help="Keep every paid reply in this file and never pay for it twice.")]
UsdFlag = Annotated[float | None, typer.Option("--budget-usd", help="Stop before more than this is spent.")]
MaxUsdFlag = Annotated[float | None, typer.Option("--max-usd", help="Stop before more than this is spent.")]
TokensFlag = Annotated[int | None, typer.Option("--budget-tokens", help="Stop before more tokens than this are used.")]
SecondsFlag = Annotated[float | None, typer.Option("--budget-seconds", help="Stop after this many seconds.")]
JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
RoundsFlag = Annotated[int, typer.Option(min=1, max=MOST_ROUNDS, help="Workflows per question at most; above 1 is recursion.")]
AgainFlag = Annotated[
    str,
    typer.Option(help='With --rounds: when a further one is asked for, "unless 2 agree" or "if failed".', show_default="always"),
]
ConcurrencyFlag = Annotated[int, typer.Option(min=1, max=4096, help="Questions in flight at once.")]

DataFlag = Annotated[Path | None, typer.Option("--data-dir", help="Folder with local copies; without it, the public hub.")]
UnsafeFlag = Annotated[
    bool, typer.Option("--unsafe-local", help="Run programs without a sandbox where none can be made; every verdict says so.")
]
DbFlag = Annotated[
    str,
    typer.Option("--db", envvar="PODIUM_DB", show_envvar=True, help="The server's database: sqlite:///FILE or postgresql://..."),
]
DB_HERE = "sqlite:///podium.db"
