"""A workflow that was chosen on training problems and is the same for every question.

``constant`` is the best one found by a search, ``constant:cheap`` the best that costs no more than what it is compared with;
``mixture:learned``, ``reflection:learned`` and ``consensus:learned`` are those baselines with their best wording. What a policy
writes for each question is worth what it is better than these. Choosing is for :mod:`podium.studies.choosing`; here such a
workflow is described, varied, and followed.
"""

from dataclasses import dataclass

from podium.policies.fixed import FunctionPolicy
from podium.policies.named import PolicySetup
from podium.policies.tuned_record import QUESTION, asked
from podium.policies.voting import with_vote
from podium.policies.wordings import AGAIN, ANSWERS, MERGES
from podium.types import Question, Step, Workflow
from podium.workers.pool import WorkerPool

CONSTANTS = ("constant", "constant:cheap")
WORDED = ("mixture:learned", "reflection:learned", "consensus:learned")
CHOSEN = (*CONSTANTS, *WORDED)
"""The arms."""
_CHECKS = 4
"""How often a reflection looks at its answer, and one less than the answers of a consensus (paper, section 4.1)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenWorkflow:
    """What was chosen, and what training problems say of it. Example: ``chosen.about`` names the wording."""

    workflow: Workflow
    """With ``{question}`` where the question is put in; a worker behind the pool's last counts votes."""
    about: str
    """What was chosen, for the table."""
    right: float
    """Share right of the training problems that it was chosen on; flattering, because it was chosen on them."""
    problems: int
    """How many these were."""
    usd: float | None
    """Dollars a question; None: unknown."""
    calls: int
    """Calls that choosing took."""


def followed(chosen: ChosenWorkflow, pool: WorkerPool) -> PolicySetup:
    """The policy that writes ``chosen`` for every question."""
    steps = chosen.workflow.steps
    workers = with_vote(pool) if any(step.worker == len(pool) for step in steps) else pool
    return PolicySetup(policy=policy_of(chosen), workers=workers, max_steps=len(steps), answering=(steps[-1].worker,))


def policy_of(chosen: ChosenWorkflow) -> FunctionPolicy:
    """Writes ``chosen`` with the question put in."""
    return FunctionPolicy(lambda brief: asked(chosen.workflow, _text(brief.question)))


def variants(name: str, best: int, workers: int) -> dict[str, Workflow]:
    """The wordings of one of :data:`WORDED`, by what is said of them; ``best`` is who answers, or has the last word."""
    if name == "reflection:learned":
        return {f"{again!r}": _chain(best, again) for again in AGAIN}
    if name == "consensus:learned":
        return {f"{answer!r}": _fan_in([best] * (_CHECKS + 1), workers, answer, MERGES[2]) for answer in ANSWERS}
    everybody = list(range(workers))
    return {f"{answer!r}, then {merge!r}": _fan_in(everybody, best, answer, merge) for answer in ANSWERS[:2] for merge in MERGES}


def _chain(worker: int, again: str) -> Workflow:
    steps = [Step(worker=worker, subtask=ANSWERS[0])]
    steps += [Step(worker=worker, subtask=again, access=tuple(range(index))) for index in range(1, _CHECKS + 1)]
    return Workflow(steps=tuple(steps))


def _fan_in(layer: list[int], last: int, answer: str, merge: str) -> Workflow:
    steps = [
        Step(worker=worker, subtask=answer if index == 0 else f"{QUESTION}\n\n{answer}") for index, worker in enumerate(layer)
    ]
    return Workflow(steps=(*steps, Step(worker=last, subtask=merge, access=tuple(range(len(layer))))))


def _text(question: Question) -> str:
    if len(question) == 1:
        return question[0].content
    return "\n\n".join(f"{message.role}: {message.content}" for message in question)
