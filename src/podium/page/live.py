"""The runs that pages have under way. They belong to the server, not to a page: whoever may see a run finds it again by its id,
follows it and stops it, from any tab, until it is over and kept.

A run goes on when nobody looks at it; its budget bounds what it costs. A server that stops, stops them, and keeps what was done.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from podium.errors import PodiumError
from podium.events import Listener
from podium.page.following import Following
from podium.serving.api_errors import ApiErrorException
from podium.serving.asking import ChoiceDone
from podium.serving.service import new_run
from podium.types import Question

log = logging.getLogger(__name__)

MOST_REFUSED = 100
"""Runs that were not let in, which no store keeps, that are remembered so that their page can be loaded again."""


@dataclass(slots=True, eq=False, kw_only=True)
class LiveRun:
    """A run that is under way, or has just ended. Example: ``live.following.rounds[0].steps[0].said``."""

    id: str
    model: str
    question: Question
    """The conversation that it answers; its last turn is the question."""
    key: str
    """Whose it is; "" on a server without keys."""
    session: str
    """The name of its conversation."""
    following: Following = field(default_factory=Following)
    started: float = field(default_factory=time.monotonic)
    task: "asyncio.Task[None] | None" = None
    done: ChoiceDone | None = None
    refusal: str = ""
    """Why it was not let in."""

    @property
    def is_over(self) -> bool:
        """Whether nothing more will happen."""
        return self.task is not None and self.task.done()

    @property
    def asked(self) -> str:
        """The question."""
        return self.question[-1].content

    def stop(self) -> None:
        """Stop it and the calls that it pays for. Twice is harmless."""
        if self.task is not None:
            self.task.cancel()


class Conduct(Protocol):
    """Asks, and tells of what happens (:func:`podium.page.running.ran`)."""

    async def __call__(
        self, question: Question, on_event: Listener, on_run: Callable[[str], None], *, run: str, session: str
    ) -> ChoiceDone:
        """The end of it."""
        ...


class LiveRuns:
    """All runs that pages of one server have under way.

    Example: ``live = lives.start("podium", ask("6 times 7?"), partial(ran, site, visitor, "podium"), key="")``.
    """

    def __init__(self) -> None:
        self._runs: dict[str, LiveRun] = {}
        self._refused: dict[str, LiveRun] = {}

    def start(self, model: str, question: Question, conduct: Conduct, *, key: str, session: str = "") -> LiveRun:
        """Begin a run of ``key``; its id is known at once. ``session``: the conversation that it goes on with; "": a new one."""
        run = new_run()
        live = LiveRun(id=run, model=model, question=question, key=key, session=session or run)
        self._runs[run] = live
        live.task = asyncio.create_task(self._run(live, conduct), name=f"run {run}")
        return live

    async def _run(self, live: LiveRun, conduct: Conduct) -> None:
        try:
            live.done = await conduct(live.question, live.following.on_event, _known, run=live.id, session=live.session)
        except (PodiumError, ApiErrorException) as error:
            live.refusal = str(error)
        except asyncio.CancelledError:
            if live.following.answered is None:
                live.refusal = "Stopped before it began."
        except Exception:
            live.refusal = "The server made a mistake; its log says which."
            log.exception("a bug in the run %s", live.id)
        finally:
            del self._runs[live.id]
            if live.refusal:
                self._refused[live.id] = live
                while len(self._refused) > MOST_REFUSED:
                    del self._refused[next(iter(self._refused))]

    def get(self, run: str, *, sees: str | None) -> LiveRun | None:
        """The run with this id, where it is under way or was not let in; ``sees`` as :meth:`Accounts.seen_by` says."""
        found = self._runs.get(run) or self._refused.get(run)
        return found if found is not None and (sees is None or found.key == sees) else None

    def under_way(self, *, sees: str | None) -> Sequence[LiveRun]:
        """The runs that are under way, the oldest first."""
        return [live for live in self._runs.values() if sees is None or live.key == sees]

    async def close(self) -> None:
        """Stop them all and wait until what they did is kept."""
        tasks = [live.task for live in self._runs.values() if live.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _known(run: str) -> None:
    """The id was known before."""
