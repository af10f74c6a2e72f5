"""The sealed test: several arms on problems that nothing was learned from, each asked once, at the end."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from podium.evaluation.compare import paired_interval
from podium.evaluation.metrics import wilson
from podium.policies.tuned_policy import TunedPolicy
from podium.tuning.candidates import Candidate, workflow
from podium.tuning.catalogue import SOLVE
from podium.tuning.result import TUNED, Tested
from podium.tuning.search import Search
from podium.tuning.trials import Arm, Bench, Judged
from podium.types import Problem, Workflow


def best_alone(search: Search, names: Sequence[str]) -> str:
    """The best worker alone, of those that still answer where one does: nobody else can be asked."""
    right: dict[int, list[bool]] = {}
    for trial in search.trials:
        if len(trial.candidate) == 1 and trial.candidate[0].role == SOLVE:
            right.setdefault(trial.candidate[0].worker, []).append(trial.outcome.right)
    able = [worker for worker in right if worker in search.workers] or [*right]
    return names[max(able, key=lambda worker: (sum(right[worker]) + 1) / (len(right[worker]) + 2))]


def tuned_arm(bench: Bench, policy: TunedPolicy) -> Arm:
    """``policy``, which chooses by what kind a question is likely to be."""

    def chosen(problem: Problem) -> Workflow:
        return policy.workflow(policy.choose(problem.question)[0])

    return Arm(judge=lambda problem: bench.judge(chosen(problem), problem), calls=lambda problem: len(chosen(problem).steps))


def constant_arm(bench: Bench, candidate: Candidate) -> Arm:
    """``candidate`` for every question."""
    return Arm(
        judge=lambda problem: bench.judge(workflow(candidate, bench.catalogue), problem), calls=lambda problem: len(candidate)
    )


async def tested_apart(
    bench: Bench, arms: Mapping[str, Arm], more: Mapping[str, Arm], problems: Sequence[Problem]
) -> tuple[Tested, ...]:
    """``arms`` and then ``more``, so that a Conductor that fails does not take the others' problems away; each of the two has its
    part of the calls that are left."""
    limit, calls = bench.allowance.limit, bench.allowance.room
    needed = [sum(arm.calls(problem) for problem in problems for arm in some.values()) for some in (arms, more)]
    bench.allowance.limit -= calls * needed[1] / max(1, sum(needed))
    found = await tested(bench, arms, problems)
    bench.allowance.limit = limit
    if more and found:
        found += (await tested(bench, {TUNED: arms[TUNED], **more}, problems))[1:]
    return found


async def tested(bench: Bench, arms: Mapping[str, Arm], problems: Sequence[Problem]) -> tuple[Tested, ...]:
    """``arms``, :data:`TUNED` first, on the sealed ``problems``, as long as what may be begun is enough for all arms; problems
    where the world failed one are left out."""
    rows: dict[str, list[Judged]] = {name: [] for name in arms}
    for problem in problems:
        if bench.is_exhausted or sum(arm.calls(problem) for arm in arms.values()) > bench.allowance.room:
            break
        judged = await bench.all([arm.judge(problem) for arm in arms.values()])
        known = [one for one in judged if one is not None]
        if len(known) == len(judged):
            for name, one in zip(arms, known, strict=True):
                rows[name].append(one)
    if not rows[TUNED]:
        return ()
    ours = [float(trial.right) for trial in rows[TUNED]]
    found = []
    for name, trials in rows.items():
        share = fmean(trial.right for trial in trials)
        differences = [mine - trial.right for mine, trial in zip(ours, trials, strict=True)]
        found.append(
            Tested(
                name=name, share=share, interval=wilson(share, len(trials)), problems=len(trials), usd=_mean_usd(trials),
                steps=fmean(trial.steps for trial in trials),
                gain=None if name == TUNED else paired_interval(differences),
            )
        )  # fmt: skip
    return tuple(found)


def _mean_usd(trials: Sequence[Judged]) -> float | None:
    return None if any(trial.usd is None for trial in trials) else fmean(trial.usd or 0.0 for trial in trials)
