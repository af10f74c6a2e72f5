"""Rows -> what people and programs read: a table for the terminal, a table for a page, an object for a file.

All three show the same rows; the terminal, which has room for few columns, fewer of them unless it is asked for all. What is
unknown says ``unknown``; what there was nothing to count for is a dash.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Literal

from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from podium.evaluation.metrics import ArmSummary
from podium.workflow.draw import counted, plain

if TYPE_CHECKING:
    from podium.evaluation.compare import Comparison

NONE = "–"
"""Where there was nothing to count."""


@dataclass(frozen=True, slots=True)
class terminal_table:  # noqa: N801 - used like the functions beside it
    """The rows of ``summarise`` for Rich. Example: ``Console().print(terminal_table(summarise(results)))``.

    Five columns that can be read in 80 characters; what they leave out is said below. ``wide`` shows every column, a line for
    each kind, and the ``comparisons`` in full. A name that is too long goes on in the next line and is never cut.
    """

    rows: Sequence[ArmSummary]
    comparisons: "Sequence[Comparison]" = ()
    wide: bool = False

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Where there is no room for the figures beside a name they go on in the next line, too."""
        width = options.max_width
        if not self.wide:
            yield _terminal(*_overview(self.rows, self.comparisons), width)
            yield from (Text(plain(line), style="dim") for line in _beside(self.rows, self.comparisons))
            return
        header, body = _cells([row if row.kind is None else replace(row, arm=f"  {row.kind}", kind=None) for row in self.rows])
        never = {name for index, name in enumerate(header) if name in _COUNTED and all(line[index] == "0" for line in body)}
        kept = [index for index, name in enumerate(header) if name not in never]
        yield _terminal([header[index] for index in kept], [[line[index] for index in kept] for line in body], width)
        if self.comparisons:
            yield _terminal(*_comparison_cells(self.comparisons), width)


def _overview(rows: Sequence[ArmSummary], comparisons: "Sequence[Comparison]") -> tuple[list[str], list[list[str]]]:
    """Every arm over all kinds together; beside a comparison its gain stands in the place of seconds and steps."""
    better = {each.other: each for each in comparisons}
    header = ["arm", "right (95 % CI)", "$ each"]
    header += ["it is better by"] if comparisons else ["seconds", "steps"]
    body = []
    for row in rows:
        if row.kind is None:
            found = better.get(row.arm)
            line = [row.arm, rate(row), _figure(row, row.cost_usd, _dollars)]
            if comparisons:
                line.append(NONE if found is None else points(found))
            else:
                line += [_figure(row, row.seconds, _seconds), _figure(row, row.steps, "{:.1f}".format)]
            body.append(line)
    return header, body


def _beside(rows: Sequence[ArmSummary], comparisons: "Sequence[Comparison]") -> Iterator[str]:
    """What five columns leave out and nobody may miss: how many answers each share is of, and those that came to nothing."""
    if comparisons:
        yield f"it: {comparisons[0].arm}, problem by problem, in points (95 % CI)"
    arms = [row for row in rows if row.kind is None]
    sizes = {row.n for row in arms}
    if len(sizes) == 1:
        yield f"{counted(sizes.pop(), 'answer')} each"
    elif sizes:
        yield "answers: " + ", ".join(f"{row.arm} {row.n}" for row in arms)
    for name, count in _COUNTED.items():
        if some := [f"{row.arm} {count(row)}" for row in arms if count(row)]:
            yield f"{name}: {', '.join(some)}"


def _terminal(header: list[str], body: list[list[str]], width: int) -> Table:
    name, *figures = (1 + max(map(len, column)) for column in zip(header, *body, strict=True))
    is_whole = [name <= _NAME, *(width >= sum(figures) + _NAME for _ in figures)]
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for index, head in enumerate(header):
        justify: Literal["left", "right"] = "right" if index else "left"
        table.add_column(Text(plain(head)), justify=justify, no_wrap=is_whole[index], overflow="fold")
    for line in body:
        # Text, because an arm's name in square brackets is a name and not markup.
        table.add_row(*(Text(plain(cell)) for cell in line))
    return table


def markdown_table(rows: Sequence[ArmSummary], comparisons: "Sequence[Comparison]" = ()) -> str:
    """The same tables in Markdown, without a line end after the last row. Example: ``print(markdown_table(rows))``."""
    tables = [_cells(rows), *([_comparison_cells(comparisons)] if comparisons else [])]
    return "\n\n".join(_markdown(header, body) for header, body in tables)


def _markdown(header: list[str], body: list[list[str]]) -> str:
    ruler = ["---"] + ["---:"] * (len(header) - 1)
    lines = [[_escaped(cell) for cell in line] for line in (header, *body)]
    return "\n".join("| " + " | ".join(line) + " |" for line in (lines[0], ruler, *lines[1:]))


def as_object(rows: Sequence[ArmSummary], comparisons: "Sequence[Comparison]" = ()) -> dict[str, object]:
    """The same with every figure in full, ready for ``json.dumps``; unknown is null.

    Example: ``as_object(rows)["arms"][0]["kinds"][0]["accuracy"]``. ``kinds`` is empty where all results are of one kind.
    """
    arms = [
        asdict(row) | {"kinds": [asdict(part) for part in rows if part.arm == row.arm and part.kind is not None]}
        for row in rows
        if row.kind is None
    ]
    return {"arms": arms, "comparisons": [asdict(each) for each in comparisons]}


_COUNTED: dict[str, Callable[[ArmSummary], int]] = {
    "no answer": lambda row: row.no_answer,
    "invalid": lambda row: row.invalid,
    "unworkable": lambda row: row.unworkable,
    "faults": lambda row: row.world_faults,
}
_NAME = 20
"""Characters that a name needs beside figures that stand in one line."""


def _cells(rows: Sequence[ArmSummary]) -> tuple[list[str], list[list[str]]]:
    """Header and body: one line per arm, one column per kind where there are several."""
    kinds = sorted({row.kind for row in rows if row.kind is not None})
    by_kind = {(row.arm, row.kind): row for row in rows}
    header = ["arm", "n", "accuracy (95 % CI)", *kinds]
    header += ["steps", "$ per question", "tokens", "seconds", "seconds p95", *_COUNTED]
    body = []
    for row in rows:
        if row.kind is not None:
            continue
        parts = [by_kind.get((row.arm, kind)) for kind in kinds]
        body.append(
            [
                row.arm,
                str(row.n),
                rate(row),
                *(NONE if part is None else f"{rate(part)}, n {part.n}" for part in parts),
                _figure(row, row.steps, "{:.1f}".format),
                _figure(row, row.cost_usd, _dollars),
                _figure(row, row.tokens, "{:.0f}".format),
                _figure(row, row.seconds, _seconds),
                _figure(row, row.seconds_p95, _seconds),
                *(str(count(row)) for count in _COUNTED.values()),
            ]
        )
    return header, body


def _comparison_cells(comparisons: "Sequence[Comparison]") -> tuple[list[str], list[list[str]]]:
    header = [
        f"{comparisons[0].arm} less",
        "points (95 % CI)",
        "won",
        "lost",
        "problems",
        "p (McNemar)",
        "p (Holm)",
        "to see half",
    ]
    body = [
        [
            each.other,
            points(each),
            str(each.wins),
            str(each.losses),
            str(each.problems),
            chance(each.p),
            chance(each.p_holm),
            NONE if each.needed is None else str(each.needed),
        ]
        for each in comparisons
    ]
    return header, body


def points(each: "Comparison") -> str:
    """A difference in points, with its interval."""
    return f"{100 * each.difference:+.1f} ({100 * each.interval.low:+.1f} to {100 * each.interval.high:+.1f})"


def chance(p: float) -> str:
    """A p value as people write it."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def rate(row: ArmSummary) -> str:
    """Accuracy with its interval, in percent."""
    if row.accuracy is None or row.interval is None:
        return NONE
    # Both ends, not ±: the interval is not symmetrical, least of all near 0 and 100 %.
    return f"{100 * row.accuracy:.1f} % ({100 * row.interval.low:.1f} to {100 * row.interval.high:.1f})"


def _figure(row: ArmSummary, value: float | None, shown: Callable[[float], str]) -> str:
    if value is None:
        return "unknown" if row.n else NONE
    return shown(value)


def _dollars(value: float) -> str:
    return f"{value:.2g}" if 0 < value < 0.0001 else f"{value:.4f}"


def _seconds(value: float) -> str:
    return f"{value:.3f}" if 0 < value < 0.1 else f"{value:.1f}"


def _escaped(cell: str) -> str:
    """``cell`` inside a Markdown table: on one line, and neither a border, nor markup, nor HTML."""
    cell = " ".join(cell.split())
    for mark in "\\|`*_[]<>&":
        cell = cell.replace(mark, "\\" + mark)
    return cell
