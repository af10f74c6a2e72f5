"""The command line: ``podium demo | ask | serve | evaluate | train | ...``. A command imports what it needs."""

import asyncio
from pathlib import Path
from typing import Annotated, Literal

import typer

from podium import __version__
from podium.cli.flags import (
    AgainFlag,
    ConcurrencyFlag,
    DataFlag,
    JournalFlag,
    JsonFlag,
    MaxUsdFlag,
    PoolFlag,
    RoundsFlag,
    SecondsFlag,
    TokensFlag,
    UnsafeFlag,
    UsdFlag,
)
from podium.cli.gym_commands import gym_app
from podium.cli.policy_help import PolicyHelp
from podium.cli.pool_commands import pool_app
from podium.cli.serve_command import mcp, serve
from podium.cli.store_commands import keys_app, runs_app

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Podium conducts several language models as one: for each question a policy writes a workflow, workers carry it out.",
)
data_app = typer.Typer(no_args_is_help=True, help="The public benchmarks by name.")
app.add_typer(data_app, name="data")
app.add_typer(pool_app, name="pool")
app.add_typer(gym_app, name="gym")
app.add_typer(keys_app, name="keys")
app.add_typer(runs_app, name="runs")


@app.callback(invoke_without_command=True)
def root(version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False) -> None:
    """Podium conducts several language models as one: for each question a policy writes a workflow, workers carry it out."""
    if version:
        typer.echo(__version__)
        raise typer.Exit


@app.command(cls=PolicyHelp)
def ask(
    question: Annotated[str | None, typer.Argument(help="The question; - reads it from standard input.")] = None,
    file: Annotated[Path | None, typer.Option(help='JSON lines, each {"question": "..."}; resumable.')] = None,
    pool: PoolFlag = None,
    policy: Annotated[
        str | None,
        typer.Option(help="Who writes the workflow; default: the pool's own choice. @2 behind it allows two rounds."),
    ] = None,
    rounds: RoundsFlag = 1,
    again: AgainFlag = "",
    max_steps: Annotated[int | None, typer.Option(min=1, max=100, help="Steps of one workflow at most.")] = None,
    budget_usd: UsdFlag = None,
    budget_tokens: TokensFlag = None,
    budget_seconds: SecondsFlag = None,
    journal: JournalFlag = None,
    out: Annotated[Path | None, typer.Option(help="Where the answers of --file go; default FILE.answers.jsonl.")] = None,
    concurrency: ConcurrencyFlag = 16,
    svg: Annotated[Path | None, typer.Option(help="Draw the run into this file.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Conduct one question, or a file of questions, and watch the workflow run."""
    from podium.cli.outcome import guarded
    from podium.errors import ConfigError

    with guarded():
        if (question is None) == (file is None):
            raise ConfigError(
                'ask either one question (podium ask "...") or a file of questions (podium ask --file questions.jsonl)'
            )
        from podium.cli.ask import AskFlags
        from podium.cli.ask import ask as conduct
        from podium.workers.budget import Budget

        flags = AskFlags(
            question=question,
            file=file,
            pool=pool,
            policy=policy,
            rounds=rounds,
            again=again,
            max_steps=max_steps,
            budget=Budget(budget_usd, budget_tokens, budget_seconds),
            journal=journal,
            out=out,
            concurrency=concurrency,
            svg=svg,
            as_json=as_json,
        )
        asyncio.run(conduct(flags))


@app.command(cls=PolicyHelp)
def evaluate(
    study: Annotated[Path | None, typer.Argument(help="A study (TOML): many arms, one report. Or a gym check.")] = None,
    file: Annotated[Path | None, typer.Option(help='JSON lines, each {"question": ..., "target": number}.')] = None,
    gym: Annotated[int | None, typer.Option(min=1, help="Evaluate on this many gym problems.")] = None,
    set_name: Annotated[str | None, typer.Option("--set", help="Evaluate on a public benchmark, see: podium data list.")] = None,
    data_dir: DataFlag = None,
    n: Annotated[int | None, typer.Option("-n", min=1, help="Only the first problems of the set or file.")] = None,
    split: Annotated[str | None, typer.Option(help="Of the set or the gym (there: held_out_numbers by default).")] = None,
    unsafe_local: UnsafeFlag = False,
    pool: PoolFlag = None,
    arm: Annotated[
        list[str] | None,
        typer.Option(help="An arm: worker:NAME, context:NAME (the worker with five times the room) or a policy; repeat it."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Results, one JSON line each; a rerun goes on from there.")] = None,
    repeats: Annotated[int, typer.Option(min=1, help="How often every problem is asked.")] = 1,
    rounds: RoundsFlag = 1,
    max_usd: MaxUsdFlag = None,
    budget_tokens: TokensFlag = None,
    budget_seconds: SecondsFlag = None,
    journal: JournalFlag = None,
    concurrency: ConcurrencyFlag = 64,
    as_json: JsonFlag = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print the table in Markdown.")] = False,
    compare: Annotated[str | None, typer.Option(help="This arm against every other one, problem by problem.")] = None,
    engine: Annotated[
        Literal["here", "ray"], typer.Option(help="With a study: who asks, this process or a Ray cluster.")
    ] = "here",
    address: Annotated[str, typer.Option(help="With --engine ray: a cluster's address, or local:N for N processes.")] = "local",
    runs: Annotated[
        Path | None, typer.Option(help="With a gym check: the folder of the runs, instead of the one it names.")
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(help="With a study: a folder for what its routers and rules learn, to be used as --policy learned:FOLDER."),
    ] = None,
) -> None:
    """Measure workers and policies on the same problems: accuracy with its interval, cost, tokens, seconds, faults apart."""
    from podium.cli.measure import EvaluateFlags, measure
    from podium.cli.outcome import guarded

    with guarded():
        from podium.workers.budget import Budget

        if study is not None:
            from podium.cli.evaluate_study import StudyFlags, carry_out
            from podium.studies.spec import is_gym_check

            if is_gym_check(study):
                from podium.extras import need_train

                need_train()
                from podium.cli.evaluate_gym import show_check

                asyncio.run(show_check(study, runs=runs, as_json=as_json))
                return
            if engine == "ray":
                from podium.extras import need_ray

                need_ray()
            budget = Budget(max_usd, budget_tokens, budget_seconds)
            study_flags = StudyFlags(
                path=study,
                out=out,
                budget=budget,
                cluster=address if engine == "ray" else None,
                unsafe_local=unsafe_local,
                save=save,
                as_json=as_json,
                as_markdown=as_markdown,
            )
            asyncio.run(carry_out(study_flags))
            return
        if save is not None:
            from podium.errors import ConfigError

            raise ConfigError("--save keeps what a study learns: name a study file with a table [learning]")
        flags = EvaluateFlags(
            file=file,
            gym=gym,
            set_name=set_name,
            data_dir=data_dir,
            n=n,
            split=split,
            unsafe_local=unsafe_local,
            pool=pool,
            arms=tuple(arm or ()),
            budget=Budget(max_usd, budget_tokens, budget_seconds),
            journal=journal,
            out=out,
            repeats=repeats,
            concurrency=concurrency,
            rounds=rounds,
            as_json=as_json,
            as_markdown=as_markdown,
            compare=compare,
        )
        asyncio.run(measure(flags))


@app.command()
def demo(
    problems: Annotated[int, typer.Option(min=4, help="Gym problems to conduct.")] = 100,
    minutes: Annotated[float, typer.Option(min=0.0, help="How long a fresh one is trained at the end; 0 trains none.")] = 3.0,
    replay: Annotated[
        Path | None,
        typer.Option(help="Folder with recorded outputs of real LLMs; 200 GSM8K questions are conducted over them."),
    ] = None,
    svg: Annotated[Path | None, typer.Option(help="Draw the shown run into this file.")] = None,
) -> None:
    """See it work: no key, no GPU, no network. A trained Conductor beside its workers, runs drawn, a new one trained."""
    from podium.cli.demo import show
    from podium.cli.outcome import guarded

    with guarded():
        asyncio.run(show(problems=problems, minutes=minutes, replay=replay, svg=svg))


@app.command()
def train(
    recipe: Annotated[str, typer.Argument(help="Recipe: FILE.py or FILE.py:FUNCTION, e.g. recipes/gym.py.")],
    out: Annotated[Path | None, typer.Option(help="Folder of the run; default runs/NAME. Named again, it goes on there.")] = None,
    seeds: Annotated[int, typer.Option(min=1, help="How many runs, one after the other.")] = 1,
    first_seed: Annotated[int, typer.Option(min=0, help="Seed of the first.")] = 0,
    max_usd: MaxUsdFlag = None,
    minutes: Annotated[float | None, typer.Option(min=0.01, help="Stop after so many minutes; the run can be resumed.")] = None,
    estimate: Annotated[bool, typer.Option("--estimate", help="Say what it would take, and stop.")] = False,
    warm_start: Annotated[bool, typer.Option("--warm-start", help="Only make the start policy.")] = False,
    threads: Annotated[int, typer.Option(min=1, help="Threads of torch.")] = 1,
    as_json: JsonFlag = False,
) -> None:
    """Train a Conductor by reward alone, from a recipe; interrupted at any moment, the same command goes on."""
    from podium.cli.outcome import guarded

    with guarded():
        from podium.extras import need_train

        need_train()
        from podium.cli.train import TrainFlags
        from podium.cli.train import train as run

        run(
            TrainFlags(
                recipe=recipe,
                out=out,
                seeds=seeds,
                first_seed=first_seed,
                max_usd=max_usd,
                only_estimate=estimate,
                only_warm_start=warm_start,
                threads=threads,
                minutes=minutes,
                as_json=as_json,
            )
        )


@app.command()
def reproduce(
    show: Annotated[bool, typer.Option("--list", help="List them; the only thing this does, and the default.")] = True,
    as_json: JsonFlag = False,
) -> None:
    """Tables and figures of the paper, and the commands that make ours: what is the same, what is substituted, what it costs."""
    from podium.cli.outcome import guarded
    from podium.cli.reproduce import list_counterparts

    with guarded():
        list_counterparts(as_json=as_json)


app.command(cls=PolicyHelp)(serve)
app.command(cls=PolicyHelp)(mcp)


@app.command()
def export(
    folder: Annotated[Path, typer.Argument(help="Folder of a study, as podium evaluate STUDY.toml leaves it.")],
    out: Annotated[Path, typer.Option(help="Folder for the logs, one per arm.")] = Path("logs"),
) -> None:
    """Write a study's answers as logs of Inspect (inspect view --log-dir logs)."""
    from podium.cli.outcome import guarded

    with guarded():
        from podium.cli.export import export_study

        export_study(folder, out)


@data_app.command("list")
def data_list(as_json: JsonFlag = False) -> None:
    """Every set: kind, splits, licence, source."""
    from podium.cli.data import list_sets
    from podium.cli.outcome import guarded

    with guarded():
        list_sets(as_json=as_json)


@data_app.command("show")
def data_show(
    name: Annotated[str, typer.Argument(help="A set, see: podium data list.")],
    split: Annotated[str | None, typer.Option(help="Its split; default test, or the only one.")] = None,
    data_dir: DataFlag = None,
    n: Annotated[int, typer.Option("-n", min=1, help="How many problems.")] = 3,
    seed: Annotated[int, typer.Option(help="Orders the options of sets with position bias.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON lines, ready for --file.")] = False,
) -> None:
    """Print the first problems of a set."""
    from podium.cli.data import show_set
    from podium.cli.outcome import guarded

    with guarded():
        show_set(name, split=split, data_dir=data_dir, n=n, seed=seed, as_json=as_json)


@data_app.command("check")
def data_check(
    names: Annotated[list[str] | None, typer.Argument(help="Sets; default: all that are at hand.")] = None,
    data_dir: DataFlag = None,
    sample: Annotated[int, typer.Option(min=1, help="Gold answers per split that the verifier has to accept.")] = 50,
    unsafe_local: UnsafeFlag = False,
    as_json: JsonFlag = False,
) -> None:
    """Load sets and check them: ids, gold answers against the verifier, train and test apart."""
    from podium.cli.data import check_sets
    from podium.cli.outcome import guarded

    with guarded():
        chosen = tuple(names or ())
        asyncio.run(check_sets(chosen, data_dir=data_dir, sample=sample, unsafe_local=unsafe_local, as_json=as_json))


def main() -> None:
    """Entry point of the ``podium`` command."""
    app()
