"""The runs of one session as one story: what the user said, how each turn was planned, who acted, which tools, what it cost."""

from collections.abc import Sequence
from itertools import groupby

from podium.page.long_text import folded
from podium.page.parts import box, link, text
from podium.page.shown import figures, line
from podium.page.site import Site
from podium.serving.store.runs import Run
from podium.types import StepResult, Transcript, Usage
from podium.workflow.draw import counted, used

MOST_RUNS = 40
"""The latest runs of a session that are shown."""
MOST_TOOLS = 20


async def story(site: Site, run: Run, sees: str | None) -> None:
    """Show the session that ``run`` belongs to, where there is more in it than this run. ``sees`` as the store is asked."""
    if not run.session:
        return
    found = await site.runs.search(key=sees, session=run.session, limit=MOST_RUNS)
    if len(found) < 2:
        return
    whole = []
    for listed in reversed(found):
        each = run if listed.id == run.id else await site.kept(listed.id, sees=sees)
        if each is not None:
            whole.append(each)
    text("The whole conversation", "h2")
    text(_sum(whole, cut=len(found) == MOST_RUNS), "p", "soft")
    with box("story", "ol"):
        # The rounds of a tool loop ask what the user said last: they belong to that turn.
        for number, (asked, turn) in enumerate(groupby(whole, key=lambda each: each.question), 1):
            with box("turn", "li"):
                text(f"Turn {number}", "h3")
                text("(not kept)" if asked is None else line(asked, 300), "p", "turn-question")
                for each in turn:
                    _entry(site, each, is_this=each.id == run.id)


def _entry(site: Site, run: Run, *, is_this: bool) -> None:
    with box("turn-run here" if is_this else "turn-run"):
        with box("panel-head"):
            if is_this:
                text("this run", "b")
            else:
                link(f"{run.created:%H:%M:%S}", site.link(f"/runs/{run.id}"))
            text(f"{figures(run.seconds, run.usage)}{_cached(run.usage)}", "span", "soft")
        for transcript in run.transcripts:
            text(planned(transcript), "p")
            for result in transcript.results:
                _tools(result)
        if run.answer:
            folded(line(run.answer, 120), run.answer)
        elif run.failure:
            text(line(run.why, 200), "p", "soft" if run.failure == "Cancelled" else "bad")


def planned(transcript: Transcript) -> str:
    """Who did what, in a line. Example: ``"Planned 2 steps: ember, atlas; atlas answered."``."""
    if transcript.workflow is None:
        return "Planned nothing: the answer stands." if transcript.failure is None else "No workflow was written."
    names = ", ".join(line(result.worker, 24) for result in transcript.results)
    steps = counted(len(transcript.results), "step")
    plan = f"Planned {steps}: {names}" if transcript.generation.text else f"Without a plan: {names}"
    waiting = [line(each.worker, 24) for each in transcript.results if each.completion is not None and each.completion.tool_calls]
    if waiting:
        return f"{plan}; {' and '.join(waiting)} {'ask' if len(waiting) > 1 else 'asks'} the client."
    last = transcript.results[-1] if transcript.results else None
    if last is None or last.completion is None:
        return f"{plan}."
    return f"{plan}; {line(last.worker, 24)} answered."


def _tools(result: StepResult) -> None:
    completion = result.completion
    if completion is None:
        return
    for use in completion.tool_uses[:MOST_TOOLS]:
        folded(f"{line(result.worker, 24)} called {line(use.tool, 60)}", used(use))
    for called in completion.tool_calls[:MOST_TOOLS]:
        folded(f"{line(result.worker, 24)} asks the client to call {line(called.name, 60)}", called.arguments)


def _sum(runs: Sequence[Run], *, cut: bool) -> str:
    usage = Usage.total(run.usage for run in runs)
    seconds = sum(run.seconds for run in runs)
    words = f"{'The latest ' if cut else ''}{counted(len(runs), 'run')}: {figures(seconds, usage)}{_cached(usage)}"
    return f"{words}."


def _cached(usage: Usage) -> str:
    if not usage.cached_tokens or not usage.prompt_tokens:
        return ""
    return f" · {100 * usage.cached_tokens / usage.prompt_tokens:.0f} % of what was read came from a cache"
