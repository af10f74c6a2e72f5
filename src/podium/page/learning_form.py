"""Start a tune or a study from the page, see how far it is, stop it: for keys with the scope "admin", with a cap in dollars."""

import asyncio
import time
from collections.abc import Callable, Sequence

from nicegui import ui

from podium.errors import PodiumError
from podium.page.learning_jobs import BUILT_IN, Job, LearningJobs, dollars
from podium.page.parts import Choice, Line, box, button, enable, show, text
from podium.page.shown import line
from podium.page.visitor import Visitor

LOOK_SECONDS = 1.0
_PREFER = (("balanced", "one point of accuracy"), ("accuracy", "nothing"), ("cheap", "three points"))


class LearningForm:
    """The form for one ``kind``: ``tune`` or ``study``. ``jobs`` None: this server starts nothing."""

    def __init__(self, visitor: Visitor, jobs: LearningJobs | None, kind: str) -> None:
        if jobs is None:
            return
        self._visitor, self._jobs, self._kind = visitor, jobs, kind
        self._under_way = self._starting = False
        with box("under-way", "section", aria_label="Under way") as self._state:
            self._told = text("", "p", aria_live="polite")
            self._said = text("", "p", "soft")
            self._stop_button = button("Stop it", self._stop, "quiet small")
        show(self._state, False)
        with box("quoted learning-form", "details"):
            text("Start one" if kind == "tune" else "Start a study", "summary")
            offered = _studies(jobs) if kind == "study" else _problems(jobs)
            with box("learning-fields") as fields:
                self._arguments = self._tune(offered) if kind == "tune" else self._study(offered)
                self._go = button("Start", self._start)
            if not offered:
                what = "study (NAME.toml)" if kind == "study" else "file of problems (NAME.jsonl)"
                text(f"There is no {what} in the folder the server was started in.", "p", "soft")
            show(fields, bool(offered))
            self._refusal = text("", "p", "stopped-note", role="alert")
        self._refuse("")
        ui.timer(LOOK_SECONDS, self._look)

    def _tune(self, problems: Sequence[tuple[str, str]]) -> Callable[[], list[str]]:
        with box("bar"):
            chosen = Choice("Problems", {"": problems}, problems[0][0] if problems else "")
            self._name = Line("Folder", value="tuned", type="text")
            calls = Line("At most, in calls", value="3000", type="text", inputmode="numeric")
            self._usd = Line("At most, in dollars", type="text", inputmode="decimal")
            prefer = Choice("For a lower price give up", {"": _PREFER}, "balanced")
        return lambda: self._jobs.tune_arguments(chosen.value, calls.value, prefer.value)

    def _study(self, studies: Sequence[tuple[str, str]]) -> Callable[[], list[str]]:
        with box("bar"):
            chosen = Choice("Study", {"": studies}, studies[0][0] if studies else "")
            self._name = Line("Folder", value="study", type="text")
            self._usd = Line("At most, in dollars", type="text", inputmode="decimal")
        return lambda: self._jobs.study_arguments(chosen.value)

    async def _start(self) -> None:
        if self._starting or self._under_way:
            return  # a double click: its second half would be refused beside what the first began
        self._starting = True
        self._refuse("")
        try:
            await self._visitor.key("admin")  # as it is now, not as it was when the page was built
            usd, more = dollars(self._usd.value), self._arguments()
            await asyncio.to_thread(self._jobs.start, self._kind, self._name.value.strip(), usd=usd, more=more)
            await self._look()
        except PodiumError as error:
            self._refuse(str(error))
        finally:
            self._starting = False

    def _refuse(self, why: str) -> None:
        self._refusal.text = why
        show(self._refusal, bool(why))

    async def _stop(self) -> None:
        try:
            await self._visitor.key("admin")
        except PodiumError as error:
            self._said.text = str(error)
            return
        await asyncio.to_thread(self._jobs.stop)

    async def _look(self) -> None:
        """Show what is under way, how the last one ended where this page saw it, and where it came to nothing."""
        job = await asyncio.to_thread(self._jobs.latest)
        if job is None or not (job.under_way or self._under_way or (job.kind == self._kind and not job.has_result)):
            return
        ended, self._under_way = self._under_way and not job.under_way, job.under_way
        show(self._state, True)
        show(self._stop_button, job.under_way)
        enable(self._go, not job.under_way)
        self._said.text = job.said or ("" if job.under_way else "It said nothing, as one that was killed.")
        self._told.text = _since(job) if job.under_way else _over(job)
        if ended:
            self._refuse("")  # where it said that something is under way, this is no longer so


def _problems(jobs: LearningJobs) -> list[tuple[str, str]]:
    built_in = [] if jobs.has_pool_file else [(number, f"{number} of the built-in pool") for number in BUILT_IN]
    return [*((name, name) for name in jobs.problem_files()), *built_in]


def _studies(jobs: LearningJobs) -> list[tuple[str, str]]:
    return [(name, name) for name in jobs.study_files()]


def _what(job: Job) -> str:
    return f"{'A tune' if job.kind == 'tune' else 'A study'} in {line(job.name, 40)}"


def _over(job: Job) -> str:
    left = ". Load the page again to see what it left." if job.has_result else " and left no result."
    return f"{_what(job)} is over{left}"


def _since(job: Job) -> str:
    minutes = (time.time() - job.started) / 60
    return f"{_what(job)} is under way for {minutes:.0f} min, for at most ${job.usd:g}."
