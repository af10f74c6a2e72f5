"""A certificate that a world needs a conductor: what could make the claim false, searched for, and measured beside the optimum.

The optimum is searched for per kind (:mod:`podium.gym.optimum`), its opponents with at least ten times as many calls
(:mod:`podium.gym.opponents`, :mod:`podium.gym.baselines`). Everything is chosen on training problems; all
figures are of held-out ones, half other numbers and combinations, half other templates.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from podium.errors import ConfigError
from podium.gym.baselines import best_baselines, routed
from podium.gym.gauge import Gauge
from podium.gym.kinds import KINDS, UNTRAINED_KINDS
from podium.gym.opponents import CHOICE, SEARCH, Constants, accuracy_by_kind, find_constants
from podium.gym.optimum import find_optimum
from podium.gym.search import Target, chain
from podium.gym.specialists import Specialist
from podium.gym.wordings import wordings_for
from podium.gym.world import World
from podium.types import Workflow

MEASURED = 300
"""Held-out problems per kind."""
EFFORT = 10
"""How many times the calls of the search for the optimum its opponents get, at least."""
BOUNDS = {
    "best_single": (0.3, 0.5),
    "optimum": (0.95, 1.0),
    "constant_share": (0.0, 0.65),
    "constant_cheap_share": (0.0, 0.55),
    "baseline_share": (0.0, 0.75),
    "router_share": (0.0, 0.75),
}
"""What has to hold, from and to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the certificate's table: accuracies in 0..1, dollars per question."""

    name: str
    accuracy: Mapping[str, float]
    cost_usd: float
    about: str = ""

    @property
    def mean(self) -> float:
        """Over the kinds that are trained on."""
        return fmean(self.accuracy[kind] for kind in KINDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """What was found about a world. ``figures`` has the keys of :data:`BOUNDS` and ``oracle_share``, ``first_words_share``."""

    rows: tuple[Row, ...]
    figures: Mapping[str, float]
    optima: Mapping[str, Workflow]
    constants: Constants
    baselines: Mapping[str, Workflow]
    calls: Mapping[str, int]
    """Calls of the search for the optimum, and of the search for its opponents."""

    @property
    def failures(self) -> list[str]:
        """The bounds that do not hold, in words."""
        return [
            f"{name} is {self.figures[name]:.3f}, not {low} to {high}"
            for name, (low, high) in BOUNDS.items()
            if not low <= self.figures[name] <= high
        ]

    def check(self) -> None:
        """Raises :class:`ConfigError` where a bound does not hold: learning in such a world would show nothing."""
        if self.failures:
            raise ConfigError(f"this world needs no conductor: {'; '.join(self.failures)}")


def certify(
    world: World,
    workers: Sequence[Specialist],
    *,
    measured: int = MEASURED,
    effort: int = EFFORT,
    light: bool = False,
    seed: int = 0,
    say: Callable[[str], None] = lambda text: None,
) -> Certificate:
    """Search, and measure; takes minutes.

    ``light``: the optimum and the baselines are searched for on half as many problems, and ``effort`` counts the calls for the
    baselines, too, which come on top else.
    """
    found = find_optimum(world, workers, seed=seed, light=light)
    optima = {kind: each.workflow for kind, each in found.items()}
    optimum_calls = sum(found[kind].calls for kind in KINDS)
    say(f"optimum: {optimum_calls:,} calls")
    choosing = _gauges(world, workers, CHOICE, 4000 + seed, "train")
    limit = fmean(choosing[kind].cost(optima[kind]) for kind in KINDS)
    trained = {kind: optima[kind] for kind in KINDS}
    few = SEARCH // 2 if light else SEARCH
    asked = Target({kind: Gauge(workers, world.problems(kinds=(kind,), n=few, seed=5000 + seed)) for kind in KINDS})
    baselines = best_baselines(asked, Target({kind: choosing[kind] for kind in KINDS}), len(workers))
    say(f"baselines: {asked.calls:,} calls")
    calls = effort * optimum_calls - (asked.calls if light else 0)
    constants = find_constants(world, workers, trained, limit, calls=calls, over=0.5 if light else 1.0, seed=seed)
    say(f"constant workflows: {constants.calls:,} calls")
    solos = {f"{w.name} alone": _alone(choosing, i) for i, w in enumerate(workers)}
    catalogue = {**solos, **{f"constant, {k}": w for k, w in constants.catalogue.items()}, **baselines}
    held_out = _gauges(world, workers, measured, 6000 + seed, "held_out")
    rows = _rows(choosing, held_out, optima, constants, baselines, solos, catalogue)
    figures = _figures(rows, held_out, solos)
    figures["first_words_share"] = _first_words(world, workers, {**catalogue, **optima}, seed) / _mean(rows, "optimum")
    return Certificate(
        rows=tuple(rows),
        figures=figures,
        optima=optima,
        constants=constants,
        baselines=baselines,
        calls={"optimum": optimum_calls, "opponents": constants.calls + asked.calls},
    )


def _rows(
    choosing: Mapping[str, Gauge],
    held_out: Mapping[str, Gauge],
    optima: Mapping[str, Workflow],
    constants: Constants,
    baselines: Mapping[str, Workflow],
    solos: Mapping[str, Workflow],
    catalogue: Mapping[str, Workflow],
) -> list[Row]:
    def by_kind(name: str, chosen: Mapping[str, Workflow], about: str = "") -> Row:
        return Row(
            name=name,
            accuracy={kind: gauge.accuracy(chosen[kind]) for kind, gauge in held_out.items()},
            cost_usd=fmean(held_out[kind].cost(chosen[kind]) for kind in KINDS),
            about=about,
        )

    def always(name: str, workflow: Workflow) -> Row:
        return by_kind(name, dict.fromkeys(held_out, workflow), about=f"{len(workflow.steps)} steps")

    best = max(solos, key=lambda name: fmean(choosing[kind].accuracy(solos[name]) for kind in KINDS))
    rows = [always(name, workflow) for name, workflow in solos.items()]
    rows.append(always(f"best single ({best})", solos[best]))
    rows += [always(name, workflow) for name, workflow in baselines.items()]
    for name, arms in (("router over solos", solos), ("router over all constant workflows", catalogue)):
        chosen = routed({arm: accuracy_by_kind(choosing, workflow) for arm, workflow in arms.items()})
        rows.append(by_kind(name, {kind: arms[chosen[kind]] for kind in held_out}, about="told the kind"))
    rows += [always(f"best constant, {label}", workflow) for label, workflow in constants.catalogue.items()]
    rows.append(always("best constant at the conductor's price", constants.cheap))
    rows.append(always("best constant", constants.best))
    rows.append(by_kind("optimum", optima, about="the best workflow of each kind"))
    return rows


def _figures(rows: Sequence[Row], held_out: Mapping[str, Gauge], solos: Mapping[str, Workflow]) -> dict[str, float]:
    top = _mean(rows, "optimum")
    oracle = fmean(
        fmean(any(right) for right in zip(*(held_out[kind].correct(solo) for solo in solos.values()), strict=True))
        for kind in KINDS
    )
    names = ("reflection", "consensus", "mixture", "debate")
    return {
        "best_single": next(row.mean for row in rows if row.name.startswith("best single")),
        "optimum": top,
        # A baseline is a constant workflow, too.
        "constant_share": max(row.mean for row in rows if row.name.startswith("best constant") or row.name in names) / top,
        "constant_cheap_share": _mean(rows, "best constant at the conductor's price") / top,
        "baseline_share": max(_mean(rows, name) for name in names) / top,
        "router_share": max(row.mean for row in rows if row.name.startswith("router")) / top,
        "oracle_share": oracle / top,
    }


def _mean(rows: Sequence[Row], name: str) -> float:
    return next(row.mean for row in rows if row.name == name)


def _alone(choosing: Mapping[str, Gauge], worker: int) -> Workflow:
    """A worker alone, with the wording that suits it best."""
    tried = [chain([(worker, text)]) for label, text in wordings_for(None).items() if label.startswith(("answer", "write"))]
    return max(tried, key=lambda workflow: fmean(choosing[kind].accuracy(workflow) for kind in KINDS))


def _first_words(world: World, workers: Sequence[Specialist], catalogue: Mapping[str, Workflow], seed: int) -> float:
    """The accuracy of the best choice of a workflow for each beginning of a question, its first three words."""
    training = [p for kind in KINDS for p in world.problems(kinds=(kind,), n=CHOICE, seed=7000 + seed)]
    gauge = Gauge(workers, training)
    right = {name: gauge.correct(workflow) for name, workflow in catalogue.items()}
    best = max(right, key=lambda name: sum(right[name]))
    groups: dict[str, list[int]] = {}
    for index, problem in enumerate(training):
        groups.setdefault(_beginning(problem.question), []).append(index)
    chosen = {
        words: max(right, key=lambda name: (sum(right[name][index] for index in group), sum(right[name])))
        for words, group in groups.items()
    }
    asked = [
        problem
        for kind in KINDS
        for split in ("held_out_numbers", "held_out_templates")
        for problem in world.problems(kinds=(kind,), split=split, n=CHOICE // 2, seed=8000 + seed)
    ]
    used = {chosen.get(_beginning(problem.question), best) for problem in asked}
    answers = {name: Gauge(workers, asked).correct(catalogue[name]) for name in used}
    return fmean(answers[chosen.get(_beginning(p.question), best)][index] for index, p in enumerate(asked))


def _beginning(question: str) -> str:
    return " ".join(question.split()[:3])


def _gauges(world: World, workers: Sequence[Specialist], n: int, seed: int, split: str) -> dict[str, Gauge]:
    """A gauge for every kind; the held-out problems are half of either held-out split."""
    found = {}
    for kind in (*KINDS, *UNTRAINED_KINDS):
        if split == "train":
            problems = world.problems(kinds=(kind,), n=n, seed=seed)
        else:
            problems = world.problems(kinds=(kind,), split="held_out_numbers", n=n // 2, seed=seed)
            problems += world.problems(kinds=(kind,), split="held_out_templates", n=n // 2, seed=seed)
        found[kind] = Gauge(workers, problems)
    return found
