"""``podium demo``: a few questions one can watch, then the measured table, then one run drawn; all offline.

With a folder of recorded outputs of real LLMs, 200 GSM8K questions are conducted over those as well.
"""

import time
from pathlib import Path

from rich.console import Console
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from podium.cli.live import RunView
from podium.cli.measure import evaluate_with_progress
from podium.cli.screen import Screen
from podium.cli.wiring import Team, gym_pool, make_conductor, with_vote
from podium.conduct import Conductor
from podium.evaluation.metrics import Row, summarise
from podium.gym.optimum import optimum
from podium.gym.specialists import specialists
from podium.gym.verify import GymVerifier
from podium.gym.world import World
from podium.policies.fixed import mixture_of_agents
from podium.protocols import Worker
from podium.tasks.datasets import load_replay_problems
from podium.tasks.mathematics import MathVerifier
from podium.types import Call, Card, Problem
from podium.workers.budget import Budget
from podium.workers.pool import Member, WorkerPool
from podium.workers.recorded import load_replay
from podium.workflow.draw import as_svg, as_text, plain

REPLAY_QUESTIONS = 200
_WATCHED_SPEED = 0.4
"""Share of their real slowness at which the workers of the watched questions run."""


async def show(*, problems: int, replay: Path | None, svg: Path | None) -> None:
    """The whole demonstration. Raises :class:`ConfigError` for a replay folder that can not be read."""
    console = Screen()
    started = time.perf_counter()
    world = World()
    team = Team(pool=gym_pool(Budget(), world), is_gym=True)
    chosen = world.problems(split="held_out_numbers", n=problems)
    _say(console, "Seven offline workers, each good at something else. A workflow decides who does what, and who sees what.")
    await _watch(console, world, {problem.kind: problem for problem in reversed(chosen)})
    await _gym_table(console, team, chosen)
    await _drawn(console, team, next(problem for problem in chosen if problem.kind == "fact"), svg)
    if replay is not None:
        await _replay_table(console, replay)
    _say(console, f"Done in {time.perf_counter() - started:.0f} s. Next: podium ask --help, and the README for your own keys.")


async def _watch(console: Console, world: World, by_kind: dict[str, Problem]) -> None:
    console.print(Rule("Four questions, conducted"))
    slow = [Member(worker=w, card=w.card) for w in specialists(world, sleep_scale=_WATCHED_SPEED)]
    conductor = make_conductor("best", Team(pool=WorkerPool(slow), is_gym=True))
    for problem in by_kind.values():
        console.print(Text(f"\n{problem.kind}: {plain(problem.question)}", style="bold"))
        with RunView(console) as view:
            completion = await conductor.conduct(Call.plain(problem.question), view.on_event)
        verdict = await GymVerifier()(problem, completion.text)
        console.print(Text(plain(completion.text)))
        console.print(Text("right" if verdict.correct else f"wrong: {verdict.why}", style="green" if verdict.correct else "red"))


async def _gym_table(console: Console, team: Team, chosen: list[Problem]) -> None:
    console.print(Rule(f"{len(chosen)} problems: workers alone, baselines, known-best workflows"))
    alone: dict[str, Worker] = {member.name: member.worker for member in team.pool}
    rows = summarise(await evaluate_with_progress(alone, chosen, GymVerifier()))
    best = max((row for row in rows if row.kind is None), key=lambda row: row.accuracy or 0.0).arm
    together = {
        f"{best}, 5x self-reflection": make_conductor(f"reflection:{best}", team),
        f"{best}, 5x consensus": make_conductor(f"consensus:{best}", team),
        "mixture of agents": make_conductor(f"mixture:{best}", team),
        "known-best workflows": make_conductor("best", team),
    }
    rows += summarise(await evaluate_with_progress(together, chosen, GymVerifier()))
    console.print(_compact(rows))
    kinds = {problem.kind for problem in chosen}
    ceiling = sum(optimum()[kind].accuracy for kind in kinds) / len(kinds)
    _say(console, f"Measured on 2,000 problems a kind, the known-best workflows reach {ceiling:.1%}.")


async def _drawn(console: Console, team: Team, problem: Problem, svg: Path | None) -> None:
    console.print(Rule("One run, step by step"))
    completion = await make_conductor("best", team).conduct(Call.plain(problem.question))
    transcript = completion.transcripts[0]
    console.print(Text(f"question  {plain(problem.question)}\n\n{as_text(transcript)}\n"))
    if svg is not None:
        svg.write_text(as_svg(transcript), encoding="utf-8")
        _say(console, f"The same run as a picture: {svg}")


async def _replay_table(console: Console, folder: Path) -> None:
    console.print(Rule(f"{REPLAY_QUESTIONS} GSM8K questions over recorded answers of real LLMs"))
    members = [Member(worker=worker, card=Card(name=name)) for name, worker in load_replay(folder, dataset="gsm")]
    recorded = WorkerPool(members)
    voting = with_vote(recorded)
    arms: dict[str, Worker] = {member.name: member.worker for member in recorded}
    policy = mixture_of_agents(aggregator=len(recorded), layer=range(len(recorded)))
    arms[f"all {len(recorded)}, majority vote"] = Conductor(policy, voting, max_steps=len(voting))
    problems = load_replay_problems(folder, "gsm")[:REPLAY_QUESTIONS]
    async with MathVerifier() as verifier:
        rows = summarise(await evaluate_with_progress(arms, problems, verifier))
    console.print(_compact(rows, simulated=False))
    _say(
        console,
        "A recorded answer does not change with the subtask: these figures show selection, voting and plumbing on real text, "
        "not what better instructions or communication would gain. What the recordings cost is unknown.",
    )


def _compact(rows: list[Row], *, simulated: bool = True) -> Table:
    """What fits a narrow terminal; ``podium evaluate`` shows every column. Recordings have neither price nor time."""
    names = ["arm", "accuracy", "95 % CI", "steps", *(["$ each", "seconds"] if simulated else []), "faults"]
    table = Table(*names)
    for column in table.columns[1:]:
        column.justify = "right"
    for row in rows:
        if row.kind is not None or row.accuracy is None or row.interval is None:
            continue
        interval = f"{100 * row.interval.low:.0f}-{100 * row.interval.high:.0f}"
        cost = "unknown" if row.cost_usd is None else f"{row.cost_usd:.5f}"
        cells = [plain(row.arm, 30), f"{100 * row.accuracy:.1f} %", interval, f"{row.steps or 0.0:.1f}"]
        cells += [cost, f"{row.seconds or 0.0:.1f}"] if simulated else []
        table.add_row(*(Text(cell) for cell in [*cells, str(row.world_faults)]))
    return table


def _say(console: Console, text: str) -> None:
    console.print(Text(text), soft_wrap=False)
