"""``run_study``: every arm of a study on the same problems, compared in pairs, kept in one folder.

In the folder: ``results.jsonl`` (a rerun goes on there), ``learning.jsonl`` (what routers learned from), ``matched.jsonl``
(the repeats of the cost-matched control), ``examples.jsonl``, and what
:mod:`podium.studies.report` makes of it all.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from podium import jsonl
from podium.errors import Blame, ConfigError, PodiumError
from podium.evaluation.evaluate import Result, evaluate, judges_of
from podium.evaluation.matched import tries, voted
from podium.evaluation.oracle import oracle
from podium.evaluation.verifier_identity import verifier_identity
from podium.extras import need
from podium.policies.learned import is_learned, save
from podium.pools.open import open_pool
from podium.pools.opened import OpenPool
from podium.pools.verifiers import open_verifiers
from podium.protocols import Verifier, Worker
from podium.studies.arms import make_arm
from podium.studies.choosing import lines
from podium.studies.cluster import ClusterJob, on_cluster
from podium.studies.html import Example
from podium.studies.learning import Teaching, needs_journal
from podium.studies.recordings import answered_by_all
from podium.studies.report import StudyReport, published
from podium.studies.setups import setups_of
from podium.studies.spec import Study, read_study
from podium.tasks.agreement import votes_of
from podium.types import Call, Problem
from podium.workers.budget import Budget
from podium.workers.identity import hashed
from podium.workflow.draw import as_text

ORACLE = "oracle"


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Who is told how far a study is. Example: ``Progress(on_part=lambda what, total: print(what, total))``."""

    on_part: Callable[[str, int], None] = lambda what, total: None
    """A part of the work begins: what it is, and how many answers it takes."""
    on_result: Callable[[Result], None] = lambda result: None
    """One answer is there."""
    on_note: Callable[[str], None] = lambda text: None
    """Something that readers of the figures have to know."""


async def run_study(
    study: Study | Path | str,
    *,
    out: Path | None = None,
    budget: Budget | None = None,
    engine: str | None = None,
    unsafe_local: bool = False,
    keep: Path | None = None,
    progress: Progress = Progress(),
) -> StudyReport:
    """Carry out ``study``, or go on where it stopped.

    ``out`` is the folder of its results, instead of the one that it names. ``engine`` is the address of a Ray cluster that does
    the asking (``"local:2"`` starts one with two processes here); None: this process. ``unsafe_local`` judges programs without
    isolation. ``keep`` is a folder for what routers and rules learn, for ``learned:FOLDER``; of several, each has its own in it
    (:func:`folder_of`). Raises :class:`ConfigError`, and :class:`BudgetExceeded` where a cap was reached: results so far are
    kept.

    Example: ``(await run_study("recipes/gym_table.toml", budget=Budget(usd=5))).rows``.
    """
    need("stats")
    path = None if isinstance(study, Study) else Path(study)
    study = study if isinstance(study, Study) else read_study(Path(study))
    out, budget = out or study.out, Budget() if budget is None else budget
    problems = study.problems.problems()
    router_problems = [] if study.learning is None else study.learning.problems()
    _apart(problems, router_problems)
    kinds = {problem.kind for problem in (*problems, *router_problems)}
    async with (
        open_verifiers(kinds, unsafe_local=unsafe_local) as verifier,
        open_pool(study.workers_from, budget=budget, journal=_journal(study, out), run=f"study {out}") as pool,
    ):
        study = study.for_workers(pool.workers.names)
        members = [(member.name, member.worker) for member in pool.workers]
        problems, gaps = answered_by_all(problems, members, on_gaps=progress.on_note)
        router_problems, _ = answered_by_all(router_problems, members, on_gaps=progress.on_note)
        asking = _Asking(study, pool, verifier, out, unsafe_local, progress)
        names = study.arms
        workers = [f"worker:{name}" for name in pool.workers.names]
        if ORACLE in names and (missing := [worker for worker in workers if worker not in names]):
            raise ConfigError(f"the oracle chooses among the workers alone; add the arm worker:* ({missing[0]} is not there)")
        routers = [name for name in names if is_learned(name)]
        arms = {name: make_arm(name, pool) for name in names if name != ORACLE and name not in routers}
        router_data, learned = None, ""
        if routers:
            sorts = {problem.question: pool.sort_of(problem) for problem in (*problems, *router_problems)}
            teaching = Teaching(
                pool=pool,
                verifier=verifier,
                names=routers,
                problems=router_problems,
                setting=str(study.learning),
                asked=asking.asked,
                setups=asking.setups,
                compare=study.compare,
                folder=out,
                sampling=study.sampling,
            )
            lessons = await teaching.taught(sorts)
            router_data, learned = lessons.data, lessons.identity
            arms |= {name: make_arm(name, pool, router_data=router_data) for name in routers}
            if keep is not None:
                for name in routers:
                    save(folder_of(name, keep, routers), name, pool.workers.names, router_data)
        elif keep is not None:
            raise ConfigError("nothing is learned in this study: name an arm that learns, such as router:rule or stop:2:learned")
        arms = {name: arms[name] for name in names if name in arms}
        setups = asking.setups(arms, learned)
        if engine is None:
            results = await asking.asked("answers", arms, problems, "results.jsonl", setups, repeats=study.repeats)
        else:
            progress.on_part("answers", len(arms) * len(problems) * study.repeats)
            job = ClusterJob(
                study=study,
                arms=tuple(arms),
                router_data=router_data,
                unsafe_local=unsafe_local,
                run=f"study {out}",
                setups=setups,
                judges=judges_of(verifier, problems),
            )
            results = await on_cluster(
                job, problems, address=engine, out=out / "results.jsonl", budget=budget, on_result=progress.on_result
            )
        results += await asking.matched(arms, problems, results, setups)
        examples = await asking.examples(arms, problems, setups)
    if ORACLE in names:
        results += oracle(results, workers)
    chosen = {} if router_data is None else {name: each for name, each in router_data.workflows.items() if name in names}
    return published(study, path, out, results, examples, gaps, lines(chosen))


def folder_of(name: str, keep: Path, learned: Sequence[str]) -> Path:
    """Where the learned arm ``name`` is kept: ``keep`` itself where it is the only one. Example: ``keep/router-rule``."""
    return keep if len(learned) == 1 else keep / name.replace(":", "-")


@dataclass(frozen=True, slots=True)
class _Asking:
    """The parts of a study that ask."""

    study: Study
    pool: OpenPool
    verifier: Verifier
    out: Path
    unsafe_local: bool
    progress: Progress

    def setups(self, arms: Iterable[str], learned: str = "") -> dict[str, str]:
        """What answers behind each arm, as a hash; ``learned``: of what routers learn from."""
        return setups_of(
            arms,
            self.pool,
            pool=self.study.pool,
            replay=self.study.problems.replay,
            unsafe_local=self.unsafe_local,
            learned=learned,
        )

    async def asked(
        self,
        what: str,
        arms: Mapping[str, Worker],
        problems: Sequence[Problem],
        file: str,
        setups: Mapping[str, str],
        *,
        repeats: int = 1,
    ) -> list[Result]:
        """Every arm on every problem, kept in ``file``."""
        self.progress.on_part(what, len(arms) * len(problems) * repeats)
        return await evaluate(
            arms,
            problems,
            self.verifier,
            out=self.out / file,
            repeats=repeats,
            concurrency=self.study.concurrency,
            sampling=self.study.sampling,
            on_result=self.progress.on_result,
            setups=setups,
        )

    async def matched(
        self,
        arms: Mapping[str, Worker],
        problems: Sequence[Problem],
        results: Sequence[Result],
        setups: Mapping[str, str],
    ) -> list[Result]:
        """The cheaper arms as often as the compared one's cost allows, by vote; those that cost as much already are left out."""
        found: list[Result] = []
        answered = {result.arm for result in results if not result.is_world_fault}
        for arm in self.study.matched:
            if not answered.issuperset((arm, str(self.study.compare))):
                continue  # the world failed one of the two throughout
            often = tries(results, str(self.study.compare), arm)
            if often > 1:
                repeats = await self.asked(f"{arm} x{often}", {arm: arms[arm]}, problems, "matched.jsonl", setups, repeats=often)
                found += voted(repeats, arm, f"{arm} x{often}", votes_of)
        return found

    async def examples(self, arms: Mapping[str, Worker], problems: Sequence[Problem], setups: Mapping[str, str]) -> list[Example]:
        """The first problem of every kind as the arms named in ``examples`` conduct it; kept, so that it is asked once."""
        file = self.out / "examples.jsonl"
        known = {
            (each.arm, each.setup, each.question): each for each in (jsonl.read_records(Example, file) if file.exists() else [])
        }
        firsts = {problem.kind: problem for problem in reversed(problems)}
        found = []
        for kind, problem in firsts.items():
            for arm in self.study.examples:
                setup = hashed(setups[arm], verifier_identity(self.verifier, kind))
                example = known.get((arm, setup, problem.question))
                if example is None:
                    text, outcome = await self._shown(arms[arm], problem)
                    example = Example(arm=arm, kind=kind, question=problem.question, workflow=text, outcome=outcome, setup=setup)
                    jsonl.append(file, jsonl.dumps(example))
                found.append(example)
        return found

    async def _shown(self, worker: Worker, problem: Problem) -> tuple[str, str]:
        """A workflow as text, and what came of it. A report is not lost for an example that failed."""
        try:
            completion = await worker(Call.plain(problem.question, self.study.sampling))
            verdict = await self.verifier(problem, completion.text)
        except PodiumError as error:
            if error.blame is Blame.USER:
                raise
            transcripts, outcome = error.transcripts, f"failed ({type(error).__name__})"
        else:
            transcripts, outcome = completion.transcripts, "right" if verdict.correct else "wrong"
        return "\n\n".join(as_text(transcript) for transcript in transcripts) or "no workflow", outcome


def _journal(study: Study, out: Path) -> Path | None:
    """Where paid calls are kept: a choice of workflows that is interrupted would else be paid for again."""
    if study.journal is not None or study.pool is None or not needs_journal(study.arms):
        return study.journal
    out.mkdir(parents=True, exist_ok=True)
    return out / "calls.db"


def _apart(problems: Sequence[Problem], router_data: Sequence[Problem]) -> None:
    """Raises :class:`ConfigError` where a router would be asked what it learned from."""
    if common := {problem.id for problem in problems} & {problem.id for problem in router_data}:
        raise ConfigError(
            f"{len(common)} problems are in [problems] and in [learning]; take another seed or another part of the file"
        )
