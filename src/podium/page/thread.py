"""One conversation with one model: what was said before, and the run that is shown, under way or over."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import cast

from podium.page.live import Conduct, LiveRun
from podium.page.running import ran
from podium.page.site import Site
from podium.page.visitor import Visitor
from podium.request_options import RequestOptions
from podium.serving.sessions import session_id
from podium.serving.store.runs import Run
from podium.types import Message, Question, ask


@dataclass(slots=True, eq=False, kw_only=True)
class Thread:
    """A conversation with ``model``. Example: ``Thread(model="podium").start(site, visitor, "6 times 7?", options, key="")``."""

    model: str
    before: Question = ()
    """What was said before the run that is shown: the user's turns and the answers."""
    session: str = ""
    """The name of the conversation; "" where it begins with its next run."""
    live: LiveRun | None = None
    """The run that is shown, where this process knows it from its beginning."""
    run: Run | None = None
    """The run that is shown, where it was read from the store."""

    goes_on: bool = True
    """Whether it can be gone on with here: a conversation with tools, or with a system's turns, is its client's."""

    @property
    def id(self) -> str:
        """Of the run that is shown; "" where there is none yet."""
        return self.live.id if self.live is not None else "" if self.run is None else self.run.id

    @property
    def asked(self) -> str:
        """The question of the run that is shown."""
        return self.live.asked if self.live is not None else "" if self.run is None else self.run.question or ""

    @property
    def answer(self) -> str | None:
        """The answer of the run that is shown; None where there is none, or none yet."""
        if self.live is not None:
            answered = self.live.following.answered
            return None if answered is None else answered.answer
        return None if self.run is None else self.run.answer

    @property
    def is_running(self) -> bool:
        """Whether its run is under way."""
        return self.live is not None and not self.live.is_over

    def stop(self) -> None:
        """Stop its run."""
        if self.live is not None:
            self.live.stop()

    def gone_on(self) -> "Thread":
        """The same conversation with the run that is shown behind it; where that gave no answer, from the question before."""
        before = self.before
        if self.answer is not None and self.answer.strip():
            before = (*before, Message(role="user", content=self.asked), Message(role="assistant", content=self.answer))
        return replace(self, before=before, live=None, run=None)

    def start(self, site: Site, visitor: Visitor, question: str, options: RequestOptions, *, key: str) -> None:
        """Ask; ``key`` is the id of the visitor's key."""
        catalog, conductor = site.catalog, None
        if self.model in site.workers:
            options = options.model_copy(update={"workers": (), "rounds": None})  # one worker alone asks no other
        elif self.model not in catalog.models and self.model in catalog.baselines:
            baseline = options.model_copy(update={"policy": self.model, "rounds": None})
            conductor = partial(catalog.conductor, catalog.models[0], baseline)
        conduct = cast(Conduct, partial(ran, site, visitor, self.model, options=options, conductor=conductor))
        conversation = (*self.before, Message(role="user", content=question))
        self.live = site.lives.start(self.model, conversation, conduct, key=key, session=self.session)
        self.session, self.run = self.live.session, None


async def opened_threads(site: Site, runs: Sequence[str], sees: str | None) -> list[Thread]:
    """The conversations that end with ``runs``; those that are not there, or not ``sees``'s, are left out."""
    threads = []
    for id in runs[:2]:  # noqa: A001 - what everybody calls it
        live = site.lives.get(id, sees=sees)
        if live is not None:
            before = live.question[:-1]
            threads.append(Thread(model=live.model, before=before, session=live.session, live=live))
            continue
        run = await site.kept(id, sees=sees)
        if run is not None:
            whole = run.transcripts[0].question if run.transcripts else ask(run.question or "")
            # A conversation that a client holds is not gone on with here: only turns of words are.
            is_ours = all(turn.role in ("user", "assistant") and not turn.tool_calls for turn in whole)
            before = whole[:-1] if is_ours else ()
            name = await _name(site, run, sees)
            is_offered = run.model in site.catalog.models or run.model in site.catalog.baselines
            threads.append(Thread(model=run.model, before=before, session=name, run=run, goes_on=is_ours and is_offered))
    return threads


async def _name(site: Site, run: Run, sees: str | None) -> str:
    """What the conversation of ``run`` is called here: the id of its first run; "" where it was not begun on a page."""
    if not run.session:
        return ""
    listed = await site.runs.search(key=sees, session=run.session, limit=200)
    first = listed[-1].id if listed else run.id
    return first if session_id(run.key, first) == run.session else ""
