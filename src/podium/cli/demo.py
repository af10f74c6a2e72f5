"""``podium demo``: a few questions one can watch, the measured table, three runs drawn, a new Conductor trained; all offline.

With a folder of recorded outputs of real LLMs, 200 GSM8K questions are conducted over those as well.
"""

import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from podium.cli.live import RunView
from podium.cli.progress import Bars
from podium.cli.screen import Screen
from podium.conduct import Conductor
from podium.errors import BudgetExceeded
from podium.evaluation.evaluate import Result, evaluate
from podium.evaluation.metrics import summarise
from podium.evaluation.report import terminal_table
from podium.gym.kinds import SHORT_KINDS
from podium.gym.specialists import specialists
from podium.gym.stored import stored
from podium.gym.verify import GymVerifier
from podium.gym.world import World
from podium.policies.fixed import mixture_of_agents
from podium.policies.voting import with_vote
from podium.pools.conducting import conductor
from podium.pools.gym import gym_pool
from podium.pools.opened import OpenPool
from podium.pools.recorded import recorded_pool
from podium.protocols import Verifier, Worker
from podium.tasks.datasets import load_replay_problems
from podium.tasks.mathematics import MathVerifier
from podium.types import Call, Problem
from podium.workers.budget import Budget
from podium.workers.pool import Member, WorkerPool
from podium.workflow.draw import as_svg, as_text, plain

REPLAY_QUESTIONS = 200
_WATCHED_SPEED = 0.4
"""Share of their real slowness at which the workers of the watched questions run."""
_WATCHED = ("story", "choice", "code", "versus")
"""Kinds of the questions that one can watch."""
_MEASURED = 150
"""Problems that the fresh Conductor is measured on; it has not seen them."""


async def demo(*, problems: int, minutes: float, replay: Path | None, svg: Path | None) -> None:
    """The whole demonstration. Raises :class:`ConfigError` for a replay folder that can not be read."""
    console = Screen()
    started = time.perf_counter()
    recordings = None if replay is None else _recordings(replay)
    world = World()
    pool = gym_pool(Budget())
    chosen = world.problems(split="held_out_numbers", n=problems)
    trained = pool.default_policy == "trained"
    _say(console, "Seven offline workers, each good at something else. A workflow decides who does what, and who sees what.")
    if trained:
        _say(console, "The workflows are written by a model of 0.16 M parameters that learned it from rewards alone.")
    else:
        _say(console, "Without torch (pip install 'podium[train]') known workflows stand in for the trained Conductor.")
    await _watch(console, world)
    await _gym_table(console, pool, chosen)
    for kind, title in (("choice", "An easy one: one step"), ("bundle", "A hard one: four workers, each for its own part")):
        [problem] = world.problems(kinds=(kind,), split="held_out_numbers", n=1)
        await _drawn(console, title, conductor(pool, pool.default_policy), problem, svg if kind == "bundle" else None)
    if trained and minutes > 0:
        await _fresh(console, world, pool, minutes)
    if recordings is not None:
        await _replay_table(console, *recordings)
    _say(console, f"Done in {time.perf_counter() - started:.0f} s. Next: podium serve, and http://127.0.0.1:8000 in a browser.")


async def _watch(console: Console, world: World) -> None:
    console.print(Rule("Four questions, conducted"))
    slow = [Member(worker=w, card=w.card) for w in specialists(world, sleep_scale=_WATCHED_SPEED)]
    pool = gym_pool(Budget(), WorkerPool(slow))
    conducting = conductor(pool, pool.default_policy)
    for problem in world.problems(kinds=_WATCHED, split="held_out_numbers", n=len(_WATCHED)):
        console.print(Text(f"\n{problem.kind}: {plain(problem.question)}", style="bold"))
        with RunView(console) as view:
            completion = await conducting.conduct(Call.plain(problem.question), view.on_event)
        verdict = await GymVerifier()(problem, completion.text)
        console.print(Text(plain(completion.text)))
        console.print(Text("right" if verdict.correct else f"wrong: {verdict.why}", style="green" if verdict.correct else "red"))


async def _gym_table(console: Console, pool: OpenPool, chosen: list[Problem]) -> None:
    console.print(Rule(f"{len(chosen)} problems it has not seen: workers alone, baselines, conducted"))
    alone: dict[str, Worker] = {member.name: member.worker for member in pool.workers}
    rows = summarise(await _evaluated(alone, chosen, GymVerifier()))
    best = max((row for row in rows if row.kind is None), key=lambda row: row.accuracy or 0.0).arm
    together = {
        f"{best}, 5x self-reflection": conductor(pool, f"reflection:{best}"),
        "mixture, its best wording": conductor(pool, "found:mixture"),
        "consensus, its best wording": conductor(pool, "found:consensus"),
        "best constant workflow": conductor(pool, "found:constant"),
        "the same, no dearer": conductor(pool, "found:cheap"),
        "known-best workflows": conductor(pool, "best"),
    }
    if pool.default_policy == "trained":
        together["trained Conductor"] = conductor(pool, "trained")
    rows += summarise(await _evaluated(together, chosen, GymVerifier()))
    console.print(terminal_table(rows))
    figures = stored().figures
    best_constant = figures["constant_share"] * figures["optimum"]
    _say(
        console,
        "A constant workflow is the same for every question; the best one was searched for with ten times the effort of the best "
        f"per kind. On 300 problems a kind it has {best_constant:.1%}, the known-best workflows {figures['optimum']:.1%}.",
    )


async def _drawn(console: Console, title: str, conductor: Conductor, problem: Problem, svg: Path | None) -> None:
    console.print(Rule(title))
    completion = await conductor.conduct(Call.plain(problem.question))
    console.print(Text(f"question  {plain(problem.question)}\n\n{as_text(completion.transcripts[0])}\n"))
    if svg is not None:
        svg.write_text(as_svg(completion.transcripts[0]), encoding="utf-8")
        _say(console, f"The same run as a picture: {svg}")


async def _fresh(console: Console, world: World, pool: OpenPool, minutes: float) -> None:
    """Train a new Conductor from the untrained start for some minutes, and measure it beside its start and the best plan."""
    from podium.cli.training_view import TrainingView
    from podium.recipes.gym import short
    from podium.training.run import train

    console.print(Rule(f"Training a fresh one, {minutes:g} minutes at most"))
    _say(console, f"It can write workflows and knows nothing about the workers. Kinds of question: {', '.join(SHORT_KINDS)}.")
    recipe = short(seed=int(time.time()) % 1000)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run"
        try:
            with TrainingView(console, recipe) as view:
                await train(recipe, path, budget=Budget(seconds=60 * minutes), on_iteration=view.show)
        except BudgetExceeded:
            if not (path / "policy").exists():
                _say(
                    console,
                    "The time was over before it had learned from a single iteration; give it more: podium demo --minutes 3",
                )
                return
            _say(console, "The time is over; it goes on with what it has learned so far.")
        arms = {
            "best constant workflow": conductor(pool, "found:short"),
            "before": conductor(pool, "untrained"),
            "after": conductor(pool, f"trained:{path / 'policy'}"),
            "known-best workflows": conductor(pool, "best"),
        }
        asked = world.problems(kinds=SHORT_KINDS, split="held_out_numbers", n=_MEASURED)
        console.print(terminal_table(summarise(await _evaluated(arms, asked, GymVerifier()))))


def _recordings(folder: Path) -> tuple[WorkerPool, list[Problem]]:
    return recorded_pool(folder, "gsm").workers, load_replay_problems(folder, "gsm")[:REPLAY_QUESTIONS]


async def _replay_table(console: Console, recorded: WorkerPool, problems: list[Problem]) -> None:
    console.print(Rule(f"{REPLAY_QUESTIONS} GSM8K questions over recorded answers of real LLMs"))
    voting = with_vote(recorded)
    arms: dict[str, Worker] = {member.name: member.worker for member in recorded}
    policy = mixture_of_agents(aggregator=len(recorded), layer=range(len(recorded)))
    arms[f"all {len(recorded)}, majority vote"] = Conductor(policy, voting, max_steps=len(voting))
    async with MathVerifier() as verifier:
        rows = summarise(await _evaluated(arms, problems, verifier))
    console.print(terminal_table(rows))
    _say(
        console,
        "A recorded answer does not change with the subtask: these figures show selection, voting and plumbing on real text, "
        "not what better instructions or communication would gain. What the recordings cost is unknown.",
    )


def _say(console: Console, text: str) -> None:
    console.print(Text(text), soft_wrap=False)


async def _evaluated(arms: Mapping[str, Worker], problems: Sequence[Problem], verifier: Verifier) -> list[Result]:
    with Bars() as bars:
        bars.begin("answers", len(arms) * len(problems))
        return await evaluate(arms, problems, verifier, on_result=bars.on_result)
