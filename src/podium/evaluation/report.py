"""Rows -> what people and programs read: a table for the terminal, a table for a page, an object for a file.

All three show the same rows; the terminal, which has room for few columns, less of each. What is unknown says ``unknown``; what
there was nothing to count for is a dash.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from podium.evaluation.metrics import ArmSummary

if TYPE_CHECKING:
    from podium.evaluation.compare import Comparison

NONE = "–"
"""Where there was nothing to count."""


def terminal_table(rows: Sequence[ArmSummary]) -> Table:
    """The rows of ``summarise`` as a table for Rich. Example: ``Console().print(terminal_table(summarise(results)))``.

    It can be read in 80 columns: a kind has a line below its arm's, what never happened has no column, and tokens and the slowest
    answers are left to the other two.
    """
    header, body = _cells([row if row.kind is None else replace(row, arm=f"  {row.kind}", kind=None) for row in rows])
    never = {name for index, name in enumerate(header) if name in _COUNTS and all(line[index] == "0" for line in body)}
    kept = [index for index, name in enumerate(header) if name not in {*never, "tokens", "seconds p95"}]
    return _terminal([header[index] for index in kept], [[line[index] for index in kept] for line in body])


def terminal_overview(rows: Sequence[ArmSummary], comparisons: "Sequence[Comparison]" = ()) -> Table:
    """Many arms in few columns: accuracy, what one arm is better by, cost and steps, over all kinds together."""
    better = {each.other: each for each in comparisons}
    header = ["arm", "n", "accuracy (95 % CI)", *([f"{comparisons[0].arm} is better by"] if comparisons else []), "$", "steps"]
    body = []
    for row in rows:
        if row.kind is None:
            found = better.get(row.arm)
            better_by = [NONE if found is None else points(found)] if comparisons else []
            body.append(
                [
                    row.arm,
                    str(row.n),
                    rate(row),
                    *better_by,
                    _figure(row, row.cost_usd, _dollars),
                    _figure(row, row.steps, "{:.1f}".format),
                ]
            )
    return _terminal(header, body)


def terminal_comparisons(comparisons: "Sequence[Comparison]") -> Table:
    """One arm against others, problem by problem, as a table for Rich."""
    return _terminal(*_comparison_cells(comparisons))


def _terminal(header: list[str], body: list[list[str]]) -> Table:
    table = Table()
    for index, name in enumerate(header):
        table.add_column(name, justify="left" if index == 0 else "right")
    for line in body:
        # Text, because an arm's name in square brackets is a name and not markup.
        table.add_row(*(Text(cell) for cell in line))
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


_COUNTS = ("no answer", "invalid", "unworkable", "faults")


def _cells(rows: Sequence[ArmSummary]) -> tuple[list[str], list[list[str]]]:
    """Header and body: one line per arm, one column per kind where there are several."""
    kinds = sorted({row.kind for row in rows if row.kind is not None})
    by_kind = {(row.arm, row.kind): row for row in rows}
    header = ["arm", "n", "accuracy (95 % CI)", *kinds]
    header += ["steps", "$ per question", "tokens", "seconds", "seconds p95", *_COUNTS]
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
                str(row.no_answer),
                str(row.invalid),
                str(row.unworkable),
                str(row.world_faults),
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
