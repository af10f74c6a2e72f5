"""Worker x Problems -> Results: every worker answers every problem, a verifier judges, and each result is one JSON line.

A single model, a hand-written baseline, a trained Conductor: each is a Worker, goes through this one loop, and so is
measured the same way. What went wrong is sorted by blame and never mixed: a policy that wrote no workflow, or one that can
not be carried out, is a wrong answer of its own kind, a world fault is no answer at all, a user's failure stops the
evaluation with every result kept.

The answers themselves are not stored: a result holds what was read out of the answer and the verdict on it.
"""

import asyncio
import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from podium import jsonl
from podium.errors import Blame, ConfigError, PodiumError
from podium.evaluation.topology import topology
from podium.evaluation.verifier_identity import verifier_identity
from podium.protocols import Verifier, Worker
from podium.types import Call, Completion, Failure, Problem, Sampling, Transcript, Usage, Verdict

Key = tuple[str, str, int]
"""What tells results apart: arm, problem id, repeat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One answer of one arm to one problem: exactly one of ``verdict`` and ``failure`` is set.

    Example: ``Result(arm="gpt", problem="9a3f0c...", kind="mathematics", source="gsm8k", repeat=0, sampling=Sampling(),
    verdict=Verdict(correct=True, extracted="42"), failure=None, usage=Usage(...), seconds=0.8, steps=1, rounds=0,
    invalid_rounds=0)``.
    """

    arm: str
    """The name under which the worker was evaluated."""
    problem: str
    """``Problem.id``."""
    kind: str
    source: str
    repeat: int
    """Counts from 0; repeats are different draws of the same question."""
    sampling: Sampling
    verdict: Verdict | None
    failure: Failure | None
    """Blame ``policy``: no valid workflow, or one that can not be carried out; counts as wrong. Blame ``world``: no answer or no
    verdict, counts as nothing."""
    usage: Usage | None
    """None where a call failed without saying what it used: unknown, not nothing."""
    seconds: float
    """As the worker reports it, waiting for limits and retries not included; of a failed call, the wall time."""
    steps: int
    """Steps that somebody was asked for, over all rounds of a Conductor, nested ones counted once; 1 for an answer of a plain
    worker. Those that were skipped or left out are in ``skipped``."""
    rounds: int
    """Rounds of a Conductor; 0 for a plain worker."""
    invalid_rounds: int
    """Rounds in which the policy wrote no valid workflow; a later or an earlier round may still have answered."""
    workers: tuple[str, ...] = ()
    """Who was asked for the steps of a Conductor, in order over all rounds; () for a plain worker."""
    topologies: tuple[str, ...] = ()
    """The shape of each round's workflow (:func:`podium.evaluation.topology.topology`)."""
    verbs: tuple[str, ...] = ()
    """The first word of each step's subtask, in small letters."""

    skipped: int = 0
    """Steps for which nobody was asked, because their condition did not come about or nobody needed them any more."""
    setup: str = ""
    """What answered behind the arm's name, as a hash; "" where it is not known."""
    judged_by: str = ""
    """What judged, as a hash (:mod:`podium.evaluation.verifier_identity`)."""

    @property
    def key(self) -> Key:
        """What tells this result from others; of two with one key, the newer counts."""
        return (self.arm, self.problem, self.repeat)

    @property
    def is_correct(self) -> bool:
        """Whether there is an answer, and it was judged right."""
        return self.verdict is not None and self.verdict.correct

    @property
    def is_world_fault(self) -> bool:
        """Whether worker or verifier failed, so that nothing is known of the answer."""
        return self.failure is not None and self.failure.blame is Blame.WORLD

    @property
    def is_policy_failure(self) -> bool:
        """Whether there was no valid workflow, or one that can not be carried out: both count as a wrong answer."""
        return self.failure is not None and self.failure.blame is Blame.POLICY

    @property
    def is_unworkable(self) -> bool:
        """Whether the lists were sound and could not be carried out: a vote that sees nothing, a call larger than a context."""
        return self.is_policy_failure and not self.invalid_rounds


async def evaluate(
    arms: Mapping[str, Worker],
    problems: Sequence[Problem],
    verifier: Verifier,
    *,
    out: Path | None = None,
    repeats: int = 1,
    concurrency: int = 64,
    sampling: Sampling = Sampling(),
    on_result: Callable[[Result], None] | None = None,
    only: Collection[Key] | None = None,
    setups: Mapping[str, str] | None = None,
) -> list[Result]:
    """Ask every arm every problem ``repeats`` times, at most ``concurrency`` questions at once; judge; keep.

    Returns one result per arm, problem and repeat, sorted in this order as given. ``on_result`` hears each of them once,
    as it comes: a progress bar has ``len(arms) * len(problems) * repeats`` ticks. ``only`` leaves out every other key: a share of
    the work, for one of many machines.

    With ``out``, each result is appended there as it comes, and what ``out`` already holds is not asked again but handed
    over as it is (``on_result`` hears these first): a stopped or killed evaluation goes on where it was. World faults are
    the exception: a rerun asks them again and the newer result replaces the fault. The key is (arm, problem id, repeat);
    ``setups`` says what answers behind each arm's name, as a hash of model, settings, weights and so on, and is kept with
    every result. One file may hold many evaluations; one process writes it at a time.

    Raises :class:`ConfigError` before anything is asked where the arguments can not be used, where ``out`` is no file of
    results, and where it holds a result of the same key with other ``sampling``, another set-up or another verifier
    (:mod:`podium.evaluation.verifier_identity`). A failure of the user's
    (:class:`BudgetExceeded`, :class:`ConfigError`) from a worker or the verifier starts no further question, waits for
    those in flight, keeps their results, and is raised. Cancellation and bugs cancel the calls in flight and propagate
    (several bugs at once: as an ExceptionGroup); what was written stays.

    Example::

        results = await evaluate({"gpt": gpt, "conductor": conductor}, problems, verifiers(), out=Path("a.jsonl"))
    """
    _check(arms, problems, repeats, concurrency)
    wanted = [
        key
        for arm in arms
        for problem in problems
        for repeat in range(repeats)
        if (key := (arm, problem.id, repeat)) and (only is None or key in only)
    ]
    judges = judges_of(verifier, problems)
    results: dict[Key, Result] = {}
    stops: list[PodiumError] = []

    def keep(result: Result) -> None:
        results[result.key] = result
        if on_result is not None:
            on_result(result)

    async def lane(queue: Iterator[tuple[str, Problem, int]]) -> None:
        # All lanes share one iterator on one event loop: each question is taken once, and none before its lane is free.
        for arm, problem, repeat in queue:
            if stops:
                return
            try:
                result = await _ask(arm, arms[arm], problem, repeat, verifier, sampling)
                result = replace(result, setup=(setups or {}).get(arm, ""), judged_by=judges[problem.kind])
            except PodiumError as error:
                stops.append(error)
                return
            if out is not None:
                jsonl.append(out, jsonl.dumps(result))
            keep(result)

    if out is not None:
        for result in resumed(out, set(wanted), sampling, judges, setups):
            keep(result)
    # Arms alternate, so that what a stopped evaluation leaves behind compares them on the same problems.
    missing = (
        (arm, problem, repeat)
        for repeat in range(repeats)
        for problem in problems
        for arm in arms
        if (arm, problem.id, repeat) not in results and (only is None or (arm, problem.id, repeat) in only)
    )
    bug: Exception | None = None
    try:
        async with asyncio.TaskGroup() as lanes:
            for _ in range(min(concurrency, len(wanted) - len(results))):
                lanes.create_task(lane(missing))
    except ExceptionGroup as bugs:
        if len(bugs.exceptions) > 1:
            raise
        bug = bugs.exceptions[0]
    if bug is not None:
        raise bug  # out here, so that its own cause and context stay what they were
    if stops:
        raise stops[0]
    return [results[key] for key in wanted]


def read_results(path: Path) -> list[Result]:
    """The results in the file at ``path``, of each key the newest, in the order in which the keys first came.

    Raises :class:`ConfigError` where the file can not be read or holds something else; a torn last line is left out.
    """
    try:
        records = jsonl.read_records(Result, path)
    except OSError as error:
        raise ConfigError(f"can not read results from {path}: {error.strerror}") from error
    return list({result.key: result for result in records}.values())


def _check(arms: Mapping[str, Worker], problems: Sequence[Problem], repeats: int, concurrency: int) -> None:
    if not arms:
        raise ConfigError("nothing to evaluate: name at least one worker")
    if not problems:
        raise ConfigError("nothing to evaluate: there are no problems")
    if repeats < 1:
        raise ConfigError(f"repeats must be at least 1, not {repeats}")
    if concurrency < 1:
        raise ConfigError(f"concurrency must be at least 1, not {concurrency}")
    seen: set[str] = set()
    for number, problem in enumerate(problems, start=1):
        if problem.id in seen:
            # Counted twice it would shrink the confidence interval without adding evidence.
            raise ConfigError(f"problem {number} ({problem.question[:60]!r}) is there twice; drop one, or ask for repeats")
        seen.add(problem.id)


def judges_of(verifier: Verifier, problems: Iterable[Problem]) -> dict[str, str]:
    """Kind of problem -> what judges it, as it is kept with each result."""
    return {kind: verifier_identity(verifier, kind) for kind in {problem.kind for problem in problems}}


def resumed(
    out: Path, wanted: Collection[Key], sampling: Sampling, judges: Mapping[str, str], setups: Mapping[str, str] | None = None
) -> list[Result]:
    """What ``out`` knows of ``wanted``, world faults left out; afterwards ``out`` can be appended to.

    ``judges`` is :func:`judges_of` the problems. Raises :class:`ConfigError` as :func:`evaluate` does.
    """
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.open("ab").close()  # a folder or a read-only file is found out before anything is paid for
        found = [result for result in read_results(out) if result.key in wanted and not result.is_world_fault]
        for result in found:
            if result.sampling != sampling:
                raise ConfigError(
                    f"{out} holds answers of {result.arm!r} that were sampled with {result.sampling}, not {sampling}; "
                    "write to another file or give the worker another name"
                )
            if result.setup != (setups or {}).get(result.arm, ""):
                before = "another set-up" if result.setup else "an unknown set-up (no hash is kept with them)"
                raise ConfigError(
                    f"{out} holds answers of {result.arm!r} from {before}: its model, settings, weights, prompt, recordings or "
                    "what it learned from are not known to be those of now; write to another file or folder, or remove it"
                )
            if result.verdict is not None and result.judged_by != judges[result.kind]:
                before = "another verifier, another version of it" if result.judged_by else "an unknown verifier"
                raise ConfigError(
                    f"{out} holds verdicts on problems of the kind {result.kind!r} by {before} or other settings: they may "
                    "not be those of now; write to another file or folder, or remove it (what is in a journal is not paid again)"
                )
        jsonl.mend(out)
    except OSError as error:
        raise ConfigError(f"can not write results to {out}: {error.strerror}") from error
    return found


async def _ask(arm: str, worker: Worker, problem: Problem, repeat: int, verifier: Verifier, sampling: Sampling) -> Result:
    """One question to one arm, judged. Raises what is the user's to mend, and bugs."""
    call = replace(Call.plain(problem.question, sampling), sample=(repeat,))
    start = time.monotonic()
    completion: Completion | None = None
    verdict: Verdict | None = None
    failure: Failure | None = None
    transcripts: tuple[Transcript, ...] = ()
    try:
        completion = await worker(call)
        verdict = await verifier(problem, completion.text)
    except PodiumError as error:
        if error.blame is Blame.USER:
            raise
        failure = Failure.of(error, where=f"{arm}, problem {problem.id}, repeat {repeat}")
        transcripts = error.transcripts
    if completion is not None:
        usage: Usage | None = completion.usage
        transcripts = completion.transcripts
    else:
        usage = Usage.total(transcript.usage for transcript in transcripts) if transcripts else None
    return Result(
        arm=arm,
        problem=problem.id,
        kind=problem.kind,
        source=problem.source,
        repeat=repeat,
        sampling=sampling,
        verdict=verdict,
        failure=failure,
        usage=usage,
        seconds=time.monotonic() - start if completion is None else completion.seconds,
        steps=sum(len(transcript.asked) for transcript in transcripts) or (0 if completion is None else 1),
        skipped=sum(len(transcript.results) - len(transcript.asked) for transcript in transcripts),
        rounds=len(transcripts),
        invalid_rounds=sum(t.workflow is None and t.failure is not None and t.failure.blame is Blame.POLICY for t in transcripts),
        workers=tuple(result.worker for transcript in transcripts for result in transcript.asked),
        topologies=tuple(topology(t.workflow) for t in transcripts if t.workflow is not None),
        verbs=tuple(_verb(result.step.subtask) for transcript in transcripts for result in transcript.asked),
    )


def _verb(subtask: str) -> str:
    """The first word of letters, cut at 20; "" where there is none."""
    found = re.search(r"[^\W\d_]+", subtask)
    return found.group()[:20].lower() if found else ""
