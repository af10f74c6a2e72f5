"""``podium evaluate STUDY.toml``: every arm on the same problems, compared in pairs, kept in one folder.

In the folder: ``results.jsonl`` (a rerun goes on there), ``learning.jsonl`` (what routers learned from), ``matched.jsonl``
(the repeats of the cost-matched control), ``examples.jsonl``, ``study.toml`` (a copy
of the file), ``table.md``, ``table.json``, ``report.html`` and its first picture.
"""

import json
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from podium import __version__, jsonl
from podium.cli.arms import Lessons, catalogue_arms, is_router, make_arm
from podium.cli.extras import need_stats
from podium.cli.measure import evaluate_with_progress, ticking
from podium.cli.recordings import Gaps, answered_by_all
from podium.cli.screen import Screen
from podium.cli.setups import learned_from, setups_of
from podium.cli.study_file import Study, read_study
from podium.cli.verifying import open_verifiers
from podium.cli.wiring import Team, open_team
from podium.errors import Blame, ConfigError, PodiumError
from podium.evaluation.evaluate import Result
from podium.evaluation.matched import tries, voted
from podium.evaluation.metrics import summarise
from podium.evaluation.oracle import oracle
from podium.evaluation.report import as_object, markdown_comparisons, markdown_table, terminal_overview
from podium.evaluation.rounds import redistribution
from podium.protocols import Verifier, Worker
from podium.tasks.agreement import votes_of
from podium.types import Call, Problem
from podium.workers.budget import Budget
from podium.workflow.draw import as_text

if TYPE_CHECKING:
    from podium.evaluation.page import Example

ORACLE = "oracle"


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyFlags:
    """The flags of ``podium evaluate STUDY.toml`` as the user set them."""

    path: Path
    out: Path | None
    """Instead of the folder that the study names."""
    budget: Budget
    cluster: str | None
    """Address of a Ray cluster that does the asking; None: this process does."""
    unsafe_local: bool
    as_json: bool
    as_markdown: bool


async def carry_out(flags: StudyFlags) -> None:
    """Carry the command out. Raises :class:`PodiumError`."""
    need_stats()
    study = read_study(flags.path)
    out = flags.out or study.out
    problems = study.problems.problems()
    lessons_problems = [] if study.learning is None else study.learning.problems()
    _apart(problems, lessons_problems)
    kinds = {problem.kind for problem in (*problems, *lessons_problems)}
    async with (
        open_verifiers(kinds, unsafe_local=flags.unsafe_local) as verifier,
        open_team(study.pool, flags.budget, study.journal, run=f"study {out}", replay=study.problems.replay) as team,
    ):
        study = study.for_workers(team.pool.names)
        members = [(member.name, member.worker) for member in team.pool]
        problems, gaps = answered_by_all(problems, members)
        lessons_problems, _ = answered_by_all(lessons_problems, members)
        names = study.arms
        workers = [f"worker:{name}" for name in team.pool.names]
        if ORACLE in names and (missing := [worker for worker in workers if worker not in names]):
            raise ConfigError(f"the oracle chooses among the workers alone; add the arm worker:* ({missing[0]} is not there)")
        routers = [name for name in names if is_router(name)]
        arms = {name: make_arm(name, team) for name in names if name != ORACLE and name not in routers}
        learned = ""
        if routers:
            sorts = {p.question: p.kind if team.is_gym else p.source for p in (*problems, *lessons_problems)}
            lessons = await _learned(flags, study, team, lessons_problems, verifier, out, names=routers, sorts=sorts)
            learned = learned_from(str(study.learning), lessons_problems, _setups(flags, study, workers, team))
            arms |= {name: make_arm(name, team, lessons=lessons) for name in routers}
        else:
            lessons = None
        arms = {name: arms[name] for name in names if name in arms}
        setups = _setups(flags, study, arms, team, learned=learned)
        results = await _asked(flags, study, arms, problems, verifier, out, lessons, setups)
        results += await _matched(study, arms, problems, verifier, out, results, setups)
        examples = await _examples(study, arms, problems, verifier, out, setups)
    if ORACLE in names:
        results += oracle(results, workers)
    _publish(flags, study, out, results, examples, gaps)


def _apart(problems: Sequence[Problem], lessons: Sequence[Problem]) -> None:
    """Raises :class:`ConfigError` where a router would be asked what it learned from."""
    if common := {problem.id for problem in problems} & {problem.id for problem in lessons}:
        raise ConfigError(
            f"{len(common)} problems are in [problems] and in [learning]; take another seed or another part of the file"
        )


def _setups(flags: StudyFlags, study: Study, arms: Iterable[str], team: Team, *, learned: str = "") -> dict[str, str]:
    return setups_of(arms, team, pool=study.pool, replay=study.problems.replay, unsafe_local=flags.unsafe_local, learned=learned)


async def _learned(
    flags: StudyFlags,
    study: Study,
    team: Team,
    problems: Sequence[Problem],
    verifier: Verifier,
    out: Path,
    *,
    names: Sequence[str],
    sorts: Mapping[str, str],
) -> Lessons:
    """What the workers alone, and where it is needed the catalogue, make of the training problems.

    ``sorts``: question -> its kind in the gym, elsewhere the benchmark it is from, which is known when a benchmark is asked.
    """
    if not problems:
        raise ConfigError("routers learn from training problems; name some in a table [learning]")
    from podium.policies.router import Outcomes

    async def outcomes(arms: Sequence[str]) -> Outcomes:
        results = await evaluate_with_progress(
            {name: make_arm(name, team) for name in arms},
            problems,
            verifier,
            out=out / "learning.jsonl",
            concurrency=study.concurrency,
            sampling=study.sampling,
            setups=_setups(flags, study, arms, team),
        )
        found = {(result.arm, result.problem): result for result in results if result.verdict is not None}
        rows = [problem for problem in problems if all((arm, problem.id) in found for arm in arms)]
        verdicts = [[found[arm, problem.id].verdict for arm in arms] for problem in rows]
        return Outcomes(
            questions=tuple(problem.question for problem in rows),
            kinds=tuple(sorts[problem.question] for problem in rows),
            right=tuple(tuple(float(v is not None and v.correct) for v in row) for row in verdicts),
            answers=tuple(
                tuple(votes_of([None if v is None else v.extracted for v in row], problem.kind))
                for problem, row in zip(rows, verdicts, strict=True)
            ),
        )

    alone = [f"worker:{name}" for name in team.pool.names]
    lessons = Lessons(alone=await outcomes(alone), sort_of=sorts.get)
    if "router:classified" not in names:
        return lessons
    return replace(lessons, catalogue=await outcomes([*alone, *catalogue_arms(team, lessons.best)]))


async def _asked(
    flags: StudyFlags,
    study: Study,
    arms: Mapping[str, Worker],
    problems: Sequence[Problem],
    verifier: Verifier,
    out: Path,
    lessons: Lessons | None,
    setups: Mapping[str, str],
) -> list[Result]:
    """Every arm on every problem, here or on a cluster."""
    file = out / "results.jsonl"
    if flags.cluster is None:
        return await evaluate_with_progress(
            arms,
            problems,
            verifier,
            out=file,
            repeats=study.repeats,
            concurrency=study.concurrency,
            sampling=study.sampling,
            setups=setups,
        )
    from podium.cli.cluster import Order, on_cluster

    order = Order(
        study=study, arms=tuple(arms), lessons=lessons, unsafe_local=flags.unsafe_local, run=f"study {out}", setups=setups
    )
    with ticking(len(arms) * len(problems) * study.repeats) as on_result:
        return await on_cluster(order, problems, address=flags.cluster, out=file, budget=flags.budget, on_result=on_result)


async def _matched(
    study: Study,
    arms: Mapping[str, Worker],
    problems: Sequence[Problem],
    verifier: Verifier,
    out: Path,
    results: Sequence[Result],
    setups: Mapping[str, str],
) -> list[Result]:
    """The cheaper arms as often as the compared one's cost allows, by vote; those that cost as much already are left out."""
    found: list[Result] = []
    answered = {result.arm for result in results if not result.is_world_fault}
    for arm in study.matched:
        if not answered.issuperset((arm, str(study.compare))):
            continue  # the world failed one of the two throughout
        often = tries(results, str(study.compare), arm)
        if often > 1:
            repeats = await evaluate_with_progress(
                {arm: arms[arm]},
                problems,
                verifier,
                out=out / "matched.jsonl",
                repeats=often,
                concurrency=study.concurrency,
                sampling=study.sampling,
                setups=setups,
            )
            found += voted(repeats, arm, f"{arm} x{often}", votes_of)
    return found


async def _examples(
    study: Study,
    arms: Mapping[str, Worker],
    problems: Sequence[Problem],
    verifier: Verifier,
    out: Path,
    setups: Mapping[str, str],
) -> "list[Example]":
    """The first problem of every kind as the arms named in ``examples`` conduct it, kept in ``examples.jsonl``: asked once."""
    from podium.evaluation.page import Example

    file = out / "examples.jsonl"
    known = {(each.arm, each.setup, each.question): each for each in (jsonl.read_records(Example, file) if file.exists() else [])}
    firsts = {problem.kind: problem for problem in reversed(problems)}
    found = []
    for kind, problem in firsts.items():
        for arm in study.examples:
            example = known.get((arm, setups[arm], problem.question))
            if example is None:
                text, outcome = await _shown(arms[arm], Call.plain(problem.question, study.sampling), problem, verifier)
                example = Example(
                    arm=arm, kind=kind, question=problem.question, workflow=text, outcome=outcome, setup=setups[arm]
                )
                jsonl.append(file, jsonl.dumps(example))
            found.append(example)
    return found


async def _shown(worker: Worker, call: Call, problem: Problem, verifier: Verifier) -> tuple[str, str]:
    """A workflow as text, and what came of it. A report is not lost for an example that failed."""
    try:
        completion = await worker(call)
        verdict = await verifier(problem, completion.text)
    except PodiumError as error:
        if error.blame is Blame.USER:
            raise
        transcripts, outcome = error.transcripts, f"failed ({type(error).__name__})"
    else:
        transcripts, outcome = completion.transcripts, "right" if verdict.correct else "wrong"
    return "\n\n".join(as_text(transcript) for transcript in transcripts) or "no workflow", outcome


def _publish(
    flags: StudyFlags, study: Study, out: Path, results: Sequence[Result], examples: "Sequence[Example]", gaps: Gaps
) -> None:
    from podium.cli.run_pictures import of_a_run
    from podium.evaluation.charts import alone
    from podium.evaluation.compare import comparable, compare
    from podium.evaluation.page import Page, Source, accuracy_and_cost, html

    rows = summarise(results)
    others = [row.arm for row in rows if row.kind is None and row.arm != study.compare]
    # An arm that the world failed throughout stays in the table, and is compared with nothing.
    comparisons = [] if study.compare is None else compare(results, study.compare, comparable(results, study.compare, others))
    parts = [f"# {study.title}", markdown_table(rows), *([markdown_comparisons(comparisons)] if comparisons else [])]
    table = as_object(rows) | {"comparisons": [asdict(each) for each in comparisons]}
    (out / "table.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    (out / "table.json").write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
    if flags.path.resolve() != (out / "study.toml").resolve():
        shutil.copyfile(flags.path, out / "study.toml")
    pictures, tables = ({}, {}) if study.training is None else of_a_run(study.training)
    if (changed := redistribution(results)) is not None:
        tables = {"What further rounds changed": changed} | tables
    if gaps:
        lines = [[name, str(count)] for name, count in gaps.items()]
        tables = {
            "Recordings with gaps; compared is what all have answered": (["recording", "questions it lacks"], lines)
        } | tables
    page = Page(
        title=study.title,
        source=Source(
            command=f"podium evaluate {flags.path}",
            version=__version__,
            made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
            files={"one line for each answer": "results.jsonl", "the study": "study.toml", "the table": "table.json"},
        ),
        rows=rows,
        results=results,
        comparisons=comparisons,
        arm=study.compare,
        examples=examples,
        pictures=pictures,
        tables=tables,
    )
    (out / "report.html").write_text(html(page), encoding="utf-8")
    if picture := accuracy_and_cost(page):
        (out / "accuracy_and_cost.svg").write_text(alone(picture) + "\n", encoding="utf-8")
    if flags.as_json:
        sys.stdout.write(json.dumps(table) + "\n")
    elif flags.as_markdown:
        sys.stdout.write("\n\n".join(parts) + "\n")
    else:
        screen = Screen()
        screen.print(terminal_overview(rows, comparisons))
        screen.print(Text(f"kept in {out}: results.jsonl, table.md, report.html"), soft_wrap=True)
