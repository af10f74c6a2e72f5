"""Honest baselines: workflows chosen on the training problems of a study, with as many calls as its routers learn from.

A wording is chosen by sequential halving (Z. Karnin, T. Koren, O. Somekh, 2013): all are tried on the same few problems, the
worse half goes. A constant workflow is found by the search that tunes policies (:mod:`podium.tuning.search`), told that all
questions are of one kind: two thirds of the problems are searched on, the rest decide between the best. Every call goes through
the pool, so its caps and its journal hold.
"""

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from podium.errors import BudgetExceeded, ConfigError
from podium.policies.chosen import ChosenWorkflow, variants
from podium.policies.voting import with_vote
from podium.protocols import Verifier, Worker
from podium.tuning.candidates import Candidate, Part, solo, workflow
from podium.tuning.catalogue import GENERAL
from podium.tuning.search import Search
from podium.tuning.selection import Contender, affordable, halving
from podium.tuning.trials import Bench, Judged, costs_of
from podium.types import Call, Completion, Problem, Sampling, Workflow
from podium.workers.pool import WorkerPool

SEARCHED = 2 / 3
"""Share of the problems that is searched on."""
SEARCH_SHARE = 0.7
"""Share of the calls after which the best are compared."""
CONTENDERS = 8
_CATALOGUE = replace(GENERAL, swept=((("plan", ()), ("solve", (0,))),))
"""Who solves behind a plan is looked for first: with all kinds in one, nobody may be right alone."""
AT_ONCE = 32
"""Workflows tried side by side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choosing:
    """What a choice is made with."""

    workers: WorkerPool
    verifier: Verifier
    problems: Sequence[Problem]
    calls: int
    """How many calls each choice may take, more or less: what routers learn from."""
    sampling: Sampling = Sampling()
    seed: int = 0


async def worded(name: str, best: int, by: Choosing) -> ChosenWorkflow:
    """One of :data:`podium.policies.chosen.WORDED` with its best wording; ``best`` is the worker that is right most often.

    Raises :class:`BudgetExceeded` where the budget ends before it is known, and :class:`ConfigError` for too few problems.
    """
    bench = _bench(by, with_vote(by.workers))
    left = variants(name, best, len(by.workers))
    found: dict[str, list[Judged]] = {label: [] for label in left}
    rounds, problems = math.ceil(math.log2(len(left))), list(by.problems)
    for number in range(rounds):
        if not problems:
            break
        steps = sum(len(each.steps) for each in left.values())
        size = max(2, (by.calls - _made(bench, by)) // ((rounds - number) * steps))
        part, problems = problems[:size], problems[size:]
        asked = [(label, problem) for problem in part for label in left]
        for start in range(0, len(asked), AT_ONCE):
            some = asked[start : start + AT_ONCE]
            judged = await bench.all([bench.judge(left[label], problem) for label, problem in some])
            for (label, _), one in zip(some, judged, strict=True):
                found[label] += [] if one is None else [one]
        if bench.is_exhausted:
            raise BudgetExceeded(f"the budget ended while the wording of {name} was chosen")
        ranked = sorted(left, key=lambda label: -_share(found[label]))
        left = {label: left[label] for label in ranked[: max(1, math.ceil(len(ranked) / 2))]}
    label = next(iter(left))
    return _chosen(left[label], label, found[label], _made(bench, by))


async def constants(names: Sequence[str], by: Choosing, limit_usd: float | None = None) -> dict[str, ChosenWorkflow]:
    """The best constant workflow, and where ``constant:cheap`` is named the best at no more than ``limit_usd`` a question.

    Both come out of one search. Raises :class:`BudgetExceeded`, and :class:`ConfigError` where a limit needs unknown prices.
    """
    problems = sorted(by.problems, key=lambda problem: problem.id)
    random.Random(f"constant {by.seed}").shuffle(problems)
    cut = round(SEARCHED * len(problems))
    if cut < 2 or len(problems) - cut < 2:
        raise ConfigError(f"{len(problems)} training problems are too few to choose a workflow on; name six or more")
    bench = _bench(by, by.workers)
    search = Search(bench, problems[:cut], len(by.workers), seed=by.seed)

    def left() -> float:
        return 0.0 if bench.is_exhausted else SEARCH_SHARE * by.calls - _made(bench, by)

    if "constant:cheap" in names and limit_usd is None:
        raise ConfigError("constant:cheap keeps to what the compared arm costs, and a price is unknown; leave it out")
    await search.begin(left)
    await search.run(left, lambda mean: None)
    found = {}
    for name in names:
        found[name] = await _best(search, bench, problems[cut:], by, limit_usd if name == "constant:cheap" else None)
    if bench.is_exhausted:
        raise BudgetExceeded("the budget ended while a constant workflow was searched for")
    return found


async def _best(search: Search, bench: Bench, problems: Sequence[Problem], by: Choosing, limit: float | None) -> ChosenWorkflow:
    """The best of what was tried, at no more than ``limit`` dollars a question, after a comparison on ``problems``."""
    mean, costs, calls = search.model.mean(), _costs(search), max(1.0, by.calls * (1 - SEARCH_SHARE))
    singles = [solo(worker) for worker in search.workers]
    if limit is None:
        candidates = [*search.leaders("", mean, CONTENDERS), *singles]
    else:
        tried = {trial.candidate for trial in search.trials} | {*singles}
        candidates = sorted(tried, key=lambda one: (-search.expected("", one, mean), repr(one)))
        candidates = [one for one in candidates if (usd := costs(one)) is not None and usd <= limit][: 2 * CONTENDERS]
        if not candidates:
            raise ConfigError(f"no workflow is known that costs no more than ${limit:.6f} a question, not even a worker alone")
    contenders = [
        Contender(candidate=one, expected=search.expected("", one, mean), weight=search.weight("", one))
        for one in dict.fromkeys(candidates)
    ]
    contenders.sort(key=lambda one: -one.expected)
    contenders = contenders[: affordable(contenders[: 2 * CONTENDERS], calls)]
    ranked = await halving(bench, contenders, problems, calls, most=math.inf)
    kept = [one for one in ranked if limit is None or one.usd is None or one.usd <= limit] or ranked
    best = kept[0]
    judged = [trial.outcome for trial in best.trials]
    return _chosen(workflow(best.candidate), _in_words(best.candidate, by.workers.names), judged, _made(bench, by))


def _costs(search: Search) -> Callable[[Candidate], float | None]:
    """What a candidate costs: as its own trials did, else by what its steps' workers have cost; None: unknown."""
    own: dict[Candidate, list[float]] = {}
    for trial in search.trials:
        if not trial.harvested and trial.outcome.usd is not None:  # the dollars of what was judged along are those of the whole
            own.setdefault(trial.candidate, []).append(trial.outcome.usd)
    estimated = costs_of(search.trials)
    return lambda candidate: fmean(own[candidate]) if candidate in own else estimated(candidate)


def _in_words(candidate: Candidate, names: Sequence[str]) -> str:
    def part(one: Part) -> str:
        sees = f" ({', '.join(map(str, one.access))})" if one.access else ""
        return f"{names[one.worker]} {one.role}{sees}"

    return ", ".join(map(part, candidate))


def _bench(by: Choosing, workers: WorkerPool) -> Bench:
    if by.sampling != Sampling():
        workers = workers.wrapped(lambda member: _Sampled(member.worker, by.sampling))
    return Bench(workers, by.verifier, lambda problem: "", _CATALOGUE)


class _Sampled:
    """A worker that decodes as the study says."""

    def __init__(self, worker: Worker, sampling: Sampling) -> None:
        self._worker, self._sampling = worker, sampling

    async def __call__(self, call: Call) -> Completion:
        return await self._worker(replace(call, sampling=self._sampling))


def _made(bench: Bench, by: Choosing) -> int:
    """Calls so far; counting votes is none."""
    return sum(call.worker in by.workers.names for call in bench.paid)


def _share(judged: Sequence[Judged]) -> float:
    return (sum(one.right for one in judged) + 0.5) / (len(judged) + 1)


def _chosen(template: Workflow, about: str, judged: Sequence[Judged], calls: int) -> ChosenWorkflow:
    usd = [one.usd for one in judged if one.usd is not None]
    return ChosenWorkflow(
        workflow=template,
        about=about,
        right=fmean(one.right for one in judged) if judged else 0.0,
        problems=len(judged),
        usd=fmean(usd) if usd and len(usd) == len(judged) else None,
        calls=calls,
    )


def lines(chosen: Mapping[str, ChosenWorkflow]) -> list[str]:
    """What was chosen, for below the table: a line for each arm."""
    return [
        f"{name}: {each.about} (chosen with {each.calls:,} calls; {100 * each.right:.0f} % of {each.problems} training problems)"
        for name, each in chosen.items()
    ]
