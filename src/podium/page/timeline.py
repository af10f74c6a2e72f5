"""When each step of a run worked: one bar per step, from its start, as SVG."""

from collections.abc import Sequence
from html import escape

from nicegui import ui

from podium.page.shown import line, took
from podium.types import StepResult, Transcript

_WIDTH, _LEFT, _RIGHT, _ROW = 760, 150, 70, 26


def timeline(transcripts: Sequence[Transcript]) -> None:
    """Show the bars of all rounds, one round after the other."""
    ui.html(drawn(transcripts), sanitize=True).classes("timeline scroll")


def drawn(transcripts: Sequence[Transcript]) -> str:
    """The bars as SVG. Times are those of the clock; of simulated workers, which answer at once, those they stand for."""
    bars: list[tuple[str, float, float, bool]] = []
    offset = 0.0
    for transcript in transcripts:
        ends: list[float] = []
        for index, result in enumerate(transcript.results):
            start = max([result.start_seconds, *(ends[seen] for seen in result.step.access if seen < len(ends))])
            ends.append(start + _seconds(result))
            name = f"{index} {line(result.worker, 18)}"
            bars.append((name, offset + start, _seconds(result), result.failure is not None))
        offset += max([transcript.seconds, *ends])
    total = max([start + seconds for _, start, seconds, _ in bars], default=0.0) or 1.0
    across = (_WIDTH - _LEFT - _RIGHT) / total
    parts = []
    for row, (name, start, seconds, failed) in enumerate(bars):
        y = row * _ROW
        x, width = _LEFT + start * across, max(2.0, seconds * across)
        colour = "var(--bad)" if failed else "var(--accent)"
        parts.append(
            f'<text x="0" y="{y + 17}" fill="var(--ink)">{escape(name)}</text>'
            f'<rect x="{x:.1f}" y="{y + 6}" width="{width:.1f}" height="14" rx="3" fill="{colour}"/>'
            f'<text x="{x + width + 8:.1f}" y="{y + 17}" fill="var(--soft)">{took(seconds)}</text>'
        )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {max(1, len(bars)) * _ROW + 4}" font-size="13" '
        f'font-family="system-ui, sans-serif" role="img" aria-label="When each step worked">{"".join(parts)}</svg>'
    )


def _seconds(result: StepResult) -> float:
    return max(result.seconds, 0.0 if result.completion is None else result.completion.seconds)
