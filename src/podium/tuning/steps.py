"""Rules that stop as the steps of a tuned policy, and these as a workflow again."""

from collections.abc import Sequence

from podium.errors import ConfigError
from podium.policies.rules import Rule
from podium.policies.tuned_record import QUESTION, TunedStep
from podium.policies.voting import VOTE
from podium.types import Brief, Card, Step, Workflow, ask


def stored_steps(rule: Rule, names: Sequence[str]) -> tuple[TunedStep, ...]:
    """``rule`` as the steps of a tuned policy, with a mark where the question is put in.

    Raises :class:`ConfigError` where a worker has the name of the one that counts votes.
    """
    if VOTE in names:
        raise ConfigError(f"a worker is called {VOTE!r}, as the one that counts votes; give it another name")
    brief = Brief(question=ask(QUESTION), cards=tuple(Card(name=name) for name in names))
    named = (*names, VOTE)
    return tuple(
        TunedStep(worker=named[step.worker], subtask=step.subtask, access=step.access, condition=step.condition)
        for step in rule.workflow(brief, judge=len(names)).steps
    )


def template_of(steps: Sequence[TunedStep], names: Sequence[str]) -> Workflow:
    """The workflow of stored ``steps`` for workers called ``names`` and, behind them, one that counts votes."""
    named = [*names, VOTE]
    return Workflow(
        steps=tuple(
            Step(worker=named.index(one.worker), subtask=one.subtask, access=one.access, condition=one.condition) for one in steps
        )
    )
