"""``podium pool check | ledger | probe``. Every command imports what it needs when it runs."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from podium.cli.flags import DataFlag, JournalFlag, JsonFlag, MaxUsdFlag, PoolFlag, UnsafeFlag

pool_app = typer.Typer(no_args_is_help=True, help="Look after a pool of workers.")


@pool_app.command("check")
def pool_check(
    pool: Annotated[Path, typer.Option(help="Pool file (TOML).")] = Path("pool.toml"),
    seconds: Annotated[float, typer.Option(min=0.1, help="How long a worker may take.")] = 60.0,
    as_json: JsonFlag = False,
) -> None:
    """Ask every worker for one word: does it answer, how fast, is its price known?"""
    from podium.cli.check import check
    from podium.cli.outcome import guarded

    with guarded():
        asyncio.run(check(pool, seconds=seconds, as_json=as_json))


@pool_app.command("ledger")
def pool_ledger(journal: Annotated[Path, typer.Argument(help="A journal file.")], as_json: JsonFlag = False) -> None:
    """What was spent, per run and worker."""
    from podium.cli.check import ledger
    from podium.cli.outcome import guarded

    with guarded():
        asyncio.run(ledger(journal, as_json=as_json))


@pool_app.command("probe")
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
    from podium.cli.outcome import guarded
    from podium.cli.probe import ProbeFlags, probe
    from podium.workers.budget import Budget

    flags = ProbeFlags(
        file=file,
        gym=gym,
        set_name=set_name,
        data_dir=data_dir,
        n=n,
        pool=pool,
        replay=replay,
        replay_set=replay_set,
        repeats=repeats,
        budget=Budget(max_usd),
        journal=journal,
        out=out,
        unsafe_local=unsafe_local,
        as_json=as_json,
    )
    with guarded():
        asyncio.run(probe(flags))
