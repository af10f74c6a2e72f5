"""An evaluation without a study file: arms by name on some problems, those that learn taught on others first."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from podium.errors import ConfigError
from podium.evaluation.evaluate import Result, evaluate
from podium.evaluation.metrics import ArmSummary, summarise
from podium.evaluation.report import as_object, markdown_table
from podium.extras import missing, need
from podium.policies.learned import is_learned
from podium.pools.opened import OpenPool
from podium.pools.problems import ProblemSource, load_problems
from podium.protocols import Verifier, Worker
from podium.studies.arms import make_arm
from podium.studies.setups import setups_of
from podium.types import Problem

if TYPE_CHECKING:
    from podium.evaluation.compare import Comparison

LESSONS = 60
"""Training problems of the gym that are drawn where none are named."""
LESSONS_SEED = 20_000
"""Which ones: none that a test of the gym asks by default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What came out. Example: ``found.as_object()["arms"]``."""

    rows: Sequence[ArmSummary]
    comparisons: Sequence["Comparison"]
    notes: Sequence[str]
    """What was chosen on training problems, a line for each arm."""
    paid_usd: float | None = None
    """What was paid for it now."""

    def as_object(self) -> dict[str, object]:
        """For JSON."""
        return as_object(self.rows, self.comparisons) | {"paid_usd": self.paid_usd, "notes": list(self.notes)}

    def as_markdown(self) -> str:
        """For a document."""
        return "\n\n".join((markdown_table(self.rows, self.comparisons), *self.notes))


def training_problems(file: Path | None, *, gym: bool, asked: Sequence[Problem], named: bool) -> list[Problem]:
    """What arms that learn are taught: the problems of ``file``, or where the gym is ``asked`` others of the gym.

    None are drawn where arms are ``named``, and where the libraries that learn are not installed. Raises :class:`ConfigError`
    where a problem would be taught and asked.
    """
    if file is not None:
        need("stats")
        found = ProblemSource(file=file).problems()
        if common := {problem.id for problem in found} & {problem.id for problem in asked}:
            raise ConfigError(f"{len(common)} problems of {file} are asked as well; teach on others")
        return found
    if not gym or named or missing("stats"):
        return []
    known = {problem.id for problem in asked}
    drawn = load_problems("gym", split="train", limit=LESSONS, seed=LESSONS_SEED)
    return [problem for problem in drawn if problem.id not in known]


async def measured(
    names: Sequence[str],
    problems: Sequence[Problem],
    lessons: Sequence[Problem],
    opened: OpenPool,
    verifier: Verifier,
    *,
    pool: Path | None,
    compare: str | None = None,
    out: Path | None = None,
    repeats: int = 1,
    rounds: int = 1,
    concurrency: int = 64,
    unsafe_local: bool = False,
    on_part: Callable[[str, int], None] = lambda what, total: None,
    on_result: Callable[[Result], None] = lambda result: None,
) -> Measured:
    """Every arm on every problem, kept in ``out``; those that learn are taught with ``lessons`` first.

    What they learned is kept beside ``out``, in a folder. Raises :class:`ConfigError`.
    """
    learners = [name for name in names if is_learned(name)]
    folder = None if out is None else out.with_suffix(".learning")

    def setups(arms: Iterable[str], learned: str = "") -> dict[str, str]:
        return setups_of(arms, opened, pool=pool, rounds=rounds, unsafe_local=unsafe_local, learned=learned)

    async def asked(
        what: str, arms: Mapping[str, Worker], some: Sequence[Problem], file: str, behind: Mapping[str, str]
    ) -> list[Result]:
        on_part(what, len(arms) * len(some))
        kept = None if folder is None else folder / file
        return await evaluate(arms, some, verifier, out=kept, concurrency=concurrency, on_result=on_result, setups=behind)

    data, learned, notes = None, "", list[str]()
    if learners:
        if not lessons:
            raise ConfigError(f"{learners[0]} learns from training problems: name a file of some with --learning FILE")
        need("stats")
        # Search and statistics, which most evaluations do without.
        from podium.studies.choosing import lines
        from podium.studies.learning import Teaching

        teaching = Teaching(
            pool=opened,
            verifier=verifier,
            names=learners,
            problems=lessons,
            setting="",
            asked=asked,
            setups=setups,
            compare=compare,
            folder=folder,
        )
        taught = await teaching.taught({problem.question: opened.sort_of(problem) for problem in (*problems, *lessons)})
        data, learned = taught.data, taught.identity
        notes = lines({name: each for name, each in data.workflows.items() if name in names})
    arms = {name: make_arm(name, opened, rounds=rounds, router_data=data) for name in names}
    on_part("answers", len(arms) * len(problems) * repeats)
    results = await evaluate(
        arms,
        problems,
        verifier,
        out=out,
        repeats=repeats,
        concurrency=concurrency,
        on_result=on_result,
        setups=setups(names, learned),
    )
    comparisons = []
    if compare is not None:
        from podium.evaluation.compare import comparable
        from podium.evaluation.compare import compare as compared

        comparisons = compared(results, compare, comparable(results, compare, [name for name in names if name != compare]))
    return Measured(rows=summarise(results), comparisons=comparisons, notes=notes)
