"""``podium tune``: a policy for one's own pool, found with few paid calls."""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Literal

from rich.text import Text

from podium.cli.screen import SIMULATED, Screen
from podium.errors import ConfigError
from podium.policies.tuned_record import made_folder
from podium.pools.open import open_pool
from podium.pools.problems import chosen_problems
from podium.tuning.estimate import estimated
from podium.tuning.recorded import Sparing, tune_recorded
from podium.tuning.report import as_object, verdict
from podium.tuning.result import Tuned
from podium.tuning.run import Progress
from podium.tuning.tune import tune as tuned_policy
from podium.tuning.typed import named_kinds, named_share
from podium.workers.budget import Budget
from podium.workflow.draw import counted, plain


async def tune(
    *,
    file: Path | None,
    gym: int | None,
    set_name: str | None,
    data_dir: Path | None,
    n: int | None,
    split: str | None,
    replay: Path | None,
    most_calls: float | None,
    sparing: list[str] | None,
    most_answers: int | None,
    pool: Path | None,
    out: Path,
    max_usd: float | None,
    max_calls: int,
    prefer: Literal["accuracy", "balanced", "cheap"],
    seed: int,
    gate: bool,
    about: list[str] | None,
    conductor: str | None,
    reflector: str | None,
    estimate: bool,
    journal: Path | None,
    unsafe_local: bool,
    as_json: bool,
) -> None:
    """Carry the command out. Raises :class:`PodiumError`."""
    if replay is not None:
        if (file, gym, set_name, pool, conductor, reflector) != (None,) * 6 or estimate:
            raise ConfigError("--replay asks nobody: leave out --file, --gym, --set, --pool, --conductor and --estimate")
        wanted = Sparing(calls=most_calls, workers=dict(map(named_share, sparing or ())))
        found = await tune_recorded(
            replay, out, prefer=prefer, sparing=wanted, most_answers=most_answers, seed=seed, unsafe_local=unsafe_local
        )
        _show(found, out, as_json=as_json)
        return
    if most_calls is not None or sparing or most_answers is not None:
        raise ConfigError("--most-calls, --sparing and --most-answers are for recorded answers: name a folder with --replay")
    split = "train" if gym is not None and split is None else split
    problems = chosen_problems(file=file, gym=gym, set_name=set_name, data_dir=data_dir, n=n, split=split)
    if blank := sum(not problem.target for problem in problems):
        raise ConfigError(f"{blank} of {len(problems)} problems have no target, so nothing can be judged")
    if estimate:
        async with open_pool(pool) as opened:
            said = estimated(problems, opened.sort_of, opened.workers.cards, max_calls=max_calls, seed=seed)
        if as_json:
            sys.stdout.write(json.dumps(asdict(said) | {"is_simulated": opened.is_simulated}) + "\n")
        else:
            simulated = f"\nDollars are {SIMULATED}." if opened.is_simulated else ""
            Screen().print(Text(said.as_text() + simulated), soft_wrap=True)
        return
    if pool is not None and journal is None:
        made_folder(out)
        journal = out / "calls.db"
    screen = Screen(stderr=True)

    def show(progress: Progress) -> None:
        best = ", ".join(f"{plain(kind, 30)} {100 * share:.0f} %" for kind, share in progress.best.items())
        usd = "price unknown" if progress.usd is None else f"${progress.usd:.4f}"
        calls, trials = counted(progress.calls, "call"), counted(progress.trials, "trial")
        screen.print(Text(f"{progress.phase}: {calls}, {usd}, {trials}; best so far {best}"))

    async with open_pool(pool, budget=Budget(max_usd), journal=journal, run=f"tune {out}") as opened:
        tuned = await tuned_policy(
            opened, problems, out, max_calls=max_calls, max_usd=max_usd, prefer=prefer, seed=seed, gate=gate,
            about=named_kinds(about or []), conductor=conductor, reflector=reflector, unsafe_local=unsafe_local,
            on_progress=None if as_json else show,
        )  # fmt: skip
    _show(tuned, out, as_json=as_json)


def _show(tuned: Tuned, out: Path, *, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(json.dumps(as_object(tuned)) + "\n")
        return
    used = counted(tuned.calls, "recorded answer" if tuned.is_recorded else "call")
    use = " or ".join(f"--policy {name}" for name in tuned.policies)
    Screen().print(Text(f"{verdict(tuned)}\n{used}; report: {out / 'report.md'}; use it: {use}"), soft_wrap=True)
