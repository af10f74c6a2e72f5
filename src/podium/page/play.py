"""Play the conductor: write the three lists yourself for a problem of the pool, and see what the trained one writes for it."""

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from nicegui import background_tasks, ui
from nicegui.elements.mixins.text_element import TextElement

from podium.errors import WorkflowError
from podium.page.frame import frame
from podium.page.parts import Area, box, button, enable, text
from podium.page.run_panel import RunPanel
from podium.page.running import BY_HAND, ran
from podium.page.shown import clipped, line
from podium.page.site import Playground, Site
from podium.page.skills import worker_row
from podium.page.visitor import Visitor
from podium.protocols import ServedModel
from podium.request_options import RequestOptions
from podium.serving.asking import ChoiceDone
from podium.types import Brief, Problem, Step, Verdict, Workflow, ask
from podium.workflow.draw import counted
from podium.workflow.parse import format_workflow, parse
from podium.workflow.syntax import WorkflowSyntax

MAX_STEPS = 5
_WORKERS, _SUBTASKS, _ACCESS = WorkflowSyntax().names
_EXAMPLE = format_workflow(
    Workflow(
        steps=(
            Step(worker=4, subtask="Write a plan as one expression. Do not compute it."),
            Step(worker=0, subtask="Compute the result of the plan.", access=(0,)),
        )
    )
)
_SET = 10
"""Problems that are played for one score."""
_BEST = "best"
"""What pools with problems of their own call the policy that has the best workflow known for each kind."""
_RULES = (
    f"{_WORKERS}: who carries out each step. {_SUBTASKS}: what each is told. {_ACCESS}: what each step sees of the steps before "
    'it: [] for nothing, "all", or their numbers, such as [0, 2]. The first step sees the question; the last one answers. '
    f"Workers and steps are counted from 0. At most {MAX_STEPS} steps."
)


def play_page(site: Site, visitor: Visitor) -> None:
    """Build the page."""
    workers = counted(len(site.catalog.cards), "worker")
    lead = f"Ten problems, {workers}, three lists. Each worker is good at some things and does not say which; find out."
    with frame(site, "/play", "Play the conductor", lead):
        if site.playground is None:
            text("There is nothing to play here: this needs the built-in pool (podium serve without a pool file).")
        else:
            _Play(site, visitor, site.playground)


@dataclass(slots=True, kw_only=True)
class _Score:
    played: int = 0
    mine: int = 0
    theirs: int = 0
    mine_usd: float = 0.0
    theirs_usd: float = 0.0


class _Play:
    def __init__(self, site: Site, visitor: Visitor, playground: Playground) -> None:
        self._site, self._visitor, self._playground = site, visitor, playground
        self._begin_set()
        self._task: asyncio.Task[None] | None = None
        with box("play"):
            with box():
                with box("panel-head"):
                    self._heading = text("", "h2")
                    self._kind = text("", "p", "status")
                self._asked = text("", "p", "problem")
                hint = f"{_WORKERS} = [...]\n{_SUBTASKS} = [...]\n{_ACCESS} = [...]"
                self._lists = Area("Your workflow", rows=5, changed=self._check, classes="area mono", hint=hint)
                self._checked = text("", "p", "check", aria_live="polite")
                with box("bar"):
                    self._go = button("Run both", self._run, data_key="go")
                    self._next = button("Next problem", self._another, "quiet")
                self._scores = text("", "p", "score", aria_live="polite")
                with box("quoted", "details"):
                    text("The rules", "summary")
                    text(_RULES, "p", "soft")
                    text("An example, of which nobody says that it is right here:", "p", "soft")
                    text(_EXAMPLE, "pre", "said", tabindex="0", role="region", aria_label="An example")
            with box():
                text("The workers", "h2")
                for number, card in enumerate(site.catalog.cards):
                    worker_row(card, number)
        self._results = box("pair two")
        self._check()
        self._show_problem()

    def _begin_set(self) -> None:
        """Ten problems drawn anew, and a score of nothing."""
        self._problems = random.sample(self._playground.problems, min(_SET, len(self._playground.problems)))
        self._at, self._score = 0, _Score()
        self._scored: set[str] = set()

    @property
    def _problem(self) -> Problem:
        return self._problems[self._at]

    def _workflow(self) -> Workflow | None:
        brief = Brief(question=ask(self._problem.question), cards=tuple(self._site.catalog.cards), max_steps=MAX_STEPS)
        return parse(self._lists.value, brief, WorkflowSyntax())

    def _check(self) -> None:
        if not self._lists.value.strip():
            self._checked.text = "Write the three lists: who works, what each is told, what each sees."
            self._checked.classes(replace="check")
            enable(self._go, False)
            return
        try:
            workflow = self._workflow()
        except WorkflowError as error:
            self._checked.text = f"Not yet: {line(str(error), 300)}"
            self._checked.classes(replace="check bad")
            enable(self._go, False)
        else:
            steps = () if workflow is None else workflow.steps
            names = [line(self._site.catalog.cards[step.worker].name, 24) for step in steps]
            self._checked.text = f"{counted(len(steps), 'step')}: {', '.join(names)}"
            self._checked.classes(replace="check good")
            enable(self._go, self._task is None)

    def _show_problem(self) -> None:
        self._heading.text = f"Problem {self._at + 1} of {len(self._problems)}"
        self._kind.text = f"kind: {self._problem.kind}"
        self._asked.text = clipped(self._problem.question)
        self._next.text = "Next problem" if self._at + 1 < len(self._problems) else "Ten others"
        self._scores.text = self._told()

    def _another(self) -> None:
        if self._task is not None:
            return
        if self._at + 1 < len(self._problems):
            self._at += 1
        else:
            self._begin_set()
        self._results.clear()
        self._lists.write("")
        self._show_problem()

    def _run(self) -> None:
        if self._task is not None:
            return  # a second click was quicker than the button
        self._results.clear()
        enable(self._go, False)
        enable(self._next, False)
        self._task = task = background_tasks.create(self._both(self._problem, self._lists.value), name="play")
        ui.context.client.on_delete(task.cancel)
        task.add_done_callback(lambda _: self._over())

    def _over(self) -> None:
        self._task = None
        self._check()
        enable(self._next, True)

    async def _both(self, problem: Problem, lists: str) -> None:
        model = self._site.catalog.models[0]
        with self._results:
            with box():
                my_verdict = text("", "p", "verdict", aria_live="polite")
                mine = RunPanel("You")
            with box():
                their_verdict = text("", "p", "verdict", aria_live="polite")
                theirs = RunPanel(model)
        with self._results:
            mine_ended = await self._ended(mine, BY_HAND, problem, lambda: self._playground.conductor(lists))
            mine_right = await self._say(my_verdict, problem, mine_ended)
            theirs_ended = await self._ended(theirs, model, problem)
            theirs_right = await self._say(their_verdict, problem, theirs_ended)
        self._count(problem, (mine_right, mine_ended), (theirs_right, theirs_ended))
        await self._show_best(problem)

    async def _show_best(self, problem: Problem) -> None:
        """Below the two, the best workflow that is known for such a problem, carried out."""
        catalog = self._site.catalog
        if _BEST not in catalog.baselines:
            return
        with self._results:
            with box("best"):
                verdict = text("", "p", "verdict", aria_live="polite")
                panel = RunPanel("The best known")
            options = RequestOptions(policy=_BEST)
            ended = await self._ended(panel, catalog.models[0], problem, lambda: catalog.conductor(catalog.models[0], options))
            await self._say(verdict, problem, ended)

    async def _ended(
        self, panel: RunPanel, model: str, problem: Problem, conductor: Callable[[], ServedModel] | None = None
    ) -> ChoiceDone | None:
        conduct = partial(ran, self._site, self._visitor, model, problem.question, conductor=conductor)
        return await panel.run(ask(problem.question), conduct, self._site.link("/runs/"))

    async def _say(self, element: TextElement, problem: Problem, ended: ChoiceDone | None) -> bool:
        """Show whether the answer is right, and say so."""
        verdict = Verdict(correct=False, extracted=None, why="there is no answer")
        if ended is not None and ended.failure is None:
            verdict = await self._playground.verifier(problem, ended.completion.text)
        element.classes(replace=f"verdict {'good' if verdict.correct else 'bad'}")
        element.text = "Right." if verdict.correct else f"Wrong: {line(verdict.why, 200)}"
        return verdict.correct

    def _count(self, problem: Problem, mine: tuple[bool, ChoiceDone | None], theirs: tuple[bool, ChoiceDone | None]) -> None:
        """Only the first try at a problem counts."""
        score, again = self._score, problem.id in self._scored
        if not again:
            self._scored.add(problem.id)
            score.played += 1
            score.mine += mine[0]
            score.theirs += theirs[0]
            score.mine_usd += _usd(mine[1])
            score.theirs_usd += _usd(theirs[1])
        self._scores.text = self._told() + (" This problem counted the first time." if again else "")

    def _told(self) -> str:
        score, all_of_them = self._score, len(self._problems)
        if not score.played:
            return f"Nothing played yet of {counted(all_of_them, 'problem')}."
        over = score.played == all_of_them
        so_far = f"All {all_of_them} are played" if over else f"After {counted(score.played, 'problem')} of {all_of_them}"
        return (
            f"{so_far}: you {score.mine} right for ${score.mine_usd:.6f}, "
            f"{line(self._site.catalog.models[0], 40)} {score.theirs} right for ${score.theirs_usd:.6f}."
        )


def _usd(ended: ChoiceDone | None) -> float:
    return 0.0 if ended is None else ended.completion.usage.cost_usd or 0.0
