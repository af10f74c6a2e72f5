"""``podium new``: a few questions, and there is a pool file. ``podium doctor``: what this machine and a pool can do."""

import asyncio
import json
import os
from dataclasses import asdict
from pathlib import Path

from rich.text import Text

from podium.cli.asking import agreed, answered, has_folder, is_somebody_there
from podium.cli.check import check
from podium.cli.screen import Screen, note
from podium.errors import ConfigError, WorkerUnavailable
from podium.pools.doctor import examined
from podium.pools.new_pool import interviewed, of_local, of_model, of_provider, offered, pool_text, write_pool
from podium.workers.local_servers import local_models
from podium.workflow.draw import plain


def new(*, file: Path, provider: list[str] | None, model: list[str] | None, local: bool, asking: bool, yes: bool) -> None:
    """Make a pool file. Raises :class:`PodiumError`; a file that is there is replaced only where a person says so."""
    if not yes and not is_somebody_there():
        raise ConfigError("nobody can answer questions here; say --yes, and what is wanted with --provider or --model")
    has_folder("the pool file", file)
    replace = file.exists() and not yes and agreed(f"{file} is there already. Replace it?")
    if file.exists() and not replace:
        raise ConfigError(f"{file} is there already, and stays as it is; name another file")
    choices = [*(of_provider(each, os.environ) for each in provider or ()), *map(of_model, model or ())]
    found = asyncio.run(local_models()) if local else []
    if not choices and yes:
        choices = [choice for choice in offered(found) if choice.is_ready]
    elif not choices:
        note("What there is: providers, with the variable that holds the key, and models on this machine.")
        choices = interviewed(offered(found), note, lambda question, usual: answered(f"{question} [{plain(usual, 60)}]", usual))
    elif local:
        choices += map(of_local, found)
    write_pool(file, pool_text(choices), replace=replace)
    note(f"wrote {file}; try it: podium ask --pool {file} --policy solo:0 'Why is the sky blue?'")
    if asking and (yes or agreed("Ask every worker for one word now? It costs less than a cent.")):
        asyncio.run(check(pool=file, seconds=60.0, as_json=False))


STYLES = {"ok": "green", "missing": "yellow", "fails": "red"}


async def doctor(*, pool: Path | None, seconds: float, as_json: bool) -> None:
    """Show what is there and what is not. Raises :class:`WorkerUnavailable` where ``pool`` can not be used as it is."""
    screen, found, part = Screen(), [], ""
    async for each in examined(pool, seconds=seconds):
        found.append(each)
        if as_json:
            continue
        if each.part != part:
            part = each.part
            screen.print(Text(part, style="bold"))
        screen.print(Text(f"  {each.state:8}{plain(each.name, 40):16}", style=STYLES[each.state]), Text(plain(each.said, 300)))
        if each.costs:
            screen.print(Text(f"{'':26}without it: {each.costs}", style="dim"))
    if as_json:
        print(json.dumps([asdict(each) for each in found]))  # noqa: T201 - the command's output
    if stopping := [each.name for each in found if each.stops_pool]:
        raise WorkerUnavailable(f"{pool} can not be used as it is: no answer from {', '.join(stopping)}")
