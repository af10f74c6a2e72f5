"""The folder of a tuned policy, as it is written and read: ``policy.json`` and ``questions.jsonl``.

``policy.json`` has every workflow with its share right on each kind, ``questions.jsonl`` the questions that kinds are told by.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import PydanticSerializationError

from podium.conditions import ALWAYS
from podium.errors import CheckpointError, ConfigError
from podium.policies.voting import VOTE
from podium.types import Workflow

FORM = "podium tuned policy, version 1"
LONGEST = 5
"""Steps of the longest workflow that tuning tries."""
QUESTION = "{question}"
"""Stands in a stored subtask where the question is put in."""


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class TunedStep(_Record):
    """One step, its worker by name; ``vote`` counts votes."""

    worker: str
    subtask: str
    access: tuple[int, ...] = ()
    condition: str = ALWAYS
    """When it is carried out, as :func:`podium.conditions.read_condition` reads it."""


class Measured(_Record):
    """How a workflow does on one kind of question."""

    right: float = Field(ge=0, le=1)
    """Share right as estimated from everything that was tried; what the choice goes by."""
    low: float | None = Field(default=None, ge=0, le=1)
    """95 % interval of the share right on selection problems; None where it was not measured there."""
    high: float | None = Field(default=None, ge=0, le=1)
    problems: int = Field(default=0, ge=0)
    """How many selection problems were asked."""
    usd: float | None = Field(default=None, ge=0, le=1e9)
    """Dollars of one question; None: unknown."""
    seconds: float | None = Field(default=None, ge=0)
    calls: float | None = Field(default=None, ge=0)
    """Calls of one question; None: every step is asked."""
    charge: float = Field(default=0.0, ge=0, le=1e9)
    """What its calls take off the share right in the choice, besides dollars: for workers that are to be asked sparingly."""

    def worth(self, price: float) -> float:
        """What the choice goes by, where a dollar is worth ``price`` of the share right: 0 wherever dollars are not known."""
        return self.right - price * (self.usd or 0.0) - self.charge


class TunedWorkflow(_Record):
    """One of the workflows to choose from."""

    steps: tuple[TunedStep, ...] = Field(min_length=1)
    kinds: dict[str, Measured]


class TunedRecord(_Record):
    """``policy.json``."""

    form: str
    workers: tuple[str, ...] = Field(min_length=1)
    prefer: str
    price: float = Field(ge=0, le=1e15)
    """Share right that a dollar is worth."""
    robust: int = Field(ge=0)
    """Position of the workflow for questions unlike all that were seen."""
    sharpness: float = Field(default=30.0, gt=0, le=1e6)
    """How sharply kinds are told apart, as in :class:`podium.policies.kinds.KindClassifier`; folders of before do not say it."""
    workflows: tuple[TunedWorkflow, ...] = Field(min_length=1)


class _Asked(_Record):
    question: str
    kind: str


def read_tuned(folder: Path) -> tuple[TunedRecord, list[tuple[str, str]]]:
    """What stands in ``folder``: the record, and questions with their kinds.

    Raises :class:`ConfigError` where there is none, :class:`CheckpointError` where it can not be read.
    """
    file = folder / "policy.json"
    record = _read_record(file)
    try:
        lines = (folder / "questions.jsonl").read_text(encoding="utf-8").split("\n")  # splitlines would cut at U+2028, too
        asked = [_Asked.model_validate_json(line) for line in lines if line.strip()]
    except (OSError, UnicodeDecodeError, ValidationError) as error:
        raise CheckpointError(f"{folder} is no tuned policy of this version of podium: {first_line(error)}") from error
    if not asked:
        raise CheckpointError(f"{folder / 'questions.jsonl'} holds no question to tell kinds by; run podium tune again")
    kinds = {one.kind for one in asked}
    for number, one in enumerate(record.workflows):
        if missing := kinds - one.kinds.keys():
            raise CheckpointError(f"{file}: workflow {number} says nothing of kind {sorted(missing)[0]!r}")
        for step in one.steps:
            if step.worker not in (*record.workers, VOTE):
                raise CheckpointError(f"{file}: workflow {number} asks {step.worker!r}, who is not among its workers")
    return record, [(one.question, one.kind) for one in asked]


def _read_record(file: Path) -> TunedRecord:
    if not file.is_file():
        raise ConfigError(f"{file.parent} holds no tuned policy ({file.name}); make one with: podium tune --out {file.parent}")
    try:
        record = TunedRecord.model_validate_json(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, ValidationError) as error:
        raise CheckpointError(
            f"{file} is no tuned policy of this version of podium: {first_line(error)}; delete it and run podium tune again"
        ) from error
    if record.form != FORM or record.robust >= len(record.workflows):
        raise CheckpointError(
            f"{file} is no tuned policy of this version of podium ({record.form!r}); delete it and run podium tune again"
        )
    return record


def write_tuned(folder: Path, record: TunedRecord, questions: Sequence[tuple[str, str]]) -> None:
    """Write what :func:`read_tuned` reads. Each file is replaced in one move, so that a crash leaves no half of one, and
    no policy beside questions of another one, whose kinds may have the same names.

    Raises :class:`ConfigError` for a text that no file can hold, before anything is written.
    """
    try:
        lines = "".join(_Asked(question=question, kind=kind).model_dump_json() + "\n" for question, kind in questions)
        whole = record.model_dump_json(indent=1) + "\n"
    except PydanticSerializationError as error:
        raise ConfigError(
            "a question, a kind, a name or a subtask of the tuned policy holds half a surrogate pair, which no file can hold; "
            "write whole characters there"
        ) from error
    folder.mkdir(parents=True, exist_ok=True)
    files = {folder / "questions.jsonl": lines, folder / "policy.json": whole}
    drafts = [(_draft(file, text), file) for file, text in files.items()]
    (folder / "policy.json").unlink(missing_ok=True)
    for draft, file in drafts:
        draft.replace(file)


def replaced(file: Path, text: str) -> None:
    """Put ``text`` into ``file`` in one move."""
    _draft(file, text).replace(file)


def _draft(file: Path, text: str) -> Path:
    draft = file.with_name(f"{file.name}.new")
    draft.write_text(text, encoding="utf-8")
    return draft


def made_folder(folder: Path) -> None:
    """Make ``folder`` where it is missing. Raises :class:`ConfigError` where nothing can be written to it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "policy.json.new").touch()
        (folder / "policy.json.new").unlink()
    except OSError as error:
        raise ConfigError(f"nothing can be written to the folder {folder}: {error.strerror}; name another one") from error


def checked_folder(folder: Path, workers: Sequence[str]) -> None:
    """Make ``folder`` where it is missing. Raises :class:`ConfigError` where a policy for ``workers`` can not be put there.

    A policy for the same workers is replaced, one for others is not: somebody may use it. What stands in ``questions.jsonl`` does
    not matter: where a crash left it without its policy, it is written anew.
    """
    made_folder(folder)
    if (folder / "policy.json").exists():
        record = _read_record(folder / "policy.json")
        if set(record.workers) != set(workers):
            raise ConfigError(
                f"{folder} holds a policy for other workers ({', '.join(record.workers)}); name another folder, or delete it"
            )


def asked(template: Workflow, question: str) -> Workflow:
    """``template`` with ``question`` put in."""
    return Workflow(steps=tuple(replace(step, subtask=step.subtask.replace(QUESTION, question)) for step in template.steps))


def first_line(error: Exception) -> str:
    """What is wrong with a file, in a line."""
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc'])) or 'the file'}: {first['msg']}"
    return str(error)
