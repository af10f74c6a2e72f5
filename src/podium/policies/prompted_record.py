"""``conductor.json`` in the folder of a tuned policy: what the prompted Conductor of a pool is told besides the language."""

from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from podium.errors import CheckpointError, ConfigError
from podium.policies.tuned_record import TunedStep, first_line, replaced
from podium.types import Step, Workflow
from podium.workflow.guide import Example, Guide

FILE = "conductor.json"
FORM = "podium prompted conductor, version 1"
LONGEST_ADVICE = 4_000
"""Characters; what is written to every question has a price."""


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class PromptedExample(_Record):
    """A question and the workflow that was found for its kind, workers by name."""

    question: str
    reasoning: str
    steps: tuple[TunedStep, ...] = Field(min_length=1)


class PromptedRecord(_Record):
    """``conductor.json``. Example: ``read_prompted(Path("runs/mine")).advice``."""

    form: str = FORM
    conductor: str
    """The worker that is prompted."""
    workers: tuple[str, ...] = Field(min_length=1)
    """Whom it conducts, in the order of their numbers."""
    max_steps: int = Field(ge=1, le=100)
    attempts: int = Field(ge=1, le=10)
    advice: str = Field(max_length=LONGEST_ADVICE)
    skills: dict[str, dict[str, float]]
    """Worker -> kind -> share right alone, 0..1."""
    examples: tuple[PromptedExample, ...] = ()

    def guide(self, names: Sequence[str]) -> Guide:
        """What the conductor of workers called ``names`` is told; an example that asks another one is left out."""
        known = [one for one in self.examples if all(step.worker in names for step in one.steps)]
        return Guide(
            advice=self.advice,
            examples=tuple(
                Example(question=one.question, reasoning=one.reasoning, workflow=_workflow(one.steps, names)) for one in known
            ),
            skills={name: tuple(rates.items()) for name, rates in self.skills.items()},
        )


def _workflow(steps: Sequence[TunedStep], names: Sequence[str]) -> Workflow:
    try:
        return Workflow(
            steps=tuple(Step(worker=names.index(one.worker), subtask=one.subtask, access=one.access) for one in steps)
        )
    except ValueError as error:
        raise CheckpointError(f"an example of the prompted conductor can not be carried out: {error}") from error


def read_prompted(folder: Path) -> PromptedRecord:
    """What stands in ``folder``. Raises :class:`ConfigError` where there is none, :class:`CheckpointError` for a damaged one."""
    file = folder / FILE
    if not file.is_file():
        raise ConfigError(
            f"{folder} holds no prompted Conductor ({FILE}); make one with: podium tune --conductor NAME --out {folder}"
        )
    try:
        record = PromptedRecord.model_validate_json(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, ValidationError) as error:
        raise CheckpointError(f"{file} is none of this version of podium: {first_line(error)}") from error
    if record.form != FORM:
        raise CheckpointError(f"{file} is none of this version of podium ({record.form!r}); run podium tune again")
    return record


def write_prompted(folder: Path, record: PromptedRecord) -> None:
    """Write what :func:`read_prompted` reads, in one move."""
    replaced(folder / FILE, record.model_dump_json(indent=1) + "\n")
