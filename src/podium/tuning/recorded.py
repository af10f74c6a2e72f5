"""``tune_recorded``: a folder of recorded answers -> a policy in a folder, with rules that stop chosen for every kind.

Nobody is asked: every worker's answer to every question is there. Three quarters of the questions are learned from, the rest is
sealed and looked at once. What recordings can not show, here as elsewhere: what better instructions are worth, or seeing others.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy as np

from podium.conduct import Conductor
from podium.errors import ConfigError
from podium.evaluation.compare import paired_interval
from podium.evaluation.evaluate import Result, evaluate
from podium.evaluation.metrics import wilson
from podium.policies.router_data import RouterDataset
from podium.policies.rules import Rule, following, setup_of
from podium.policies.tuned_policy import TunedPolicy
from podium.policies.tuned_record import FORM, Measured, TunedRecord, TunedWorkflow, checked_folder
from podium.policies.voting import VOTE
from podium.pools.conducting import conductor
from podium.pools.opened import OpenPool
from podium.pools.problems import ProblemSource
from podium.pools.recorded import recorded_pool
from podium.pools.verifiers import open_verifiers
from podium.protocols import Verifier, Worker
from podium.tasks.agreement import votes_of
from podium.tuning.doubt import unseen_posteriors
from podium.tuning.kept import PREFERENCES
from podium.tuning.kinds import kinds_of
from podium.tuning.result import TUNED, Tested, Tuned
from podium.tuning.rules import Array, Caps, RuleBook
from podium.tuning.run import write
from podium.tuning.split import shared_out
from podium.tuning.steps import stored_steps
from podium.types import Problem
from podium.workers.recorded import Recorded

LOST = (0.01, 0.03, 0.06, 0.1)
"""Accuracy that is given up for the cheaper rules of the frontier."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sparing:
    """What answers may take on average. Example: ``Sparing(calls=2.5, workers={"strong": 0.4})``."""

    calls: float | None = None
    """Calls a question."""
    workers: Mapping[str, float] | None = None
    """Worker -> the share of the questions that it may be asked."""

    def caps(self, names: Sequence[str]) -> Caps:
        """The same for workers by number. Raises :class:`ConfigError` for an unknown name or a number that makes no sense."""
        for name, share in (self.workers or {}).items():
            if name not in names:
                raise ConfigError(f"there is no worker {name!r} to be asked sparingly; there are {', '.join(names)}")
            if not 0 <= share <= 1:
                raise ConfigError(f"{name!r} is to be asked for a share of the questions, from 0 to 1, and not {share:g}")
        if self.calls is not None and not self.calls >= 1:
            raise ConfigError(f"a question takes one call at least, so at most {self.calls:g} can not be kept")
        return Caps(calls=self.calls, shares={names.index(name): share for name, share in (self.workers or {}).items()})


async def tune_recorded(
    folder: Path | str,
    out: Path | str,
    *,
    prefer: str = "balanced",
    sparing: Sparing = Sparing(),
    seed: int = 0,
    unsafe_local: bool = False,
) -> Tuned:
    """Choose a rule for every kind of question in the recordings of ``folder``, and write the policy to the folder ``out``.

    ``prefer`` is ``accuracy``, ``balanced`` (gives up one point of accuracy for a lower price) or ``cheap`` (three points); where
    the recordings do not say what their answers cost, calls stand for dollars. ``sparing`` bounds calls, and how often a worker
    is asked. Example: ``await tune_recorded("replay", "runs/mine", sparing=Sparing(calls=2))``. Raises :class:`ConfigError`.
    """
    if prefer not in PREFERENCES:
        raise ConfigError(f"prefer is one of {', '.join(PREFERENCES)}, not {prefer!r}")
    folder, out = Path(folder), Path(out)
    pool = recorded_pool(folder)
    names = pool.workers.names
    caps = sparing.caps(names)
    stored_steps(Rule(order=(0,)), names)  # before anything is judged: a worker can not be called as the one that counts votes
    checked_folder(out, names)
    workers: dict[str, Worker] = {member.name: member.worker for member in pool.workers}
    problems = [problem for problem in ProblemSource(replay=folder).problems() if _answered(problem, workers)]
    if not problems:
        raise ConfigError(f"no question of {folder} is answered by all of {', '.join(names)}")
    kind_of = kinds_of(problems, pool.sort_of)
    parts = shared_out(problems, kind_of, seed=seed)
    learn = (*parts.search, *parts.select)
    async with open_verifiers({problem.kind for problem in problems}, unsafe_local=unsafe_local) as verifier:
        data, usd = lessons(await evaluate(workers, learn, verifier), learn, names, kind_of)
        questions = list(zip(data.questions, data.kinds, strict=True))
        book = RuleBook(data, usd, doubt=unseen_posteriors(data.questions, data.kinds))
        record, best, constant = chosen_record(book, names, caps, prefer)
        policy = TunedPolicy(record, questions, names)
        found = await _tested(pool, policy, names[best], constant, parts.test, verifier)
    tuned = Tuned(
        folder=out, policy=policy, record=record, tested=found, calls=len(data.questions) * len(names), usd=None,
        best_worker=names[best], is_recorded=True,
    )  # fmt: skip
    write(out, tuned, questions)
    return tuned


def lessons(
    results: Sequence[Result], problems: Sequence[Problem], names: Sequence[str], kind_of: Callable[[Problem], str]
) -> tuple[RouterDataset, list[list[float]] | None]:
    """Who was right, what everybody said, and dollars where all are known; problems without a verdict on everybody are left out.

    Raises :class:`ConfigError` where no problem is left.
    """
    found = {(result.arm, result.problem): result for result in results if result.verdict is not None}
    rows = [problem for problem in problems if all((name, problem.id) in found for name in names)]
    table = [[found[name, problem.id] for name in names] for problem in rows]
    data = RouterDataset(
        questions=tuple(problem.question for problem in rows),
        kinds=tuple(kind_of(problem) for problem in rows),
        right=tuple(tuple(float(one.is_correct) for one in row) for row in table),
        answers=tuple(
            tuple(
                votes_of([None if one.verdict is None else one.verdict.extracted for one in row], problem.kind, problem.question)
            )
            for problem, row in zip(rows, table, strict=True)
        ),
    )
    usd = [[None if one.usage is None else one.usage.cost_usd for one in row] for row in table]
    known = [[one for one in row if one is not None] for row in usd]
    return data, known if known == usd else None


def chosen_record(book: RuleBook, names: Sequence[str], caps: Caps, prefer: str) -> tuple[TunedRecord, int, Rule]:
    """The record of the rules that ``prefer`` chooses under ``caps``, the best worker, and the best rule for everything.

    Kept are, besides these, the rules that the other preferences would choose, so that the frontier can be seen.
    """
    charges = book.charges(caps)
    may_lose = PREFERENCES[prefer]
    price = book.price(charges, may_lose) if book.knows_dollars else 0.0
    if not book.knows_dollars and may_lose:
        charges = book.dearer(charges, may_lose)
    chosen = book.best(charges, price)
    _, in_doubt = book.in_doubt(charges, price)
    chosen[""] = book.constant(caps, charges, price)
    kept = {*chosen.values(), *in_doubt, *book.best(book.charges()).values(), *_cheaper(book, charges, price)}
    alone = [number for number, rule in enumerate(book.rules) if len(rule.order) == 1]
    best = max(alone, key=lambda number: book.expected(number, "").right)
    numbers = sorted({*kept, best})
    kinds = book.kinds[1:]
    stored = tuple(
        TunedWorkflow(
            steps=stored_steps(book.rules[number], names), kinds={kind: _measured(book, number, kind, charges) for kind in kinds}
        )
        for number in numbers
    )
    record = TunedRecord(
        form=FORM, workers=tuple(names), prefer=prefer, price=price, robust=numbers.index(chosen[""]), workflows=stored
    )
    return record, book.rules[best].order[0], book.rules[chosen[""]]


def _measured(book: RuleBook, number: int, kind: str, charges: Array) -> Measured:
    expected = book.expected(number, kind)
    return Measured(
        right=min(1.0, max(0.0, expected.right)), usd=expected.usd, calls=expected.calls,
        charge=float(np.array(expected.asks) @ charges),
    )  # fmt: skip


def _cheaper(book: RuleBook, charges: Array, price: float) -> set[int]:
    """The rules that those would choose to whom accuracy is worth less."""
    found = [
        book.best(charges, max(price, book.price(charges, lost))) if book.knows_dollars else book.best(book.dearer(charges, lost))
        for lost in LOST
    ]
    return {number for chosen in found for number in chosen.values()}


def _answered(problem: Problem, workers: Mapping[str, Worker]) -> bool:
    return all(worker.answers(problem.question) for worker in workers.values() if isinstance(worker, Recorded))


async def _tested(
    pool: OpenPool, policy: TunedPolicy, best: str, constant: Rule, problems: Sequence[Problem], verifier: Verifier
) -> tuple[Tested, ...]:
    """The policy, the best worker and the best rule for everything, carried out on the sealed problems."""
    everywhere = setup_of(following(constant, len(pool.workers)), pool.workers)
    arms: dict[str, Worker] = {
        TUNED: conductor(pool, policy),
        f"worker:{best}": pool[best],
        "constant": Conductor(everywhere.policy, everywhere.workers, max_steps=everywhere.max_steps, syntax=everywhere.syntax),
    }
    rows: dict[str, dict[str, Result]] = {name: {} for name in arms}
    for result in await evaluate(arms, problems, verifier):
        if not result.is_world_fault:
            rows[result.arm][result.problem] = result
    common = [problem.id for problem in problems if all(problem.id in row for row in rows.values())]
    if not common:
        return ()
    ours = [float(rows[TUNED][problem].is_correct) for problem in common]
    found = []
    for name, row in rows.items():
        right = [float(row[problem].is_correct) for problem in common]
        dollars = [None if (usage := row[problem].usage) is None else usage.cost_usd for problem in common]
        known = [one for one in dollars if one is not None]
        gain = None if name == TUNED else paired_interval([mine - other for mine, other in zip(ours, right, strict=True)])
        found.append(
            Tested(
                name=name, share=fmean(right), interval=wilson(fmean(right), len(right)), problems=len(right),
                usd=fmean(known) if len(known) == len(common) else None, gain=gain,
                steps=fmean(sum(worker != VOTE for worker in row[problem].workers) or 1 for problem in common),
            )
        )  # fmt: skip
    return tuple(found)
