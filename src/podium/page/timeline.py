"""When each step of a run worked: one bar per step, from its start."""

from collections.abc import Sequence
from dataclasses import dataclass

from podium.page.parts import box, text
from podium.page.shown import line, took
from podium.types import StepResult, Transcript


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One step's time. Example: ``Span(name="0 atlas", start=0.0, seconds=0.6, failed=False)``; all in seconds."""

    name: str
    start: float
    seconds: float
    failed: bool


def timeline(transcripts: Sequence[Transcript]) -> None:
    """Show the bars of all rounds, one round after the other."""
    times = spans(transcripts)
    total = max([span.start + span.seconds for span in times], default=0.0) or 1.0
    with box("timeline", "div", role="list", aria_label="When each step worked"):
        for span in times:
            with box("time-row", "div", role="listitem"):
                text(span.name, "span", "time-name")
                with box("time-track", "span", aria_hidden="true"):
                    bar = box("time-bar failed" if span.failed else "time-bar", "span")
                    bar.style(f"left:{100 * span.start / total:.2f}%; width:max(3px, {100 * span.seconds / total:.2f}%)")
                text(f"{took(span.seconds)}, from {took(span.start)}", "span", "soft")


def spans(transcripts: Sequence[Transcript]) -> list[Span]:
    """Times by the clock; of simulated workers, which answer at once, those they stand for."""
    times: list[Span] = []
    offset = 0.0
    for transcript in transcripts:
        ends: list[float] = []
        for index, result in enumerate(transcript.results):
            start = max([result.start_seconds, *(ends[seen] for seen in result.step.access if seen < len(ends))])
            ends.append(start + _seconds(result))
            name, failed = f"{index} {line(result.worker, 18)}", result.failure is not None and result.was_needed
            if result.skipped is None:
                times.append(Span(name=name, start=offset + start, seconds=_seconds(result), failed=failed))
        offset += max([transcript.seconds, *ends])
    return times


def _seconds(result: StepResult) -> float:
    return max(result.seconds, 0.0 if result.completion is None else result.completion.seconds)
