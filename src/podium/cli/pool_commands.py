"""``podium pool check | ledger | probe``. Every command imports what it needs when it runs."""

from pathlib import Path
from typing import Annotated

import typer

from podium.cli.flags import DataFlag, JournalFlag, JsonFlag, MaxUsdFlag, PoolFlag, UnsafeFlag
from podium.cli.forward import carried_out_by

pool_app = typer.Typer(no_args_is_help=True, help="Look after a pool of workers.")


@pool_app.command("check")
@carried_out_by("podium.cli.check:check")
def pool_check(
    pool: Annotated[Path, typer.Option(help="Pool file (TOML).")] = Path("pool.toml"),
    seconds: Annotated[float, typer.Option(min=0.1, help="How long a worker may take.")] = 60.0,
    as_json: JsonFlag = False,
) -> None:
    """Ask every worker for one word: does it answer, how fast, is its price known?"""


@pool_app.command("ledger")
@carried_out_by("podium.cli.check:ledger")
def pool_ledger(
    path: Annotated[Path, typer.Argument(metavar="JOURNAL", help="A journal file.")],
    pool: Annotated[Path | None, typer.Option(help="Pool file whose names are shown; default: pool.toml, if there is one.")] = (
        None
    ),
    as_json: JsonFlag = False,
) -> None:
    """What was spent, per run and worker."""


@pool_app.command("probe")
@carried_out_by("podium.cli.probe:probe", "stats")
def pool_probe(
    file: Annotated[Path | None, typer.Option(help='JSON lines, each {"question": ..., "target": number}.')] = None,
    gym: Annotated[int | None, typer.Option(min=2, help="Probe with this many gym problems.")] = None,
    set_name: Annotated[str | None, typer.Option("--set", help="Probe with a public benchmark, see: podium data list.")] = None,
    data_dir: DataFlag = None,
    n: Annotated[int | None, typer.Option("-n", min=2, help="Only the first problems of the set or file.")] = None,
    pool: PoolFlag = None,
    replay: Annotated[Path | None, typer.Option(help="Folder with recorded outputs, whose workers are probed instead.")] = None,
    replay_set: Annotated[str, typer.Option(help="Which of its sets: gsm, math-l5 or crux.")] = "gsm",
    repeats: Annotated[int, typer.Option(min=1, help="How often every worker is asked every problem.")] = 3,
    max_usd: MaxUsdFlag = None,
    journal: JournalFlag = None,
    out: Annotated[Path | None, typer.Option(help="Results, one JSON line each; a rerun goes on from there.")] = None,
    unsafe_local: UnsafeFlag = False,
    as_json: JsonFlag = False,
) -> None:
    """Is this pool worth training on? What choosing workers by kind and text would gain over the best one."""
