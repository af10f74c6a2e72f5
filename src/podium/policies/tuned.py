"""``tuned:FOLDER``: workflows that ``podium tune`` found for one's own pool, one for each kind of question.

The folder is for reading: ``policy.json`` has every workflow with its share right on each kind, ``questions.jsonl`` the questions
that kinds are told by. Choosing is one sum: over what kind a question may be, share right less ``price`` times dollars.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from podium.errors import CheckpointError, ConfigError
from podium.extras import need
from podium.policies.named import NamedPolicy, PolicyRequest, PolicySetup
from podium.registry import register
from podium.types import Brief, Generation, Question, Step, Workflow
from podium.workflow.parse import format_workflow

FORM = "podium tuned policy, version 1"
QUESTION = "{question}"
"""Stands in a stored subtask where the question is put in."""


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class TunedStep(_Record):
    """One step, its worker by name."""

    worker: str
    subtask: str
    access: tuple[int, ...] = ()


class Measured(_Record):
    """How a workflow does on one kind of question."""

    right: float = Field(ge=0, le=1)
    """Share right as estimated from everything that was tried; what the choice goes by."""
    low: float | None = None
    """95 % interval of the share right on selection problems; None where it was not measured there."""
    high: float | None = None
    problems: int = Field(default=0, ge=0)
    """How many selection problems were asked."""
    usd: float | None = None
    """Dollars of one question; None: unknown."""
    seconds: float | None = None


class TunedWorkflow(_Record):
    """One of the workflows to choose from."""

    steps: tuple[TunedStep, ...] = Field(min_length=1)
    kinds: dict[str, Measured]


class TunedRecord(_Record):
    """``policy.json``."""

    form: str
    workers: tuple[str, ...] = Field(min_length=1)
    prefer: str
    price: float = Field(ge=0)
    """Share right that a dollar is worth."""
    robust: int = Field(ge=0)
    """Position of the workflow for questions unlike all that were seen."""
    workflows: tuple[TunedWorkflow, ...] = Field(min_length=1)


class _Asked(_Record):
    question: str
    kind: str


def read_tuned(folder: Path) -> tuple[TunedRecord, list[tuple[str, str]]]:
    """What stands in ``folder``: the record, and questions with their kinds.

    Raises :class:`ConfigError` where there is none, :class:`CheckpointError` where it can not be read.
    """
    file = folder / "policy.json"
    if not file.is_file():
        raise ConfigError(f"{folder} holds no tuned policy (policy.json); make one with: podium tune --out {folder}")
    try:
        record = TunedRecord.model_validate_json(file.read_text(encoding="utf-8"))
        lines = (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()
        asked = [_Asked.model_validate_json(line) for line in lines if line.strip()]
    except (OSError, UnicodeDecodeError, ValidationError) as error:
        raise CheckpointError(f"{folder} is no tuned policy of this version of podium: {_first_line(error)}") from error
    if record.form != FORM or record.robust >= len(record.workflows) or not asked:
        raise CheckpointError(f"{file} is no tuned policy of this version of podium ({record.form!r}); run podium tune again")
    kinds = {one.kind for one in asked}
    for number, one in enumerate(record.workflows):
        if missing := kinds - one.kinds.keys():
            raise CheckpointError(f"{file}: workflow {number} says nothing of kind {sorted(missing)[0]!r}")
        for step in one.steps:
            if step.worker not in record.workers:
                raise CheckpointError(f"{file}: workflow {number} asks {step.worker!r}, who is not among its workers")
    return record, [(one.question, one.kind) for one in asked]


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
        """Raises :class:`ConfigError` where a worker of the record is not among ``names``."""
        from podium.policies.kinds import KindClassifier  # scikit-learn takes a second to load

        missing = [name for name in record.workers if name not in names]
        usable = [n for n, one in enumerate(record.workflows) if all(step.worker in names for step in one.steps)]
        if missing and (not allow_missing or not usable):
            raise ConfigError(
                f"this policy was tuned with {', '.join(record.workers)}, and the pool has no {missing[0]!r}; "
                + ("no workflow is left without it: tune again" if not usable else "tune again, or allow missing workers")
            )
        self._record = record
        self._usable = usable
        self._workflows = {n: _workflow(record.workflows[n], list(names)) for n in usable}
        self._classifier = KindClassifier([q for q, _ in questions], [kind for _, kind in questions])

    @staticmethod
    def load(folder: Path, names: Sequence[str], *, allow_missing: bool = False) -> "TunedPolicy":
        """The policy in ``folder`` for workers called ``names``. Raises :class:`ConfigError`, :class:`CheckpointError`."""
        return TunedPolicy(*read_tuned(folder), names, allow_missing=allow_missing)

    @property
    def max_steps(self) -> int:
        """Steps of its longest workflow."""
        return max(len(workflow.steps) for workflow in self._workflows.values())

    def workflow(self, number: int) -> Workflow:
        """Workflow ``number`` of the record, with :data:`QUESTION` where the question is put in."""
        return self._workflows[number]

    async def write(self, brief: Brief, n: int = 1) -> list[Generation]:
        """Write the workflow that is worth most for the question; from round 2 on, keep the answer."""
        if brief.previous_rounds:
            return [Generation(text=format_workflow(None))] * n
        text = _text(brief.question)
        chosen, why = self.choose(text)
        return [Generation(text=f"{why}\n{format_workflow(asked(self._workflows[chosen], text))}")] * n

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
        return sum(
            chance * (kinds[kind].right - (self._record.price * (kinds[kind].usd or 0.0))) for kind, chance in posterior.items()
        )


def asked(template: Workflow, question: str) -> Workflow:
    """``template`` with ``question`` put in."""
    return Workflow(
        steps=tuple(Step(worker=s.worker, subtask=s.subtask.replace(QUESTION, question), access=s.access) for s in template.steps)
    )


def _workflow(stored: TunedWorkflow, names: list[str]) -> Workflow:
    try:
        return Workflow(steps=tuple(Step(worker=names.index(s.worker), subtask=s.subtask, access=s.access) for s in stored.steps))
    except ValueError as error:
        raise CheckpointError(f"a workflow of the tuned policy can not be carried out: {error}") from error


def _text(question: Question) -> str:
    if len(question) == 1:
        return question[0].content
    return "\n\n".join(f"{message.role}: {message.content}" for message in question)


def _first_line(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc'])) or 'the file'}: {first['msg']}"
    return str(error)


def _tuned(asked_for: PolicyRequest) -> PolicySetup:
    if not asked_for.spec.argument:
        raise ConfigError("name the folder of a policy that was tuned for this pool: tuned:FOLDER (see: podium tune --help)")
    need("stats")
    policy = TunedPolicy.load(Path(asked_for.spec.argument), asked_for.workers.names)
    return PolicySetup(policy=policy, workers=asked_for.workers, max_steps=max(policy.max_steps, 1))


register("policies", "tuned")(
    NamedPolicy(
        form="tuned:FOLDER",
        about="workflows that podium tune found for this pool, one per kind of question",
        make=_tuned,
        knows_workers_by_number=True,
    )
)
