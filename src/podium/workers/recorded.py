"""A worker that replays recorded answers, found by the question.

What a recording can not show: its answer does not change with the subtask, with what a step may see, or with sampling.
It shows selection, voting and plumbing on real text; it can show no gain from better instructions or from
communication, and every number taken on it has to say so.
"""

import gzip
import json
import re
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from pydantic import BaseModel, Field, StrictInt, StrictStr, ValidationError, model_validator

from podium.errors import ConfigError, UnworkableStep, WorkerRefused
from podium.types import Call, Completion, Question, Usage
from podium.workers.identity import hashed

Line = TypeVar("Line", "RecordedQuestion", "RecordedAnswer")


class Recorded:
    """Answers with what was recorded for the question of the call.

    The question is looked for as the whole of the last user message; then, for later steps of a workflow, as the
    whole of what an earlier step was asked; then inside these and inside the subtask (the longest recorded question that
    stands there as a whole counts). ``questions`` are all that are asked in the recording's company, so that a gap in it can be
    told from a step that is asked nothing. ``usages`` says what each answer once took; without it that is unknown.

    Raises :class:`WorkerRefused` where nothing was recorded for the question, :class:`UnworkableStep` where a workflow lets it
    see no question at all.

    Example: ``Recorded({"What is 6 times 7?": "6 * 7 = 42\\n\\nAnswer: 42"}, "llama")``.
    """

    def __init__(
        self,
        answers: Mapping[str, str],
        name: str,
        questions: Iterable[str] = (),
        *,
        usages: Mapping[str, Usage] = MappingProxyType({}),
    ) -> None:
        self._usages = {question.strip(): usage for question, usage in usages.items()}
        self._answers = {question.strip(): answer for question, answer in answers.items()}
        self._name = name
        if "" in self._answers:
            raise ConfigError(f"the recording of {name!r} has an empty question; every text contains it")
        self._unanswered = {question.strip() for question in questions} - self._answers.keys()

    def answers(self, question: str) -> bool:
        """Whether an answer to exactly this question was recorded."""
        return question.strip() in self._answers

    @property
    def identity(self) -> str:
        """A hash of what is recorded, which tells two recordings under one name apart."""
        return hashed(self._answers)

    def check_call(self, call: Call) -> None:
        """Raises :class:`UnworkableStep` where ``call`` asks nothing; what was never recorded is found out when it is asked."""
        with suppress(WorkerRefused):
            self._question(call)

    async def __call__(self, call: Call) -> Completion:
        """Return the recorded answer."""
        question = self._question(call)
        text = self._answers[question]
        if call.on_token is not None:
            call.on_token(text)
        return Completion(text=text, usage=self._usages.get(question, Usage(cost_usd=None)), price_source="recorded")

    def _question(self, call: Call) -> str:
        asked = [_last_user(call.question), *(_last_user(step.question) for step in call.visible)]
        shown = (*asked, call.subtask, *(step.subtask for step in call.visible))
        for text in asked:
            if text in self._answers:
                return text
            if text in self._unanswered:
                raise self._refused(text)  # before a shorter question that stands in it is taken for it
        for text in shown:
            if inside := _inside(self._answers, text):
                return inside
        if any(asked) or any(_inside(self._unanswered, text) for text in shown):
            raise self._refused(next((text for text in shown if text), ""))
        raise UnworkableStep(
            f"{self._name}, a recording, is asked no question in {call.subtask[:60]!r}: let the step see the first one, or write "
            "the question into its subtask"
        )

    def _refused(self, text: str) -> WorkerRefused:
        return WorkerRefused(f"{self._name} has no recorded answer to {text[:60]!r}; ask only questions of its recording")


def load_replay(folder: str | Path, dataset: str | None = None, *, sample: int = 0) -> list[tuple[str, Recorded]]:
    """Recorded workers by name, sorted, from ``questions.jsonl.gz`` and ``outputs/<name>.jsonl.gz`` in ``folder``.

    A line of the first has ``dataset``, ``id`` and ``question``, a line of the others ``dataset``, ``id`` and ``output``, or
    instead of it ``samples``, graded answers of which the first is what the model said, or number ``sample``, counted from 0,
    and the last of those who have fewer; with ``dataset`` only its lines count.
    Outputs are read by :func:`answer_text`, graded answers by :func:`graded_text`. An output may be missing: see
    :meth:`Recorded.answers`. Raises :class:`ConfigError` for missing files, unreadable lines, outputs without a question, an id
    that is there twice or as a number here and a text there, and a dataset without questions.

    Example: ``pool = [name for name, worker in load_replay("replay", dataset="gsm")]``.
    """
    folder = Path(folder)
    file = folder / "questions.jsonl.gz"
    questions: dict[Place, str] = {}
    for line in lines_of(file, RecordedQuestion):
        _check(line, questions, file)
        questions[line.place] = line.question
    wanted = {place: question for place, question in questions.items() if dataset in (None, place[0])}
    if not wanted:
        raise ConfigError(f"{file} has no questions of dataset {dataset!r}")
    workers = []
    for file in sorted((folder / "outputs").glob("*.jsonl.gz")):
        outputs: dict[Place, tuple[str, Usage]] = {}
        for said in lines_of(file, RecordedAnswer):
            _check(said, outputs, file, among=questions)
            outputs[said.place] = said.said(sample), said.usage
        answers = {wanted[place]: output for place, (output, _) in outputs.items() if place in wanted}
        usages = {wanted[place]: usage for place, (_, usage) in outputs.items() if place in wanted}
        name = file.name.removesuffix(".jsonl.gz")
        workers.append((name, Recorded(answers, name, wanted.values(), usages=usages)))
    if not workers:
        raise ConfigError(f"{folder / 'outputs'} has no *.jsonl.gz; there is nobody to replay")
    return workers


def answer_text(output: str) -> str:
    """A recorded ``{"reasoning": ..., "answer": ...}`` as text that ends with the answer; anything else as it is.

    The object may stand in a code fence and between other words. Models forget to double the backslashes of LaTeX, which
    either breaks the JSON or turns ``\\frac`` into a form feed and ``rac``; they are doubled before reading. An answer that
    is not a string is written as a Python literal; one that spaces or line breaks belong to stands in quotes, as JSON. Example::

        answer_text('{"reasoning": "6 * 7", "answer": 42}')  # "6 * 7\\n\\nAnswer: 42"
    """
    found = re.search(r"\{.*\}", output, re.DOTALL)
    if found is None:
        return output
    try:
        said = json.loads(_BACKSLASH.sub(r"\\\\", found.group()), strict=False)
    except (ValueError, RecursionError):  # hostile text may nest deeper than the reader can
        return output
    if not isinstance(said, dict) or "answer" not in said:
        return output
    reasoning, answer = said.get("reasoning"), _stated(said["answer"])
    return f"{reasoning.strip()}\n\n{answer}" if isinstance(reasoning, str) else answer


def _stated(answer: object) -> str:
    """The last line, which has all of a text: its spaces and line breaks may be what was asked for."""
    if not isinstance(answer, str):
        return f"Answer: {answer!r}"
    if answer == answer.strip() and len(answer.splitlines()) == 1:
        return f"Answer: {answer}"
    if _COMMAND.search(answer):
        return f"Answer: {' '.join(answer.split())}"  # LaTeX, to which they mean nothing
    return json.dumps({"answer": answer}, ensure_ascii=False)


def graded_text(answer: str | None) -> str:
    """An answer that was taken out of a reply, as a reply again; "" for none. Example: ``graded_text("42") == "Answer: 42"``."""
    return "" if answer is None or not answer.strip() else _stated(answer)


_COMMAND = re.compile(r"\\[A-Za-z]{2}")

_BACKSLASH = re.compile(
    r"""\\\\                                                  # doubled already: taken whole, or its second half would be met
    | \\(?![\"/bfnrtu])                                     # begins no JSON escape at all
    | \\(?=[bf][A-Za-z]{2}|n(?:abla|eq|exists|mid|otin|u)\b    # begins one, and a LaTeX command; a tab and a return may stand
      |r(?:angle|brac[ek]|ceil|floor|ho|ight|[vV]ert)|t(?:frac|h(?:erefore|eta)|ilde|imes|riangle)  # in front of any word
      |t(?:anh?|au|op|o)(?![A-Za-z])|text[a-z]*\s*\{)
    | \\(?=u(?![0-9a-fA-F]{4}))                              # \\underline, not a code point""",
    re.VERBOSE,
)


def _last_user(question: Question) -> str:
    return next((message.content.strip() for message in reversed(question) if message.role == "user"), "")


def _inside(questions: Iterable[str], text: str) -> str:
    """The longest of ``questions`` that stands in ``text`` as a whole; "" where none does."""
    inside = (question for question in questions if question in text and _stands_alone(question, text))
    return max(inside, key=len, default="")


def _stands_alone(question: str, text: str) -> bool:
    """Whether ``question`` occurs in ``text`` without letters or digits touching it."""
    return re.search(rf"(?<!\w){re.escape(question)}(?!\w)", text) is not None


Place = tuple[str, str | int]
"""Dataset and id."""


class RecordedLine(BaseModel):
    """What every line has; further fields are not needed here."""

    dataset: str
    id: StrictStr | StrictInt

    @property
    def place(self) -> Place:
        """Which question it is about."""
        return (self.dataset, self.id)


class RecordedQuestion(RecordedLine):
    """A line of ``questions.jsonl.gz``."""

    question: str


class Sample(BaseModel):
    """A recorded answer and what the task's own grader gave it, 0 to 1."""

    answer: str | None
    score: float
    characters: int | None = None
    """Of the whole reply, where that was kept."""


class RecordedAnswer(RecordedLine):
    """A line of ``outputs/<name>.jsonl.gz``."""

    output: str | None = None
    samples: list[Sample] = []
    usd: float | None = Field(default=None, ge=0, le=1e6, allow_inf_nan=False)
    """What the reply cost, where that was kept; of samples, the first."""
    prompt_tokens: int = Field(default=0, ge=0)
    completion_tokens: int = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _has_one(self) -> "RecordedAnswer":
        if (self.output is None) == (not self.samples):
            raise ValueError("a line has an output, or samples of which there is one at least")
        return self

    @property
    def usage(self) -> Usage:
        """What the reply took, as far as it was kept."""
        return Usage(prompt_tokens=self.prompt_tokens, completion_tokens=self.completion_tokens, cost_usd=self.usd)

    @property
    def text(self) -> str:
        """What the model said."""
        return self.said(0)

    def said(self, sample: int) -> str:
        """What the model said in graded answer number ``sample``; the last where it has fewer."""
        return graded_text(self.sample(sample).answer) if self.output is None else answer_text(self.output)

    def sample(self, number: int) -> Sample:
        """Graded answer ``number``; the last where there are fewer."""
        return self.samples[min(number, len(self.samples) - 1)]


def _check(line: RecordedLine, seen: Collection[Place], file: Path, among: Collection[Place] | None = None) -> None:
    """Raises :class:`ConfigError` where the id of ``line`` is taken, is of another type elsewhere, or belongs to no question."""
    other: Place = (line.dataset, str(line.id) if isinstance(line.id, int) else _as_number(line.id))
    for places in (seen, among or ()):
        if other in places and other != line.place:
            raise ConfigError(
                f"{file} has the id {line.id!r} of {line.dataset!r} as a {'number' if isinstance(line.id, int) else 'text'}, and "
                f"elsewhere in the folder it is {other[1]!r}; write the ids of a dataset in one type"
            )
    if line.place in seen:
        raise ConfigError(f"{file} has the id {line.id!r} of {line.dataset!r} twice; which of the two counts?")
    if among is not None and line.place not in among:
        raise ConfigError(f"{file} answers {line.place}, which is not among the questions; fetch the folder anew")


def _as_number(text: str) -> str | int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 18 else text


def lines_of(file: Path, line_type: type[Line]) -> Iterator[Line]:
    """The lines of a gzipped JSON-lines file."""
    try:
        with gzip.open(file, "rb") as lines:
            for number, line in enumerate(lines, start=1):
                yield _read(line, line_type, f"{file}, line {number}")
    except (OSError, EOFError, zlib.error) as error:
        raise ConfigError(f"{file} can not be read ({error}); fetch the folder anew") from error


def _read(line: bytes, line_type: type[Line], where: str) -> Line:
    try:
        return line_type.model_validate_json(line)
    except ValidationError as error:
        problem = error.errors()[0]
        field = ".".join(map(str, problem["loc"])) or "line"
        raise ConfigError(f"{where} is not as load_replay describes it ({field}: {problem['msg']}); fetch it anew") from error
