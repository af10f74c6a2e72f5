"""The command line: ``podium demo | ask | serve | evaluate | train | ...``. A command imports what it needs."""

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
from podium.cli.forward import carried_out_by
from podium.cli.gym_commands import gym_app
from podium.cli.policy_help import PolicyHelp
from podium.cli.pool_commands import pool_app
from podium.cli.serve_command import mcp, serve
from podium.cli.store_commands import keys_app, runs_app
from podium.errors import ConfigError

app = typer.Typer(
    no_args_is_help=True,
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
@carried_out_by("podium.cli.ask:ask")
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
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Show the workflow and what it would cost, expected and at most, and stop.")
    ] = False,
    as_json: JsonFlag = False,
) -> None:
    """Conduct one question, or a file of questions, and watch the workflow run."""
    if (question is None) == (file is None):
        raise ConfigError('ask either one question (podium ask "...") or a file of questions (podium ask --file questions.jsonl)')
    if estimate and (question is None or svg is not None or rounds > 1):
        raise ConfigError("--estimate is for the first round of one question; leave out --file, --rounds and --svg")


@app.command(cls=PolicyHelp)
@carried_out_by("podium.cli.evaluate:evaluate")
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
    wide: Annotated[bool, typer.Option("--wide", help="Every column, every kind of problem, every comparison.")] = False,
    learning: Annotated[
        Path | None,
        typer.Option(help="Training problems (a file as --file) for arms that learn; of the built-in pool they are drawn."),
    ] = None,
    estimate: Annotated[bool, typer.Option("--estimate", help="Say what it would take, training included, and stop.")] = False,
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
    if save is not None and study is None:
        raise ConfigError("--save keeps what a study learns: name a study file with a table [learning]")


@app.command()
@carried_out_by("podium.cli.demo:demo")
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


@app.command()
@carried_out_by("podium.cli.train:train", "train")
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


@app.command()
@carried_out_by("podium.cli.tune:tune", "stats")
def tune(
    file: Annotated[Path | None, typer.Option(help='JSON lines, each {"question": ..., "target": ...}.')] = None,
    gym: Annotated[int | None, typer.Option(min=1, help="Tune on this many gym problems.")] = None,
    set_name: Annotated[str | None, typer.Option("--set", help="Tune on a public benchmark, see: podium data list.")] = None,
    data_dir: DataFlag = None,
    n: Annotated[int | None, typer.Option("-n", min=1, help="Only the first problems of the set or file.")] = None,
    split: Annotated[str | None, typer.Option(help="Of the set or the gym (there: train by default).")] = None,
    replay: Annotated[
        Path | None, typer.Option(help="Tune on a folder of recorded answers: a rule that stops, for each kind of question.")
    ] = None,
    most_calls: Annotated[float | None, typer.Option(min=1, help="With --replay: calls a question, on average.")] = None,
    sparing: Annotated[list[str] | None, typer.Option(metavar="NAME=SHARE", help="With --replay: bounds who is asked.")] = None,
    most_answers: Annotated[int | None, typer.Option(min=1, help="With --replay: answers judged of each kind.")] = None,
    pool: PoolFlag = None,
    out: Annotated[Path, typer.Option(help="Folder of the policy: --policy tuned:FOLDER.")] = Path("runs/tuned"),
    max_usd: MaxUsdFlag = None,
    max_calls: Annotated[int, typer.Option(help="How many calls may be paid for at most.")] = 3000,
    prefer: Annotated[
        Literal["accuracy", "balanced", "cheap"], typer.Option(help="What may be given up for a lower price: 0, 1 or 3 points.")
    ] = "balanced",
    seed: Annotated[int, typer.Option(help="Shares out the problems and draws what is tried.")] = 0,
    gate: Annotated[
        bool, typer.Option("--gate/--no-gate", help="End early where the other workers add nothing to the best one.")
    ] = True,
    about: Annotated[
        list[str] | None, typer.Option(metavar="KIND=WORDS", help="What workers are told that a kind is about; else its name.")
    ] = None,
    conductor: Annotated[str | None, typer.Option(metavar="NAME", help="Prompted Conductor, tuned too: prompted:FOLDER.")] = None,
    reflector: Annotated[str | None, typer.Option(metavar="NAME", help="Who rewrites its advice; else itself.")] = None,
    estimate: Annotated[bool, typer.Option("--estimate", help="Say what it would take, and stop.")] = False,
    journal: Annotated[
        Path | None, typer.Option(help="Where replies are kept, so that nothing is paid twice; default: in the folder.")
    ] = None,
    unsafe_local: UnsafeFlag = False,
    as_json: JsonFlag = False,
) -> None:
    """Find a policy for a pool of one's own with few paid calls: which workers, in which roles, for which kind of question."""


@app.command()
@carried_out_by("podium.cli.reproduce:list_counterparts")
def reproduce(
    show: Annotated[bool, typer.Option("--list", help="List them; the only thing this does, and the default.")] = True,
    as_json: JsonFlag = False,
) -> None:
    """Tables and figures of the paper, and the commands that make ours: what is the same, what is substituted, what it costs."""


@app.command()
@carried_out_by("podium.cli.new:new")
def new(
    file: Annotated[Path, typer.Argument(help="The pool file to make.")] = Path("pool.toml"),
    provider: Annotated[list[str] | None, typer.Option(help="Take a usual model of this provider; repeat it.")] = None,
    model: Annotated[list[str] | None, typer.Option(help="Take this model, as in openai:gpt-5-mini; repeat it.")] = None,
    local: Annotated[bool, typer.Option(help="Look for models on this machine: Ollama, LM Studio, vLLM, llama.cpp.")] = True,
    asking: Annotated[bool, typer.Option("--check/--no-check", help="Ask every worker for one word, once it is made.")] = True,
    yes: Annotated[bool, typer.Option("--yes", help="Ask nothing: what is named, else what is ready. Replaces no file.")] = False,
) -> None:
    """Make a pool file: a few questions (providers, models on this machine), and every worker is tried. Never writes a key."""


@app.command()
@carried_out_by("podium.cli.new:doctor")
def doctor(
    pool: Annotated[
        Path | None, typer.Option(help="Pool file whose workers are asked for one word each; the exit code says if it works.")
    ] = None,
    seconds: Annotated[float, typer.Option(min=0.1, help="How long a worker may take.")] = 60.0,
    as_json: JsonFlag = False,
) -> None:
    """What is installed, isolated, reachable and priced, and what one goes without where something is missing."""


app.command(cls=PolicyHelp)(serve)
app.command(cls=PolicyHelp)(mcp)


@app.command()
@carried_out_by("podium.cli.export:export_study", "inspect")
def export(
    folder: Annotated[Path, typer.Argument(help="Folder of a study, as podium evaluate STUDY.toml leaves it.")],
    out: Annotated[Path, typer.Option(help="Folder for the logs, one per arm.")] = Path("logs"),
) -> None:
    """Write a study's answers as logs of Inspect (inspect view --log-dir logs)."""


@data_app.command("list")
@carried_out_by("podium.cli.data:list_sets")
def data_list(as_json: JsonFlag = False) -> None:
    """Every set: kind, splits, licence, source."""


@data_app.command("show")
@carried_out_by("podium.cli.data:show_set")
def data_show(
    name: Annotated[str, typer.Argument(help="A set, see: podium data list.")],
    split: Annotated[str | None, typer.Option(help="Its split; default test, or the only one.")] = None,
    data_dir: DataFlag = None,
    n: Annotated[int, typer.Option("-n", min=1, help="How many problems.")] = 3,
    seed: Annotated[int, typer.Option(help="Orders the options of sets with position bias.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON lines, ready for --file.")] = False,
) -> None:
    """Print the first problems of a set."""


@data_app.command("convert")
@carried_out_by("podium.cli.records:convert")
def data_convert(
    source: Annotated[
        Path, typer.Argument(help="A folder of recordings or of LLMRouterBench's results, or RouterBench's table (.csv).")
    ],
    target: Annotated[Path, typer.Argument(help="A new folder; of routerbench a new file (.csv).")],
    to: Annotated[Literal["recordings", "llmrouterbench", "routerbench"], typer.Option(help="What to write.")] = "recordings",
) -> None:
    """Make a pool of recordings of a routing benchmark's records, or the other way round."""


@data_app.command("check")
@carried_out_by("podium.cli.data:check_sets")
def data_check(
    names: Annotated[list[str] | None, typer.Argument(help="Sets; default: all that are at hand.")] = None,
    data_dir: DataFlag = None,
    sample: Annotated[int, typer.Option(min=1, help="Gold answers per split that the verifier has to accept.")] = 50,
    unsafe_local: UnsafeFlag = False,
    as_json: JsonFlag = False,
) -> None:
    """Load sets and check them: ids, gold answers against the verifier, train and test apart."""


def main() -> None:
    """Entry point of the ``podium`` command."""
    app()
