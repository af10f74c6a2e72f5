"""Rules that stop: whom to ask in which order, and when enough of them agree. As workflows with conditions, and as policies.

One record says all of them: a worker alone, "a and b, and c where they differ", "in this order until two agree", a full vote.
What a rule would have cost and got right on answers that are known is in :mod:`podium.policies.learning`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from podium.conditions import ALWAYS, IF_FAILED, agree
from podium.errors import ConfigError
from podium.policies.fixed import FunctionPolicy, alone, independent
from podium.policies.named import NamedPolicy, PolicyRequest, PolicySetup
from podium.policies.voting import with_checker, with_vote
from podium.registry import register
from podium.types import Brief, Step, Workflow
from podium.workers.checking import INSTRUCTION
from podium.workers.pool import WorkerPool
from podium.workflow.syntax import WorkflowSyntax

CONDITIONAL = WorkflowSyntax(conditions=True)
LEARNED = "learned"
"""The order that training problems give; only a study has any."""
_DIFFER = "The answers so far differ. Answer the question yourself, with care. Show your work, then give the final answer."
_NOT_ENOUGH = "Answer the question yourself; earlier answers may be wrong. Show your work, then give the final answer."
_COUNT = "Give the answer that most of them agree on."
_CHECK = "Check the answer above, step by step, against the question. Do not answer anew."
_MEND = "The check found a mistake. Correct the answer and give it again, whole."
CHECKS = (_CHECK, _MEND, INSTRUCTION)
"""The words of ``repair``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Whom to ask, and until when. Example: ``Rule(order=(2, 0, 1), agree=2)`` asks 2 and 0, and 1 where they differ."""

    order: tuple[int, ...]
    """Positions of workers in the pool, in the order in which they are asked."""
    agree: int | None = None
    """So many have to say the same, and nobody further is asked; None: all of ``order`` are asked."""
    last_decides: bool = False
    """Where too few agree: the answer of the last one asked, else a vote of all with ties to whoever was asked first."""

    def named(self, names: Sequence[str]) -> str:
        """The rule as a policy string. Example: ``"stop:2:brook,atlas,calc"``."""
        order = ",".join(names[worker] for worker in self.order)
        if len(self.order) == 1:
            return f"solo:{order}"
        kind = "vote" if self.agree is None else "cascade" if self.last_decides else f"stop:{self.agree}"
        return f"{kind}:{order}"

    def workflow(self, brief: Brief, judge: int) -> Workflow:
        """The rule for the question of ``brief``; ``judge`` is the worker that counts votes."""
        if len(self.order) == 1:
            return alone(self.order[0])
        first = len(self.order) if self.agree is None else self.agree
        steps = independent(brief, self.order[:first])
        for index in range(first, len(self.order)):
            subtask = _DIFFER if self.last_decides else _NOT_ENOUGH
            condition = ALWAYS if self.agree is None else agree(self.agree)
            steps.append(Step(worker=self.order[index], subtask=subtask, access=tuple(range(index)), condition=condition))
        if not self.last_decides:
            steps.append(Step(worker=judge, subtask=_COUNT, access=tuple(range(len(steps)))))
        return Workflow(steps=tuple(steps))


def following(rule: Rule, judge: int) -> FunctionPolicy:
    """The policy that follows ``rule`` at every question."""
    return FunctionPolicy(lambda brief: rule.workflow(brief, judge), CONDITIONAL)


def stop(workers: int, agree: int, order: Sequence[int] = ()) -> Rule:
    """Ask in ``order`` (of the pool) until ``agree`` say the same. Raises :class:`ConfigError` where so many are not asked."""
    order = tuple(order) or tuple(range(workers))
    if not 2 <= agree <= min(99, len(order)):
        raise ConfigError(f"{agree} of {len(order)} workers can not agree; stop:K takes a K from 2 to {len(order)}")
    return Rule(order=order, agree=agree)


def cascade(order: Sequence[int]) -> Rule:
    """The first two answer; each further one where no two agree. Raises :class:`ConfigError` for fewer than three."""
    if len(order) < 3:
        raise ConfigError("a cascade has three workers or more: cascade:a,b,c asks c where a and b differ")
    return Rule(order=tuple(order), agree=2, last_decides=True)


def measured_order(pool: WorkerPool) -> tuple[int, ...]:
    """Who is right most often first, where that was measured of all; else as they stand in the pool."""
    cards = pool.cards
    rates = [fmean(rate for _, rate in card.skills) if card.skills else None for card in cards]
    if any(rate is None for rate in rates):
        return tuple(range(len(cards)))
    return tuple(sorted(range(len(cards)), key=lambda index: -(rates[index] or 0.0)))


def order_named(text: str, pool: WorkerPool) -> tuple[int, ...]:
    """The workers that ``text`` names, separated by commas; "" is :func:`measured_order`. Raises :class:`ConfigError`."""
    if not text:
        return measured_order(pool)
    if text == LEARNED and LEARNED not in pool.names:
        raise ConfigError("an order is learned from training problems: name some in a table [learning] of a study")
    order = tuple(pool.names.index(pool.named(name.strip()).name) for name in text.split(","))
    if len(set(order)) < len(order):
        raise ConfigError(f"{text!r} names a worker twice")
    return order


def rule_named(kind: str, argument: str, pool: WorkerPool) -> Rule:
    """The rule that a policy string says: ``stop``, ``cascade`` or ``vote`` with what follows. Raises :class:`ConfigError`."""
    if kind == "cascade":
        return cascade(order_named(argument, pool) if argument else ())
    if kind == "vote":
        return Rule(order=order_named(argument, pool))
    count, _, order = argument.partition(":")
    if not (count.isascii() and count.isdecimal() and len(count) <= 2):
        raise ConfigError(f"stop:K[:ORDER] takes a number, as in stop:2, and not {count[:20]!r}")
    return stop(len(pool), int(count), order_named(order, pool))


def setup_of(policy: FunctionPolicy, pool: WorkerPool, answering: tuple[int, ...] | None = None) -> PolicySetup:
    """A policy over rules, with the worker that counts votes."""
    workers = with_vote(pool)
    return PolicySetup(policy=policy, workers=workers, max_steps=len(workers), syntax=CONDITIONAL, answering=answering)


def _rule(asked: PolicyRequest) -> PolicySetup:
    rule, judge = rule_named(asked.spec.kind, asked.spec.argument, asked.workers), len(asked.workers)
    votes = len(rule.order) > 1 and not rule.last_decides
    return setup_of(following(rule, judge), asked.workers, answering=(judge if votes else rule.order[-1],))


def _repair(asked: PolicyRequest) -> PolicySetup:
    worker, checker = asked.worker(), len(asked.workers)
    workers = with_checker(asked.workers, worker)
    mend = Step(worker=worker, subtask=_MEND, access=(0, 1), condition=IF_FAILED)

    def workflow(brief: Brief) -> Workflow:
        return Workflow(steps=(*independent(brief, [worker]), Step(worker=checker, subtask=_CHECK, access=(0,)), mend))

    return PolicySetup(
        policy=FunctionPolicy(workflow, CONDITIONAL), workers=workers, max_steps=3, syntax=CONDITIONAL, answering=(worker,)
    )


for _name, _named in {
    "vote": NamedPolicy(
        form="vote[:ORDER]",
        about="every worker (or those named) answers, the most common answer wins, ties go to the first",
        make=_rule,
        is_baseline=True,
    ),
    "stop": NamedPolicy(
        form="stop:K[:ORDER]", about="workers answer one after the other until K of them agree, else they vote", make=_rule
    ),
    "cascade": NamedPolicy(form="cascade:A,B,C", about="A and B answer, and C only where they differ", make=_rule),
    "repair": NamedPolicy(
        form="repair:NAME", about="worker NAME answers and checks; the answer is mended only if the check fails", make=_repair
    ),
}.items():
    register("policies", _name)(_named)
