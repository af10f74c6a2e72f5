"""``podium export``: the answers of a study as logs of Inspect, one per arm, to be looked at with ``inspect view``."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalError,
    EvalLog,
    EvalMetric,
    EvalResults,
    EvalSample,
    EvalScore,
    EvalSpec,
    write_eval_log,
)
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import CORRECT, INCORRECT, Score

from podium import __version__, jsonl
from podium.errors import ConfigError
from podium.evaluation.evaluate import Result
from podium.evaluation.metrics import summarise
from podium.integrations.inspect_messages import model_usage
from podium.studies.spec import Study, read_study
from podium.types import Problem

SCORER = "podium"


def export(folder: Path, out: Path) -> list[Path]:
    """Write a log for every arm in ``folder``, where ``podium evaluate STUDY.toml`` kept its answers.

    Answers themselves are not kept in a study; a log has what was read out of each, the verdict, tokens, dollars and seconds.
    World faults are samples with an error and no score. Raises :class:`ConfigError` where ``folder`` holds no study.
    """
    file = folder / "results.jsonl"
    if not file.exists() or not (folder / "study.toml").exists():
        raise ConfigError(
            f"{folder} is no folder of a study: podium evaluate STUDY.toml leaves results.jsonl and study.toml there"
        )
    study = read_study(folder / "study.toml")
    problems = {problem.id: problem for problem in study.problems.problems()}
    # Of two results with one key the newer counts.
    newest = {result.key: result for result in jsonl.read_records(Result, file)}
    by_arm: dict[str, list[Result]] = {}
    for result in newest.values():
        if result.problem not in problems:
            raise ConfigError(f"{file} answers problem {result.problem}, which the study does not ask")
        by_arm.setdefault(result.arm, []).append(result)
    out.mkdir(parents=True, exist_ok=True)
    written = []
    for number, (arm, results) in enumerate(by_arm.items()):
        name = "".join(char if char.isalnum() else "-" for char in arm)
        path = out / f"{number:03d}-{name[:80]}.eval"
        write_eval_log(_log(study, arm, results, problems), str(path))
        written.append(path)
    return written


def _log(study: Study, arm: str, results: Sequence[Result], problems: Mapping[str, Problem]) -> EvalLog:
    judged = sum(not result.is_world_fault for result in results)
    [row] = [row for row in summarise(results) if row.kind is None]
    metrics = {}
    if row.accuracy is not None:
        metrics["accuracy"] = EvalMetric(name="accuracy", value=row.accuracy)
    if row.standard_error is not None:
        metrics["stderr"] = EvalMetric(name="stderr", value=row.standard_error)
    return EvalLog(
        status="success",
        eval=EvalSpec(
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            task=study.title,
            dataset=EvalDataset(name=study.title, samples=len({result.problem for result in results})),
            model=f"podium/{arm}",
            config=EvalConfig(epochs=study.repeats),
            packages={"podium": __version__},
        ),
        results=EvalResults(
            total_samples=len(results),
            completed_samples=judged,
            scores=[EvalScore(name=SCORER, scorer=SCORER, scored_samples=judged, metrics=metrics)],
        ),
        samples=[_sample(result, problems[result.problem], arm) for result in results],
    )


def _sample(result: Result, problem: Problem, arm: str) -> EvalSample:
    verdict, failure = result.verdict, result.failure
    model = f"podium/{arm}"
    scores = None
    if not result.is_world_fault:
        right = verdict is not None and verdict.correct
        why = verdict.why if verdict is not None else "no workflow"
        answer = None if verdict is None else verdict.extracted
        scores = {SCORER: Score(value=CORRECT if right else INCORRECT, answer=answer, explanation=why or None)}
    error = None
    if result.is_world_fault and failure is not None:
        error = EvalError(message=failure.message, traceback="", traceback_ansi="")
    return EvalSample(
        id=result.problem,
        epoch=result.repeat + 1,
        input=problem.question,
        target=problem.target,
        output=ModelOutput.from_content(model, (verdict.extracted if verdict is not None else None) or ""),
        scores=scores,
        error=error,
        metadata={
            "kind": result.kind,
            "source": result.source,
            "steps": result.steps,
            "skipped": result.skipped,
            "rounds": result.rounds,
            "workers": list(result.workers),
            "topologies": list(result.topologies),
            "failure": None if failure is None else failure.message,
        },
        model_usage={} if result.usage is None else {model: model_usage(result.usage)},
        total_time=result.seconds,
    )
