"""When the plan was written and when each step of a run worked: one bar each, from its start; and what they come to."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from podium.page.following import is_stopped
from podium.page.parts import piece
from podium.page.shown import figures, line, took
from podium.types import StepResult, Transcript, Usage
from podium.workflow.draw import counted, unasked


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One step's time, or the plan's. Example: ``Span(name="0 atlas", start=0.0, seconds=0.6, failed=False)``; all in seconds."""

    name: str
    start: float
    seconds: float
    failed: bool


def timeline(transcripts: Sequence[Transcript]) -> None:
    """Show the bars of all rounds, one round after the other, below a heading."""
    times = spans(transcripts)
    total = max([span.start + span.seconds for span in times], default=0.0) or 1.0
    rows = "".join(_row(span, total) for span in times)
    what = 'role="list" aria-label="When the plan was written and when each step worked"'
    piece(f'<h2>Timeline</h2><div class="timeline" {what}>{rows}</div>')


def _row(span: Span, total: float) -> str:
    place = f"left:{100 * span.start / total:.2f}%; width:max(3px, {100 * span.seconds / total:.2f}%)"
    bar = f'<span class="{"time-bar failed" if span.failed else "time-bar"}" style="{place}"></span>'
    figures = f'<span class="soft">{took(span.seconds)}, from {took(span.start)}</span>'
    track = f'<span class="time-track" aria-hidden="true">{bar}</span>'
    return f'<div class="time-row" role="listitem"><span class="time-name">{escape(span.name)}</span>{track}{figures}</div>'


def spans(transcripts: Sequence[Transcript]) -> list[Span]:
    """Times by the clock; of simulated workers, which answer at once, those they stand for."""
    times: list[Span] = []
    offset = 0.0
    for number, transcript in enumerate(transcripts, 1):
        written = transcript.generation
        if written.text or transcript.workflow is None:
            name = "Conductor" if len(transcripts) == 1 else f"Conductor, round {number}"
            failed = transcript.workflow is None and transcript.failure is not None and not is_stopped(transcript.failure)
            times.append(Span(name=name, start=offset, seconds=written.seconds, failed=failed))
        offset += written.seconds
        ends: list[float] = []
        for index, result in enumerate(transcript.results):
            start = max([result.start_seconds, *(ends[seen] for seen in result.step.access if seen < len(ends))])
            ends.append(start + _seconds(result))
            name = f"{index} {line(result.worker, 18)}"
            failed = result.failure is not None and result.was_needed and not is_stopped(result.failure)
            if not unasked(result):
                times.append(Span(name=name, start=offset + start, seconds=_seconds(result), failed=failed))
        offset += max([transcript.seconds, *ends])
    return times


def bill(transcripts: Sequence[Transcript], seconds: float) -> str:
    """What planning and working cost, which together are the whole run of ``seconds``; "" where nobody planned.

    Example: ``"Planning 0.30 s · 204 tokens · $0.000100 (42 % of the dollars), 2 steps 1.20 s · 300 tokens · $0.000141"``.
    """
    if not any(transcript.generation.text for transcript in transcripts):
        return ""
    planning = Usage.total(transcript.generation.usage for transcript in transcripts)
    working = Usage.total(result.usage for each in transcripts for result in each.results if result.usage is not None)
    thought = sum(transcript.generation.seconds for transcript in transcripts)
    worked = max(0.0, seconds - thought)
    steps = counted(sum(len(transcript.asked) for transcript in transcripts), "step")
    share = ""
    if planning.cost_usd is not None and working.cost_usd is not None and planning.cost_usd + working.cost_usd > 0:
        share = f" ({100 * planning.cost_usd / (planning.cost_usd + working.cost_usd):.0f} % of the dollars)"
    return f"Planning {figures(thought, planning)}{share}; {steps} {figures(worked, working)}."


def _seconds(result: StepResult) -> float:
    return max(result.seconds, 0.0 if result.completion is None else result.completion.seconds)
