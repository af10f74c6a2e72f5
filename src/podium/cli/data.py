"""``podium data list | show | check``: the public benchmarks by name."""

import json
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from podium.cli.screen import Screen
from podium.errors import ConfigError
from podium.pools.verifiers import open_verifiers
from podium.tasks.benchmarks.check import Check, check
from podium.tasks.benchmarks.registry import all_benchmarks, benchmark, load
from podium.workflow.draw import plain


def list_sets(*, as_json: bool) -> None:
    """Every set: what it is and its splits; in JSON also its licence and where it comes from."""
    rows = [
        {
            "name": one.name,
            "kind": one.kind,
            "splits": dict(one.splits),
            "licence": one.licence,
            "hub": None if one.hub is None else {"dataset": one.hub.dataset, "revision": one.hub.revision},
            "local": one.local is not None,
            "about": one.about,
            "note": one.note,
        }
        for one in all_benchmarks().values()
    ]
    if as_json:
        print(json.dumps(rows))  # noqa: T201 - the command's output
        return
    table = Table("set", "kind", "splits", "about")
    for one in all_benchmarks().values():
        splits = ", ".join(f"{name} {size}" if size is not None else name for name, size in one.splits.items())
        table.add_row(*(Text(cell) for cell in (one.name, one.kind, splits, one.about)))
    Screen().print(table)


def show_set(*, name: str, split: str | None, data_dir: Path | None, n: int, seed: int, as_json: bool) -> None:
    """The first problems of a set. Raises :class:`ConfigError`."""
    problems = load(name, split=split, data_dir=data_dir, seed=seed)[:n]
    console = Screen()
    for problem in problems:
        if as_json:
            line = {"id": problem.id, "question": problem.question, "target": problem.target, "kind": problem.kind}
            print(json.dumps(line))  # noqa: T201 - the command's output
        else:
            console.print(Text(f"{problem.id}  {problem.source}  {problem.kind}", style="bold"))
            console.print(Text(plain(problem.question)), soft_wrap=True)
            console.print(Text(f"target: {plain(problem.target, 400)}\n"), soft_wrap=True)


async def check_sets(*, names: list[str] | None, data_dir: Path | None, sample: int, unsafe_local: bool, as_json: bool) -> None:
    """Check sets (none named: all that are at hand). Raises :class:`ConfigError` where one does not pass."""
    chosen = [benchmark(name) for name in names or ()] or list(all_benchmarks().values())
    console = Screen()
    found: list[Check] = []
    async with open_verifiers({one.kind for one in chosen}, unsafe_local=unsafe_local) as judges:
        for one in chosen:
            result = await check(one.name, judges, data_dir=data_dir, sample=sample)
            found.append(result)
            if not as_json:
                _print(console, result)
    if as_json:
        print(json.dumps([asdict(result) | {"passed": result.passed} for result in found]))  # noqa: T201
    bad = [result.name for result in found if not result.passed and (names or result.sizes)]
    if bad:
        raise ConfigError(f"not as it should be: {', '.join(bad)}")


def _print(console: Console, result: Check) -> None:
    if not result.sizes:
        reason = next(iter(result.missing.values()), "")
        console.print(Text(f"{result.name}: not at hand ({plain(reason, 160)})", style="dim"), soft_wrap=True)
        return
    sizes = ", ".join(f"{split} {size}" for split, size in result.sizes.items())
    unjudged = sum(rejected.broken for rejected in result.rejected)
    text = f"{result.name}: {sizes}; {result.tried - len(result.rejected)} of {result.tried} gold answers accepted"
    text += f", {unjudged} could not be judged" if unjudged else ""
    console.print(Text(text, style="green" if result.passed else "red"), soft_wrap=True)
    for rejected in result.rejected:
        shown = f"  {'not judged' if rejected.broken else 'not accepted'}: {plain(rejected.gold, 60)}: {plain(rejected.why, 160)}"
        console.print(Text(shown), soft_wrap=True)
    for one, other, count in result.shared:
        console.print(Text(f"  {count} questions are in {one} and in {other}"), soft_wrap=True)
    for split, count in result.repeated.items():
        if count:
            console.print(Text(f"  {count} problems of {split} are printed twice; loaded once"), soft_wrap=True)
