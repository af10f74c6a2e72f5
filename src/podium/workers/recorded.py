"""A worker that replays recorded answers, found by the question.

What a recording can not show: its answer does not change with the subtask, with what a step may see, or with sampling.
It shows selection, voting and plumbing on real text; it can show no gain from better instructions or from
communication, and every number taken on it has to say so.
"""

import gzip
import json
import re
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from podium.errors import ConfigError, WorkerRefused
from podium.types import Call, Completion, Question, Usage
from podium.workers.identity import hashed

Line = TypeVar("Line", "_Asked", "_Answered")


class Recorded:
    """Answers with what was recorded for the question of the call.

    The question is looked for as the whole of the last user message; then, for later steps of a workflow, as the
    whole of what an earlier step was asked; then inside these and inside the subtask (the longest recorded question that
    stands there as a whole counts). Raises :class:`WorkerRefused` where none was recorded. What the recording once
    cost is unknown: ``usage.cost_usd`` is None.

    Example: ``Recorded({"What is 6 times 7?": "6 * 7 = 42\\n\\nAnswer: 42"}, "llama")``.
    """

    def __init__(self, answers: Mapping[str, str], name: str) -> None:
        self._answers = {question.strip(): answer for question, answer in answers.items()}
        self._name = name
        if "" in self._answers:
            raise ConfigError(f"the recording of {name!r} has an empty question; every text contains it")

    @property
    def identity(self) -> str:
        """A hash of what is recorded, which tells two recordings under one name apart."""
        return hashed(self._answers)

    async def __call__(self, call: Call) -> Completion:
        """Say what was said then."""
        text = self._answers[self._question(call)]
        if call.on_token is not None:
            call.on_token(text)
        return Completion(text=text, usage=Usage(cost_usd=None), price_source="recorded")

    def _question(self, call: Call) -> str:
        asked = [_last_user(call.question), *(_last_user(earlier.question) for earlier in call.visible)]
        for text in asked:
            if text in self._answers:
                return text
        for text in (*asked, call.subtask, *(earlier.subtask for earlier in call.visible)):
            inside = [question for question in self._answers if question in text and _stands_alone(question, text)]
            if inside:
                return max(inside, key=len)
        start = (asked[0] or call.subtask)[:60]
        raise WorkerRefused(f"{self._name} has no recorded answer to {start!r}; ask only questions of its recording")


def load_replay(folder: str | Path, dataset: str | None = None) -> list[tuple[str, Recorded]]:
    """Recorded workers by name, sorted, from ``questions.jsonl.gz`` and ``outputs/<name>.jsonl.gz`` in ``folder``.

    A line of the first has ``dataset``, ``id`` and ``question``, a line of the others ``dataset``, ``id`` and ``output``;
    with ``dataset`` only its lines count. Outputs are read by :func:`answer_text`. Raises :class:`ConfigError` for missing
    files, unreadable lines, outputs without a question, and a dataset without questions.

    Example: ``pool = [name for name, worker in load_replay("replay", dataset="gsm")]``.
    """
    folder = Path(folder)
    questions = {
        (line.dataset, line.id): line.question
        for line in _lines(folder / "questions.jsonl.gz", _Asked)
        if dataset in (None, line.dataset)
    }
    if not questions:
        raise ConfigError(f"{folder / 'questions.jsonl.gz'} has no questions of dataset {dataset!r}")
    workers = []
    for file in sorted((folder / "outputs").glob("*.jsonl.gz")):
        answers = {}
        for line in _lines(file, _Answered):
            if dataset not in (None, line.dataset):
                continue
            place = (line.dataset, line.id)
            if place not in questions:
                raise ConfigError(f"{file} answers {place}, which is not among the questions; fetch the folder anew")
            answers[questions[place]] = answer_text(line.output)
        name = file.name.removesuffix(".jsonl.gz")
        workers.append((name, Recorded(answers, name)))
    if not workers:
        raise ConfigError(f"{folder / 'outputs'} has no *.jsonl.gz; there is nobody to replay")
    return workers


def answer_text(output: str) -> str:
    """A recorded ``{"reasoning": ..., "answer": ...}`` as text that ends with the answer; anything else as it is.

    The object may stand in a code fence and between other words. Models forget to double the backslashes of LaTeX, which
    either breaks the JSON or turns ``\\frac`` into a form feed and ``rac``; they are doubled before reading. An answer that
    is not a string is written as a Python literal. Example::

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
    answer, reasoning = said["answer"], said.get("reasoning")
    answer = answer.strip() if isinstance(answer, str) else repr(answer)
    return f"{reasoning.strip()}\n\nAnswer: {answer}" if isinstance(reasoning, str) else f"Answer: {answer}"


_BACKSLASH = re.compile(
    r"""\\\\                                                  # doubled already: taken whole, or its second half would be met
    | \\(?![\"/bfnrtu])                                     # begins no JSON escape at all
    | \\(?=[bfrt][A-Za-z]{2}|n(?:abla|eq|exists|mid|otin|u)\b)  # begins one, and a LaTeX command
    | \\(?=u(?![0-9a-fA-F]{4}))                              # \\underline, not a code point""",
    re.VERBOSE,
)


def _last_user(question: Question) -> str:
    return next((message.content.strip() for message in reversed(question) if message.role == "user"), "")


def _stands_alone(question: str, text: str) -> bool:
    """Whether ``question`` occurs in ``text`` without letters or digits touching it."""
    return re.search(rf"(?<!\w){re.escape(question)}(?!\w)", text) is not None


class _Asked(BaseModel):
    """A line of ``questions.jsonl.gz``; further fields are not needed here."""

    dataset: str
    id: str | int
    question: str


class _Answered(BaseModel):
    """A line of ``outputs/<name>.jsonl.gz``."""

    dataset: str
    id: str | int
    output: str


def _lines(file: Path, line_type: type[Line]) -> Iterator[Line]:
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
