"""The policy that chooses among tuned workflows, by what kind a question is likely to be.

Choosing is one sum: over the kinds a question may be of, share right less ``price`` times dollars and less what is charged for
calls to workers that are to be asked sparingly.
"""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from podium.errors import CheckpointError, ConfigError
from podium.policies.kinds import KindClassifier
from podium.policies.named import PolicySetup
from podium.policies.rules import CONDITIONAL
from podium.policies.tuned_record import LONGEST, TunedRecord, TunedWorkflow, asked, read_tuned
from podium.policies.voting import VOTE, with_vote
from podium.protocols import Policy
from podium.types import Brief, Generation, Question, Step, Workflow
from podium.workers.pool import WorkerPool
from podium.workflow.parse import format_workflow


class TunedPolicy:
    """Chooses among measured workflows. Example: ``TunedPolicy.load(Path("runs/mine"), pool.names)``."""

    def __init__(
        self,
        record: TunedRecord,
        questions: Sequence[tuple[str, str]],
        names: Sequence[str],
        *,
        allow_missing: bool = False,
    ) -> None:
        """Raises :class:`ConfigError` where a worker that a workflow asks is not among ``names``; who counts votes comes behind
        them."""
        names = (*names, *(() if VOTE in names else (VOTE,)))
        missing = sorted({step.worker for one in record.workflows for step in one.steps} - {*names})
        usable = [n for n, one in enumerate(record.workflows) if all(step.worker in names for step in one.steps)]
        if missing and (not allow_missing or not usable):
            raise ConfigError(
                f"this policy was tuned with {', '.join(record.workers)}, and the pool has no {missing[0]!r}; "
                + ("no workflow is left without it: tune again" if not usable else "tune again, or name it with :allow-missing")
            )
        self._record = record
        self._usable = usable
        self._workflows = {n: _workflow(record.workflows[n], list(names)) for n in usable}
        self.answering = tuple(sorted({workflow.steps[-1].worker for workflow in self._workflows.values()}))
        """Positions of the workers that may give the answer."""
        self._classifier = KindClassifier([q for q, _ in questions], [kind for _, kind in questions], sharpness=record.sharpness)

    @staticmethod
    def load(folder: Path, names: Sequence[str], *, allow_missing: bool = False) -> "TunedPolicy":
        """The policy in ``folder`` for workers called ``names``. Raises :class:`ConfigError`, :class:`CheckpointError`."""
        return TunedPolicy(*read_tuned(folder), names, allow_missing=allow_missing)

    @property
    def max_steps(self) -> int:
        """Steps of its longest workflow."""
        return max(len(workflow.steps) for workflow in self._workflows.values())

    def workflow(self, number: int) -> Workflow:
        """Workflow ``number`` of the record, with a mark where the question is put in."""
        return self._workflows[number]

    def choose_for(self, kind: str) -> int:
        """Number of the workflow that is worth most where the kind is known. Raises :class:`ConfigError` for an unknown kind."""
        if kind not in self._classifier.kinds:
            raise ConfigError(f"unknown kind {kind!r}; this policy was tuned on {', '.join(self._classifier.kinds)}")
        return max(self._usable, key=lambda n: self._worth(n, {kind: 1.0}))

    async def write(self, brief: Brief, n: int = 1) -> list[Generation]:
        """Write the workflow that is worth most for the question; from round 2 on, keep the answer."""
        if brief.previous_rounds:
            return [Generation(text=format_workflow(None, CONDITIONAL))] * n
        text = _text(brief.question)
        chosen, why = self.choose(text)
        return [Generation(text=f"{why}\n{format_workflow(asked(self._workflows[chosen], text), CONDITIONAL)}")] * n

    def setup(self, workers: WorkerPool) -> PolicySetup:
        """What conducts ``workers``, whose names were given, by this policy."""
        return tuned_setup(self, workers, self.max_steps, self.answering)

    def choose(self, question: str) -> tuple[int, str]:
        """Number of the workflow in the record, and the reason in a line."""
        if self._classifier.is_unlike(question):
            robust = self._record.robust
            if robust not in self._usable:
                robust = max(self._usable, key=lambda n: sum(one.right for one in self._record.workflows[n].kinds.values()))
            return robust, "Unlike all questions it was tuned on: the workflow that does best on average."
        posterior = self._classifier.posterior(question)
        chosen = max(self._usable, key=lambda n: self._worth(n, posterior))
        kind = max(posterior, key=lambda name: posterior[name])
        return chosen, f"Kind: {kind} ({100 * posterior[kind]:.0f} % sure)."

    def _worth(self, number: int, posterior: Mapping[str, float]) -> float:
        kinds = self._record.workflows[number].kinds
        return sum(chance * kinds[kind].worth(self._record.price) for kind, chance in posterior.items())


def tuned_setup(policy: Policy, workers: WorkerPool, max_steps: int, answering: Collection[int]) -> PolicySetup:
    """A tuned policy over ``workers`` and one that counts votes; a folder that is tuned anew may have longer workflows."""
    conducted = workers if VOTE in workers.names else with_vote(workers)
    longest = max(max_steps, LONGEST, len(conducted))
    return PolicySetup(policy=policy, workers=conducted, max_steps=longest, syntax=CONDITIONAL, answering=answering)


def _workflow(stored: TunedWorkflow, names: list[str]) -> Workflow:
    try:
        return Workflow(
            steps=tuple(
                Step(worker=names.index(s.worker), subtask=s.subtask, access=s.access, condition=s.condition)
                for s in stored.steps
            )
        )
    except ValueError as error:
        raise CheckpointError(f"a workflow of the tuned policy can not be carried out: {error}") from error


def _text(question: Question) -> str:
    if len(question) == 1:
        return question[0].content
    return "\n\n".join(f"{message.role}: {message.content}" for message in question)
