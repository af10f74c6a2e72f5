"""Records of routing benchmarks, as recorded pools and back: LLMRouterBench's (arXiv 2601.07206) and RouterBench's (2403.12031).

LLMRouterBench keeps one JSON file for each data set, split and model, RouterBench one wide table with columns ``MODEL``,
``MODEL|model_response`` and ``MODEL|total_cost``. A pool of recordings is a folder that :mod:`podium.pools.graded` reads. A cost
of 0 for a reply that has tokens is taken for unknown, because both write 0 where they know no price. A record without a score is
left out: nothing is known of it.
"""

import ast
import csv
import gzip
import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from podium.errors import ConfigError
from podium.workers.recorded import RecordedAnswer, RecordedQuestion, lines_of

MAX_BYTES = 2_000_000_000
"""Largest file that is read."""
FORMS = ("recordings", "llmrouterbench", "routerbench")
_STAMP = re.compile(r"(\d{8})_(\d{6})\.json")
_COUNTED = re.compile(r"0|[1-9][0-9]{0,14}")
_ODD = re.compile(r"[^A-Za-z0-9._-]+")
_RESPONSE, _COST = "|model_response", "|total_cost"
_FIXED = ("sample_id", "prompt", "eval_name", "oracle_model_to_route_to")
_NOBODY = "no_model_correct"
_RIGHT = 0.99


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What one model made of one question. Example: ``read_records(Path("results/bench"))[0].score``."""

    dataset: str
    id: str
    model: str
    question: str
    prediction: str
    score: float
    """What the benchmark's own grader gave, 0..1."""
    prompt: str = ""
    ground_truth: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    usd: float | None = None
    """None: unknown."""


def read_records(source: Path) -> list[Record]:
    """The records in ``source``: a folder of recordings or of LLMRouterBench's results, or RouterBench's table as CSV.

    Raises :class:`ConfigError` where it is none of these, where nothing is in it, where a record is there twice, and where models
    were asked different questions under one id.
    """
    if source.is_dir():
        found = list(_recordings(source) if (source / "questions.jsonl.gz").exists() else _llmrouterbench(source))
    elif source.suffix == ".csv":
        found = list(_routerbench(source))
    elif source.suffix in (".pkl", ".pickle"):
        raise ConfigError(
            f"{source} is a pickle, which can run any code when it is opened. If you trust it, make a table of it: "
            f"python -c \"import pandas; pandas.read_pickle('{source.name}').to_csv('routerbench.csv', index=False)\""
        )
    else:
        raise ConfigError(f"{source} is neither a folder of recordings or of LLMRouterBench's results nor a table (.csv)")
    seen: set[tuple[str, str, str]] = set()
    asked: dict[tuple[str, str], Record] = {}
    for record in found:
        first = asked.setdefault((record.dataset, record.id), record)
        if first.question != record.question:
            raise ConfigError(
                f"{source}: {first.model!r} and {record.model!r} were asked different questions as {record.dataset} {record.id}, "
                "and what they made of these can not be compared"
            )
        key = (record.dataset, record.id, record.model)
        if key in seen:
            raise ConfigError(f"{source} has what {record.model!r} made of {record.dataset} {record.id} twice; which one counts?")
        seen.add(key)
    if not found:
        raise ConfigError(f"{source} holds no record with a score")
    return found


def write_records(records: Sequence[Record], target: Path, form: str) -> None:
    """Write ``records`` in one of :data:`FORMS`: a folder, or for ``routerbench`` a CSV file.

    Raises :class:`ConfigError` for an unknown form, for a target that is there already or can not be written, and for two names
    that become one file.
    """
    if form not in FORMS:
        raise ConfigError(f"records are written as {', '.join(FORMS)}, not as {form[:40]!r}")
    write = {"recordings": _write_recordings, "llmrouterbench": _write_llmrouterbench, "routerbench": _write_routerbench}[form]
    try:
        if target.exists():
            raise ConfigError(f"{target} is there already; name another one")
        write(records, target)
    except OSError as error:
        raise ConfigError(f"{target} can not be written: {error.strerror or error}") from error


# LLMRouterBench ----------------------------------------------------------------------------------------------------------------


def _as_text(value: Any) -> Any:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


_Text = Annotated[str, BeforeValidator(_as_text)]


class _Row(BaseModel):
    model_config = ConfigDict(allow_inf_nan=False)

    index: int | str
    origin_query: _Text
    prompt: _Text = ""
    prediction: _Text = ""
    ground_truth: _Text = ""
    raw_output: _Text = ""
    score: float | None = Field(default=None, ge=0, le=1)
    prompt_tokens: int = Field(default=0, ge=0)
    completion_tokens: int = Field(default=0, ge=0)
    cost: float | None = Field(default=None, ge=0)


class _Result(BaseModel):
    model_name: str
    dataset_name: str
    split: str = "test"
    demo: bool = False
    records: list[_Row]


def _llmrouterbench(folder: Path) -> Iterator[Record]:
    newest: dict[tuple[str, str, str], tuple[str, _Result]] = {}
    for file in sorted(folder.rglob("*.json")):
        try:
            result = _Result.model_validate_json(_bytes_of(file))
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(map(str, first["loc"])) or "the file"
            raise ConfigError(f"{file} is no result of LLMRouterBench: {place}: {first['msg']}") from None
        key = (result.dataset_name, result.split, result.model_name)
        stamp = "".join(found.groups()) if (found := _STAMP.search(file.name)) else ""
        if not result.demo and (key not in newest or stamp >= newest[key][0]):
            newest[key] = stamp, result
    splits: dict[str, set[str]] = {}
    for dataset, split, _ in newest:
        splits.setdefault(dataset, set()).add(split)
    for (dataset, split, model), (_, result) in newest.items():
        name = dataset if len(splits[dataset]) == 1 else f"{dataset}-{split}"
        for row in result.records:
            if row.score is not None:
                yield Record(
                    dataset=name, id=str(row.index), model=model, question=row.origin_query, prompt=row.prompt,
                    prediction=row.prediction or row.raw_output, ground_truth=row.ground_truth, score=row.score,
                    prompt_tokens=row.prompt_tokens, completion_tokens=row.completion_tokens,
                    usd=_known(row.cost, row.prompt_tokens + row.completion_tokens),
                )  # fmt: skip


def _write_llmrouterbench(records: Sequence[Record], folder: Path) -> None:
    by_file: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        by_file.setdefault((record.dataset, record.model), []).append(record)
    names = _file_names({name for key in by_file for name in key})
    for (dataset, model), own in by_file.items():
        rows = [
            {
                "index": int(one.id) if _COUNTED.fullmatch(one.id) else one.id,
                "origin_query": one.question, "prompt": one.prompt or one.question, "prediction": one.prediction,
                "ground_truth": one.ground_truth, "score": one.score, "prompt_tokens": one.prompt_tokens,
                "completion_tokens": one.completion_tokens, "cost": one.usd, "raw_output": one.prediction,
            }
            for one in own
        ]  # fmt: skip
        result = {
            "performance": math.fsum(one.score for one in own) / len(own), "time_taken": 0.0,
            "prompt_tokens": sum(one.prompt_tokens for one in own),
            "completion_tokens": sum(one.completion_tokens for one in own),
            "cost": None if any(one.usd is None for one in own) else math.fsum(one.usd or 0.0 for one in own),
            "counts": len(own), "model_name": model, "dataset_name": dataset, "split": "test", "demo": False, "records": rows,
        }  # fmt: skip
        place = folder / names[dataset] / "test" / names[model]
        place.mkdir(parents=True)
        file = place / f"{names[dataset]}-test-{names[model]}-20000101_000000.json"
        file.write_text(json.dumps(result, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


# RouterBench -------------------------------------------------------------------------------------------------------------------


def _routerbench(file: Path) -> Iterator[Record]:
    _check_size(file)
    csv.field_size_limit(10_000_000)
    try:
        with file.open(encoding="utf-8", newline="") as lines:
            table = csv.DictReader(lines)
            columns = list(table.fieldnames or ())
            models = [name.removesuffix(_COST) for name in columns if name.endswith(_COST)]
            missing = [name for name in (*_FIXED[:3], *models) if name not in columns]
            if missing or not models:
                raise ConfigError(
                    f"{file} is no table of RouterBench: it has no column {missing[0] if missing else 'MODEL' + _COST!r}"
                )
            for number, row in enumerate(table, start=2):
                yield from _of_row(row, models, f"{file}, line {number}")
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ConfigError(f"{file} can not be read: {error}") from error


def _of_row(row: dict[str, Any], models: Sequence[str], where: str) -> Iterator[Record]:
    for model in models:
        score, cost = (_number(row.get(name), where) for name in (model, model + _COST))
        if score is None:
            continue
        if not 0 <= score <= 1:
            raise ConfigError(f"{where}: the score of {model!r} is {score:g}, and not from 0 to 1")
        if cost is not None and cost < 0:
            raise ConfigError(f"{where}: the cost of {model!r} is {cost:g}, and less than nothing")
        response = _said(row.get(model + _RESPONSE) or "")
        yield Record(
            dataset=row["eval_name"] or "", id=row["sample_id"] or "", model=model, question=_said(row["prompt"] or ""),
            prediction=response, score=score, usd=_known(cost, len(response)),
        )  # fmt: skip


def _write_routerbench(records: Sequence[Record], file: Path) -> None:
    models = list(dict.fromkeys(record.model for record in records))
    rows: dict[tuple[str, str], dict[str, Record]] = {}
    for record in records:
        rows.setdefault((record.dataset, record.id), {})[record.model] = record
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", encoding="utf-8", newline="") as lines:
        table = csv.writer(lines)
        responses, costs = [model + _RESPONSE for model in models], [model + _COST for model in models]
        table.writerow([*_FIXED[:3], *models, *responses, *costs, _FIXED[3]])
        for (dataset, sample), own in rows.items():
            found = [own.get(model) for model in models]
            right = [one for one in found if one is not None and one.score >= _RIGHT]
            oracle = min(right, key=lambda one: math.inf if one.usd is None else one.usd).model if right else _NOBODY
            table.writerow(
                [
                    sample, repr([next(iter(own.values())).question]), dataset,
                    *("" if one is None else one.score for one in found),
                    *("" if one is None else repr([one.prediction]) for one in found),
                    *("" if one is None or one.usd is None else one.usd for one in found), oracle,
                ]
            )  # fmt: skip


def _said(text: str) -> str:
    """A cell's text: turns are written as a Python list of them."""
    if text.startswith("[") and text.endswith("]"):
        try:
            turns = ast.literal_eval(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return text
        if isinstance(turns, list) and all(isinstance(turn, str) for turn in turns):
            return "\n".join(turns)
    return text


def _number(text: Any, where: str) -> float | None:
    if text in (None, "", "nan", "None"):
        return None
    try:
        value = float(text)
    except (TypeError, ValueError):
        raise ConfigError(f"{where}: {str(text)[:40]!r} is no number") from None
    return value if math.isfinite(value) else None


# Recordings --------------------------------------------------------------------------------------------------------------------


def _recordings(folder: Path) -> Iterator[Record]:
    questions = {line.place: line for line in lines_of(folder / "questions.jsonl.gz", RecordedQuestion)}
    for file in sorted((folder / "outputs").glob("*.jsonl.gz")):
        for line in lines_of(file, RecordedAnswer):
            if not line.samples:
                raise ConfigError(f"{file} has outputs without a score; records have one each")
            if line.place in questions:
                yield Record(
                    dataset=line.dataset, id=str(line.id), model=file.name.removesuffix(".jsonl.gz"),
                    question=questions[line.place].question, prediction=line.samples[0].answer or "",
                    score=min(1.0, max(0.0, line.samples[0].score)), prompt_tokens=line.prompt_tokens,
                    completion_tokens=line.completion_tokens, usd=line.usd,
                )  # fmt: skip


def _write_recordings(records: Sequence[Record], folder: Path) -> None:
    names = _file_names({record.model for record in records})
    asked = {(one.dataset, one.id): {"dataset": one.dataset, "id": one.id, "question": one.question} for one in records}
    by_model: dict[str, list[dict[str, Any]]] = {}
    for one in records:
        line: dict[str, Any] = {
            "dataset": one.dataset, "id": one.id, "samples": [{"answer": one.prediction, "score": one.score}],
            "prompt_tokens": one.prompt_tokens, "completion_tokens": one.completion_tokens,
        }  # fmt: skip
        by_model.setdefault(one.model, []).append(line if one.usd is None else line | {"usd": one.usd})
    (folder / "outputs").mkdir(parents=True)
    _write_lines(folder / "questions.jsonl.gz", asked.values())
    for model, lines in by_model.items():
        _write_lines(folder / "outputs" / f"{names[model]}.jsonl.gz", lines)


def _write_lines(file: Path, lines: Iterable[dict[str, Any]]) -> None:
    with gzip.open(file, "wt", encoding="utf-8") as out:
        out.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def _file_names(names: set[str]) -> dict[str, str]:
    """Name -> the same as the name of a file, without anything that leads out of a folder. Raises :class:`ConfigError`."""
    found = {name: _ODD.sub("_", name).strip(".") or "_" for name in sorted(names)}
    if len({*found.values()}) < len(found):
        raise ConfigError(f"two names become one file: {', '.join(sorted(names))[:200]}; rename one")
    return found


def _known(cost: float | None, length: int) -> float | None:
    return None if cost is None or (cost == 0 and length > 0) else cost


def _bytes_of(file: Path) -> bytes:
    _check_size(file)
    return file.read_bytes()


def _check_size(file: Path) -> None:
    try:
        if file.stat().st_size > MAX_BYTES:
            raise ConfigError(f"{file} is larger than {MAX_BYTES} bytes; split it")
    except OSError as error:
        raise ConfigError(f"{file} can not be read: {error.strerror}") from error
