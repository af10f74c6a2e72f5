"""Who is asked, over the course of a run: stacked shares as SVG, and the curves of a run in colours that suit light and dark."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from statistics import fmean

from podium.charts import COLOURS, lines
from podium.page.shown import line
from podium.page.training_files import MOST_NAMES, IterationLine

POINTS = 120
"""Points of a curve; more iterations are drawn as means of neighbours."""
_WIDTH, _HEIGHT = 340, 190
_WIDE, _HIGH = 1000, 160

Series = Mapping[str, Sequence[float | None]]


def curves(iterations: Sequence[IterationLine]) -> list[str]:
    """The curves of a run, one SVG each; of a run without iterations none."""
    if not iterations:
        return []
    kinds = sorted({kind for each in iterations for kind in each.correct_by_kind})[:MOST_NAMES]
    spent: list[float | None] = []
    total: float | None = 0.0
    for each in iterations:
        total = None if total is None or each.cost_usd is None else total + each.cost_usd
        spent.append(total)

    def number(*names: str) -> dict[str, list[float | None]]:
        return {name.replace("_", " "): [each.numbers.get(name) for each in iterations] for name in names}

    panels: list[tuple[str, Series, float]] = [
        ("Share of rollouts", number("correct", "valid"), 1.0),
        ("Correct, given that the workflow is valid", number("correct_given_valid"), 1.0),
        ("Correct, by kind of question", {kind: [e.correct_by_kind.get(kind) for e in iterations] for kind in kinds}, 1.0),
        ("Steps, by kind of question", {kind: [e.steps_by_kind.get(kind) for e in iterations] for kind in kinds}, 0.0),
        ("Who is asked: entropy in bits", number("worker_entropy_bits"), 3.0),
    ]
    at = [each.number + 1 for each in iterations]
    drawn = [_chart(title, series, at, top) for title, series, top in panels]
    return [*drawn, _chart("Dollars of workers so far", {"spent": spent}, at, 0.0, is_sum=True)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mix:
    """Who was asked how often. ``bands`` are names and their colours; ``svg`` may be stretched across."""

    bands: tuple[tuple[str, str], ...]
    first: int
    last: int
    """Iterations, counted from 1."""
    svg: str


def mix(workers: Mapping[int, Counter[str]]) -> Mix | None:
    """Shares of the workers over iterations, one band each; None where nothing was read yet."""
    numbers = sorted(number for number, counted in workers.items() if counted)
    if not numbers:
        return None
    total: Counter[str] = Counter()
    for counted in workers.values():
        total.update(counted)
    names = sorted(name for name, _ in total.most_common(MOST_NAMES))
    points = []
    for piece in _pieces(numbers):
        together: Counter[str] = Counter()
        for one in piece:
            together.update(workers[one])
        asked = sum(together[name] for name in names) or 1
        points.append([together[name] / asked for name in names])
    if len(points) == 1:
        points *= 2
    step = _WIDE / (len(points) - 1)
    parts = []
    base = [0.0] * len(points)
    for index, name in enumerate(names):
        upper = [low + shares[index] for low, shares in zip(base, points, strict=True)]
        there = [f"{i * step:.1f},{_HIGH * (1 - y):.1f}" for i, y in enumerate(upper)]
        back = [f"{i * step:.1f},{_HIGH * (1 - y):.1f}" for i, y in enumerate(base)][::-1]
        title = f"<title>{escape(line(name, 24))}</title>"
        parts.append(f'<polygon points="{" ".join([*there, *back])}" fill="{_colour(index)}">{title}</polygon>')
        base = upper
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDE} {_HIGH}" height="{_HIGH}" preserveAspectRatio="none" '
        f'role="img" aria-label="Shares of the workers over training">{"".join(parts)}</svg>'
    )
    bands = tuple((name, _colour(index)) for index, name in enumerate(names))
    return Mix(bands=bands, first=numbers[0] + 1, last=numbers[-1] + 1, svg=svg)


def _chart(title: str, series: Series, at: Sequence[int], top: float, *, is_sum: bool = False) -> str:
    pieces = _pieces(range(len(at)))

    def taken(values: Sequence[float | None], piece: Sequence[int]) -> float | None:
        # The mean of a growing sum would be less than what was spent.
        return values[piece[-1]] if is_sum else _mean([values[index] for index in piece])

    thinned = {line(name, 20): [taken(values, piece) for piece in pieces] for name, values in series.items()}
    ends = [at[piece[-1]] for piece in pieces]
    inside = lines(title, thinned, ends, top=top, smooth=1 if is_sum else 5, width=_WIDTH, height=_HEIGHT)
    for index, colour in enumerate(COLOURS):
        inside = inside.replace(f'"{colour}"', f'"{_colour(index)}"')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 -10 {_WIDTH} {_HEIGHT + 14}" font-size="11" '
        f'font-family="system-ui, sans-serif" role="img" aria-label="{escape(title)}">{inside}</svg>'
    )


def _pieces(numbers: Sequence[int]) -> list[Sequence[int]]:
    """``numbers`` in at most :data:`POINTS` pieces of neighbours."""
    size = -(-len(numbers) // POINTS)
    return [numbers[start : start + size] for start in range(0, len(numbers), size)]


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _colour(index: int) -> str:
    """A colour that the style sheet sets for light and for dark; the fixed one where there is no style sheet."""
    index %= len(COLOURS)
    return f"var(--c{index}, {COLOURS[index]})"
