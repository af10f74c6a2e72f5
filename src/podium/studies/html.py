"""A study as one HTML file: everything inside it, nothing fetched, nothing executed.

Text in it may come from a hostile worker: the template escapes every piece (Jinja's autoescape), and the page forbids itself
scripts and requests (Content-Security-Policy). The only markup let through is that of :mod:`podium.charts`, which
escapes its own texts.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from podium.charts import Bar, Dot, forest, plane, shares
from podium.evaluation.compare import Comparison
from podium.evaluation.evaluate import Result
from podium.evaluation.metrics import ArmSummary
from podium.evaluation.report import NONE, chance, rate
from podium.evaluation.topology import TOPOLOGIES

Cells = tuple[list[str], list[list[str]]]
"""Header and lines of a table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where the figures come from. Example: ``Source(command="podium evaluate a.toml", version="0.1.0", made="2026-11-21")``."""

    command: str
    version: str
    made: str
    files: Mapping[str, str] = field(default_factory=dict)
    """What it is -> where it lies, relative to the page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One question as an arm conducted it, as text."""

    arm: str
    kind: str
    question: str
    workflow: str
    outcome: str
    """Example: ``right``."""
    setup: str = ""
    """What answered behind the arm's name, as a hash."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What is shown. ``rows`` are those of ``summarise`` over ``results``."""

    title: str
    source: Source
    rows: Sequence[ArmSummary]
    results: Sequence[Result]
    comparisons: Sequence[Comparison] = ()
    arm: str | None = None
    """The arm that the page is about."""
    examples: Sequence[Example] = ()
    pictures: Mapping[str, str] = field(default_factory=dict)
    """Caption -> SVG that this package made."""
    tables: Mapping[str, Cells] = field(default_factory=dict)
    """Caption -> header and lines of one more table."""


def html(page: Page) -> str:
    """The file's text. Example: ``(folder / "report.html").write_text(html(page), encoding="utf-8")``."""
    environment = Environment(
        loader=PackageLoader("podium.studies", "."), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    return environment.get_template("html.j2").render(
        page=page,
        lead=_lead(page),
        arms=_arms(page),
        plane=Markup(accuracy_and_cost(page)),  # noqa: S704 - our own chart
        forest=Markup(_forest(page)),  # noqa: S704
        paired=_paired(page),
        by_kind=_by_kind(page),
        mixes=[Markup(picture) for picture in _mixes(page)],  # noqa: S704
        steps=_steps(page),
    )


def family(arm: str) -> str:
    """The sort of arm, by its name, for the colours of the plane. Example: ``family("worker:brook") == "one worker"``."""
    kind = arm.partition(":")[0].partition("@")[0]
    sorts = {
        "worker": "one worker",
        "context": "one worker",
        "reflection": "one worker, 5x",
        "consensus": "one worker, 5x",
        "router": "router",
        "trained": "Conductor",
        "chat": "Conductor",
    }
    return sorts.get(kind, "other")


def _whole(page: Page) -> list[ArmSummary]:
    """The rows over all kinds, the best arm first."""
    return sorted((row for row in page.rows if row.kind is None), key=lambda row: -(row.accuracy or 0.0))


def _lead(page: Page) -> str:
    whole = _whole(page)
    text = f"{len(whole)} arms, {max((row.problems for row in whole), default=0)} problems."
    text += "".join(f" {row.arm}: {rate(row)}." for row in whole if row.arm == page.arm)
    best = next((row for row in whole if row.arm.startswith("worker:")), None)
    return text if best is None else f"{text} Best worker alone, {best.arm.removeprefix('worker:')}: {rate(best)}."


def _arms(page: Page) -> Cells:
    head = ["arm", "n", "accuracy", "95 %", "$ per question", "right per $", "tokens", "seconds", "steps"]
    head += ["no answer", "invalid", "unworkable", "faults"]
    lines = []
    for row in _whole(page):
        ends = NONE if row.interval is None else f"{100 * row.interval.low:.1f} to {100 * row.interval.high:.1f}"
        per_dollar = row.accuracy / row.cost_usd if row.cost_usd and row.accuracy is not None else None
        figures = (row.cost_usd, "{:.6f}"), (per_dollar, "{:,.0f}"), (row.tokens, "{:.0f}"), (row.seconds, "{:.2f}")
        lines.append(
            [
                row.arm,
                str(row.n),
                _percent(row.accuracy),
                ends,
                *(_figure(value, form) for value, form in figures),
                _figure(row.steps, "{:.2f}"),
                str(row.no_answer),
                str(row.invalid),
                str(row.unworkable),
                str(row.world_faults),
            ]
        )
    return head, lines


def accuracy_and_cost(page: Page) -> str:
    """Every arm by what a question costs and how often it is right, as SVG; "" where no cost is known."""
    whole = [row for row in _whole(page) if row.accuracy is not None and row.cost_usd is not None]
    best = {row.arm.partition(":")[0]: row.arm for row in reversed(whole)}
    named = {*best.values(), page.arm}
    dots = [
        Dot(name=row.arm, x=row.cost_usd or 0.0, y=row.accuracy or 0.0, group=family(row.arm), shown=row.arm in named)
        for row in whole
    ]
    return plane(dots, x_label="dollars per question, the Conductor's own tokens included", y_label="accuracy")


def _forest(page: Page) -> str:
    bars = [Bar(name=c.other, value=c.difference, low=c.interval.low, high=c.interval.high) for c in _ordered(page)]
    return forest(bars, label=f"accuracy of {page.arm} less that of the other, in points")


def _paired(page: Page) -> Cells:
    head = ["against", "points", "95 %", "won", "lost", "problems", "left out", "p (McNemar)", "p (Holm)", "to see half"]
    lines = [
        [
            c.other,
            f"{100 * c.difference:+.1f}",
            f"{100 * c.interval.low:+.1f} to {100 * c.interval.high:+.1f}",
            *(str(count) for count in (c.wins, c.losses, c.problems, c.left_out)),
            chance(c.p),
            chance(c.p_holm),
            NONE if c.needed is None else str(c.needed),
        ]
        for c in _ordered(page)
    ]
    return head, lines


def _ordered(page: Page) -> list[Comparison]:
    return sorted(page.comparisons, key=lambda each: -each.difference)


def _by_kind(page: Page) -> Cells:
    kinds = sorted({row.kind for row in page.rows if row.kind is not None})
    cells = {(row.arm, row.kind): f"{_percent(row.accuracy)} (n {row.n})" for row in page.rows}
    lines = [[row.arm, *(cells.get((row.arm, kind), NONE) for kind in kinds)] for row in _whole(page)] if kinds else []
    return ["arm", *kinds], lines


def _mixes(page: Page) -> list[str]:
    conducted = _conducted(page)
    names = sorted({worker for results in conducted.values() for result in results for worker in result.workers})
    arms = {arm: _mix(results, names) for arm, results in conducted.items()}
    by_kind: dict[str, list[Result]] = {}
    for result in sorted(conducted.get(page.arm or "", []), key=lambda result: result.kind):
        by_kind.setdefault(result.kind, []).append(result)
    found = [shares(arms, label="share of the steps that each worker carries out", names=names)] if arms else []
    if len(by_kind) > 1:
        kinds = {kind: _mix(results, names) for kind, results in by_kind.items()}
        found.append(shares(kinds, label=f"the same of {page.arm}, by kind of question", names=names))
    return found


def _mix(results: Sequence[Result], names: Sequence[str]) -> dict[str, float]:
    counts = Counter(worker for result in results for worker in result.workers)
    return {name: counts[name] / counts.total() for name in names if counts[name]}


def _steps(page: Page) -> Cells:
    kinds = sorted({result.kind for result in page.results})
    lines = []
    for arm, results in _conducted(page).items():
        steps = [[result.steps for result in results if result.kind == kind] for kind in kinds]
        shapes = Counter(shape for result in results for shape in result.topologies)
        verbs = Counter(verb for result in results for verb in result.verbs)
        often = ", ".join(f"{verb} {_share(count, verbs)}" for verb, count in verbs.most_common(4))
        means = (f"{fmean(each):.2f}" if each else NONE for each in steps)
        lines.append([arm, *means, *(_share(shapes[shape], shapes) for shape in TOPOLOGIES), often])
    return ["arm", *(f"steps: {kind}" for kind in kinds), *TOPOLOGIES, "first words of subtasks"], lines


def _conducted(page: Page) -> dict[str, list[Result]]:
    """The arms that wrote workflows."""
    found: dict[str, list[Result]] = {}
    for result in page.results:
        if result.rounds and result.workers:
            found.setdefault(result.arm, []).append(result)
    return found


def _share(count: int, of: Counter[str]) -> str:
    return f"{100 * count / of.total():.0f} %" if of else NONE


def _percent(share: float | None) -> str:
    return NONE if share is None else f"{100 * share:.1f} %"


def _figure(value: float | None, form: str) -> str:
    return "unknown" if value is None else form.format(value)
