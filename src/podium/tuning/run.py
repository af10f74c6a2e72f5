"""``tune``: a pool, problems with known answers and a budget -> a policy in a folder."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from statistics import fmean

from podium.errors import ConfigError
from podium.evaluation.metrics import wilson
from podium.extras import need
from podium.policies.prompted_record import write_prompted
from podium.policies.tuned_policy import TunedPolicy
from podium.policies.tuned_record import FORM, Measured, TunedRecord, TunedStep, TunedWorkflow, checked_folder, write_tuned
from podium.policies.voting import VOTE
from podium.protocols import Verifier
from podium.tuning.advising import CALLS_OF_AN_ARM, advised, advised_arms
from podium.tuning.candidates import solo, workflow
from podium.tuning.catalogue import GENERAL, Catalogue
from podium.tuning.frontier import frontier_picture
from podium.tuning.given_up import without_given_up
from podium.tuning.headroom import Headroom
from podium.tuning.kept import record_of
from podium.tuning.outcomes import Draw
from podium.tuning.over_kinds import searched_by_kinds
from podium.tuning.price import PREFERENCES
from podium.tuning.proposals import with_proposals
from podium.tuning.regrouping import regrouped
from podium.tuning.report import markdown
from podium.tuning.result import TUNED, Tuned
from podium.tuning.sealed import best_alone, constant_arm, tested_apart, tuned_arm
from podium.tuning.search import Search
from podium.tuning.selection import Contender, affordable, halving
from podium.tuning.split import Split, checked_words, shared_out
from podium.tuning.stages import nothing
from podium.tuning.stopping import CALLS_OF_A_KIND, with_stopping, worth_stopping
from podium.tuning.trials import Arm, Bench, costs_of
from podium.types import Problem
from podium.workers.pool import WorkerPool

LEAST_CALLS = 200
"""With fewer the sealed test alone would use up what there is."""
MAX_CALLS = 3000
"""Calls that are paid for at most."""
SEARCH_SHARE, SELECT_SHARE = 0.85, 0.9
"""Of the calls and dollars: where the search ends, and where selection does; the rest is for the sealed test."""
PROPOSED_SHARE = 0.1
"""Of them, what may go into asking for plans and racing these."""
BEFORE_ADVICE, ADVICE_SHARE = 0.5, 0.75
"""With a Conductor to be tuned: the share of all this that the above is part of, and where evolving its advice ends."""
LEAST_ADVISED = 800
"""With fewer calls nothing can be shown of a prompted Conductor."""
LEAST_TESTED, KEPT_BACK = 20, 100
"""Sealed problems for which calls are kept back, and these: five for each. Fewer problems are asked where workflows are long."""
CONTENDERS = 5
"""Candidates of a kind that go into selection."""
FAR = 0.2
"""Whoever is expected to be right so much less often is not compared any more."""
NEARLY = 0.1
"""So much of the share right is no difference yet where a cheap worker is looked for: selection measures it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Where a run stands."""

    phase: str
    """``search``, ``gate`` where it ends there, ``kinds`` when they are found, ``select``, ``advise`` or ``test``."""
    calls: int
    usd: float | None
    trials: int
    best: Mapping[str, float]
    """Kind -> estimated share right of its best candidate."""


OnProgress = Callable[[Progress], None]


async def tune_pool(
    workers: WorkerPool,
    problems: Sequence[Problem],
    verifier: Verifier,
    out: Path,
    *,
    kind_of: Callable[[Problem], str] | None,
    about: Mapping[str, str] | None = None,
    max_calls: int = MAX_CALLS,
    max_usd: float | None = None,
    prefer: str = "balanced",
    seed: int = 0,
    gate: bool = True,
    catalogue: Catalogue = GENERAL,
    conductor: str | None = None,
    reflector: str | None = None,
    proposers: Sequence[str] = (),
    on_progress: OnProgress | None = None,
) -> Tuned:
    """Find a workflow for every kind of question with at most ``max_calls`` calls and about ``max_usd`` dollars, and write the
    folder ``out``.

    Where ``kind_of`` is None, kinds are found (:mod:`podium.tuning.finding`) as soon as the gate is passed.

    ``conductor`` names a worker that is tuned as the prompted Conductor as well, with half of the calls; ``reflector`` the one
    that rewrites its advice, by default the same (:mod:`podium.tuning.advising`). Of ``proposers`` the one that is right most
    often alone is asked for plans (:mod:`podium.tuning.proposals`).

    Where ``gate`` finds early that the other workers add nothing to the best one, that is the result, and the search is left
    out. ``max_usd`` says how long to search; the dollars that may never be passed are the pool's own budget. Raises
    :class:`ConfigError` for problems that can show nothing, :class:`BudgetExceeded` where not one answer could be had. Every
    decision follows from ``seed`` and the answers, so a run begun anew over a journal makes the same calls again, finds their
    replies there, and goes on.
    """
    if prefer not in PREFERENCES:
        raise ConfigError(f"prefer is one of {', '.join(PREFERENCES)}, not {prefer!r}")
    checked_calls(max_calls)
    for name in (conductor, reflector):
        if name is not None:
            need("gepa")
            workers.named(name)
    if reflector is not None and conductor is None:
        raise ConfigError("a reflector rewrites the advice of a prompted Conductor: name the conductor, too")
    if conductor is not None and max_calls < LEAST_ADVISED:
        raise ConfigError(f"{max_calls} calls are too few to tune a prompted Conductor as well; it needs {LEAST_ADVISED} or more")
    checked_words((*workers.names, *(about or {}).values(), *catalogue.roles.values(), *catalogue.subjects))
    checked_folder(out, workers.names)
    parts = shared_out(problems, kind_of or _all_alike, seed=seed)
    bench = Bench(workers, verifier, kind_of or _all_alike, catalogue)
    search = Search(bench, parts.search, len(workers), about=about or {}, seed=seed)

    def calls_left(share: float) -> float:
        """Until ``share`` of the calls, or of the dollars at today's average, is used."""
        return 0.0 if bench.is_exhausted else min(share * max_calls - len(bench.paid), by_dollars(share))

    def by_dollars(share: float) -> float:
        return inf if max_usd is None or not bench.usd else (share * max_usd - bench.usd) * len(bench.paid) / bench.usd

    whole = 1.0 if conductor is None else BEFORE_ADVICE
    bench.allowance.limit = max_calls - KEPT_BACK if conductor is None else whole * max_calls
    until_searched, until_selected = ends_of(max_calls, whole)

    def report(phase: str, mean: Draw) -> None:
        if on_progress is not None:
            best = search.best(mean)
            on_progress(Progress(phase=phase, calls=len(bench.paid), usd=bench.usd, trials=len(search.trials), best=best))

    await search.begin(lambda: calls_left(until_searched))
    report("search", search.model.mean())
    left = await search.headroom(lambda: calls_left(until_searched)) if gate else None
    if left is not None and left.is_little and not (left.cheaper and PREFERENCES[prefer]):
        tuned = _alone(search, left, parts, workers, prefer, bench, out)
        report("gate", search.model.mean())
        write(out, tuned, _questions(parts, bench.kind_of))
        return tuned
    if kind_of is None and not bench.is_exhausted:
        # The dollars may be used up long before the calls are.
        payable = whole * (len(bench.paid) + calls_left(1.0))
        search, parts = await searched_by_kinds(search, parts, payable, lambda: calls_left(until_searched), seed=seed)
        if bench.kind_of is not _all_alike:
            report("kinds", search.model.mean())
    proposed_until = len(bench.paid) + PROPOSED_SHARE * whole * max_calls
    proposals = await with_proposals(search, proposers, lambda: min(calls_left(until_searched), proposed_until - len(bench.paid)))

    learned_from = (*parts.search, *parts.select)

    async def put_right() -> None:
        await regrouped(search, learned_from, lambda: calls_left(until_selected))

    await search.run(
        lambda: calls_left(until_searched), lambda mean: report("search", mean), put_right if kind_of is None else nothing
    )
    kinds = sorted({bench.kind_of(problem) for problem in parts.search})
    alone = worth_stopping(search, kinds) if VOTE not in workers.names else {}
    left_back = min(CALLS_OF_A_KIND * len(alone), 0.4 * max(0.0, calls_left(until_selected)))
    chosen = await select(bench, search, parts.select, kinds, calls_left(until_selected) - left_back)
    report("select", search.model.mean())
    record = record_of(search, chosen, kinds, workers, prefer, bench.catalogue)
    record = await with_stopping(record, bench, parts.select, alone, lambda: calls_left(until_selected))
    record = without_given_up(record, bench.given_up)
    questions = _questions(parts, bench.kind_of)
    policy = TunedPolicy(record, questions, workers.names)
    best_worker = best_alone(search, workers.names)
    arms = {
        TUNED: tuned_arm(bench, policy),
        f"worker:{best_worker}": constant_arm(bench, solo(workers.names.index(best_worker))),
        "constant": constant_arm(bench, constant := search.constant(kinds)),
    }
    a_problem = policy.max_steps + 1 + len(constant)
    prompted, more = None, dict[str, Arm]()
    if conductor is not None:
        bench.allowance.limit = max_calls - KEPT_BACK
        prompted = await advised(
            bench, search, record, parts.search, parts.select, lambda: calls_left(ADVICE_SHARE),
            conductor=conductor, reflector=reflector or conductor, seed=seed,
        )  # fmt: skip
        report("advise", search.model.mean())
        more = advised_arms(bench, prompted)
        a_problem += CALLS_OF_AN_ARM * len(more)
    bench.allowance.limit = max_calls
    payable = max(LEAST_TESTED, int(min(len(parts.test), by_dollars(1.0) / a_problem)))
    found = await tested_apart(bench, arms, more, parts.test[:payable])
    report("test", search.model.mean())
    tuned = Tuned(
        folder=out, policy=policy, record=record, tested=found, calls=len(bench.paid), usd=bench.usd, best_worker=best_worker,
        given_up=bench.given_up, advised=prompted, proposals=proposals,
    )  # fmt: skip
    write(out, tuned, questions)
    return tuned


async def select(
    bench: Bench, search: Search, problems: Sequence[Problem], kinds: Sequence[str], calls: float
) -> dict[str, list[Contender]]:
    """Kind -> its contenders, the best first, after a comparison on problems the search has not seen.

    Besides the leaders of a kind the best single worker, the cheapest that is nearly as good, and the best workflow for
    everything are among them, so that the choice by kind has to beat them.
    """
    mean, constant, costs = search.model.mean(), search.constant(kinds), costs_of(search.trials)
    found, compared = {}, {}
    for kind in kinds:
        leaders = search.leaders(kind, mean, CONTENDERS)
        singles = {
            solo(worker, search.about[kind]): search.expected(kind, solo(worker, search.about[kind]), mean)
            for worker in search.workers
        }
        alone = max(singles, key=lambda one: singles[one])
        cheap = min(
            (one for one in singles if singles[one] > singles[alone] - NEARLY),
            key=lambda one: inf if (usd := costs(one)) is None else usd,
        )
        first = list(dict.fromkeys((*leaders[:1], alone, constant, cheap, *leaders)))
        measured = max(search.measured(kind).values(), default=1.0)
        contenders = [
            Contender(
                candidate=one,
                # What was tried on chosen problems only has to show more than an estimate.
                expected=min(
                    search.expected(kind, one, mean), measured if one in search.measured(kind) else max(0.0, measured - NEARLY)
                ),
                weight=search.weight(kind, one),
            )
            for one in first
        ]
        top = max(one.expected for one in contenders)
        compared[kind] = [one for one in contenders if one.expected > top - FAR]
    until = len(bench.paid) + calls
    # What a kind with few contenders leaves over is for those with many; a single one is compared with nobody and takes nothing.
    for place, kind in enumerate(sorted(kinds, key=lambda kind: sum(len(one.candidate) for one in compared[kind]))):
        share = (until - len(bench.paid)) / (len(kinds) - place)
        contenders = compared[kind][: affordable(compared[kind], share)]
        own = [problem for problem in problems if bench.kind_of(problem) == kind]
        found[kind] = await halving(bench, contenders, own, share) if share > 0 else contenders
        for contender in found[kind]:
            for trial in contender.trials:
                search.note(trial)
    search.model.fit()
    return found


def ends_of(max_calls: int, whole: float = 1.0) -> tuple[float, float]:
    """The shares of the calls at which the search and selection end, where they have ``whole`` of them."""
    selected = whole * min(SELECT_SHARE, 1 - KEPT_BACK / (whole * max_calls))
    return selected * SEARCH_SHARE / SELECT_SHARE, selected


def checked_calls(max_calls: int) -> None:
    """Raises :class:`ConfigError` for too few, and for what is no whole number."""
    if not isinstance(max_calls, int):
        raise ConfigError(f"calls are a whole number, not {max_calls!r}")
    if max_calls < LEAST_CALLS:
        raise ConfigError(
            f"{max_calls} calls can not show anything; tuning needs {LEAST_CALLS} or more, some 3,000 to do it well"
        )


def _all_alike(problem: Problem) -> str:
    """Before kinds are found."""
    return "group 1"


def _questions(parts: Split, kind_of: Callable[[Problem], str]) -> list[tuple[str, str]]:
    return [(problem.question, kind_of(problem)) for problem in (*parts.search, *parts.select)]


def _alone(search: Search, left: Headroom, parts: Split, workers: WorkerPool, prefer: str, bench: Bench, out: Path) -> Tuned:
    """The result where there is nothing to conduct: the best worker alone."""
    steps = tuple(
        TunedStep(worker=workers.names[left.best], subtask=s.subtask) for s in workflow(solo(left.best), bench.catalogue).steps
    )
    measured = {}
    for kind in search.about:
        asked = [t for t in search.trials if t.kind == kind and t.candidate == solo(left.best, search.about[kind])]
        right, usd = [t.outcome.right for t in asked], [t.outcome.usd for t in asked if t.outcome.usd is not None]
        interval = wilson(fmean(right), len(right)) if right else None
        measured[kind] = Measured(
            right=(sum(right) + 0.5) / (len(right) + 1), problems=len(right), low=None if interval is None else interval.low,
            high=None if interval is None else interval.high, usd=fmean(usd) if usd and len(usd) == len(asked) else None,
        )  # fmt: skip
    record = TunedRecord(
        form=FORM, workers=workers.names, prefer=prefer, price=0.0, robust=0,
        workflows=(TunedWorkflow(steps=steps, kinds=measured),),
    )  # fmt: skip
    policy = TunedPolicy(record, _questions(parts, bench.kind_of), workers.names)
    return Tuned(
        folder=out, policy=policy, record=record, tested=(), calls=len(bench.paid), usd=bench.usd, headroom=left,
        best_worker=workers.names[left.best], given_up=bench.given_up,
    )  # fmt: skip


def write(out: Path, tuned: Tuned, questions: Sequence[tuple[str, str]]) -> None:
    """Write the folder that :func:`podium.policies.tuned_record.read_tuned` reads, and a report for people."""
    if tuned.advised is not None and len(tuned.policies) > 1:
        write_prompted(out, tuned.advised.record)
    write_tuned(out, tuned.record, questions)
    (out / "report.md").write_text(markdown(tuned), encoding="utf-8")
    (out / "frontier.svg").write_text(frontier_picture(tuned.record), encoding="utf-8")
