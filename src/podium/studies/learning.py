"""What arms that learn are taught: the workers' answers to training problems, and workflows that were chosen on these.

A study and ``podium evaluate`` use it alike. Answers and choices are kept in a folder where there is one, so that a rerun pays
for none of it again.
"""

from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from podium import jsonl
from podium.errors import ConfigError
from podium.evaluation.evaluate import Result
from podium.evaluation.metrics import summarise
from podium.policies.chosen import CHOSEN, CONSTANTS, WORDED, ChosenWorkflow
from podium.policies.router_data import RouterDataset, RouterTrainingData
from podium.pools.opened import OpenPool
from podium.protocols import Verifier, Worker
from podium.studies.arms import catalogue_arms, make_arm
from podium.studies.choosing import Choosing, constants, worded
from podium.studies.expected import CLASSIFIED, MEASURED, calls_a_problem
from podium.studies.setups import learned_from
from podium.tasks.agreement import votes_of
from podium.types import Problem, Sampling
from podium.workers.identity import hashed

FILE = "chosen.jsonl"

Asked = Callable[[str, Mapping[str, Worker], Sequence[Problem], str, Mapping[str, str]], Coroutine[Any, Any, list[Result]]]
"""(what it is, arms, problems, file of the answers, set-ups) -> the answers."""
Setups = Callable[[Iterable[str], str], dict[str, str]]
"""(arms, what they learned) -> what answers behind each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    """A line of ``chosen.jsonl``."""

    arm: str
    by: str
    """What it was chosen with: another pool or other problems are another choice."""
    chosen: ChosenWorkflow


@dataclass(frozen=True, slots=True, kw_only=True)
class Lessons:
    """What was learned. Example: ``make_arm("constant", pool, router_data=lessons.data)``."""

    data: RouterTrainingData
    identity: str
    """What tells apart what was learned, for :func:`podium.studies.setups.setups_of`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Teaching:
    """What it takes to teach. ``names`` are the arms that learn."""

    pool: OpenPool
    verifier: Verifier
    names: Sequence[str]
    problems: Sequence[Problem]
    setting: str
    """Where the problems are from, in words."""
    asked: Asked
    setups: Setups
    compare: str | None = None
    """The arm whose dollars ``constant:cheap`` keeps to; None: the pool's own policy."""
    folder: Path | None = None
    sampling: Sampling = Sampling()

    @property
    def calls(self) -> int:
        """What routers learn from, in calls, and so what each choice may take."""
        return len(self.problems) * calls_a_problem(self.names, len(self.pool.workers))

    async def taught(self, sorts: Mapping[str, str]) -> Lessons:
        """Teach. ``sorts``: question -> its kind in the gym, elsewhere the benchmark it is from.

        Raises :class:`ConfigError` where there are no problems, and what asking raises.
        """
        if not self.problems:
            raise ConfigError("routers learn from training problems; name some in a table [learning]")
        alone = [f"worker:{name}" for name in self.pool.workers.names]
        identity = learned_from(self.setting, self.problems, self.setups(alone, ""))
        made = {name: make_arm(name, self.pool) for name in alone}
        data = RouterTrainingData(alone=await self._dataset(made, sorts, ""), sort_of=sorts.get)
        by = Choosing(
            workers=self.pool.workers, verifier=self.verifier, problems=self.problems, calls=self.calls, sampling=self.sampling
        )
        for name in [name for name in WORDED if name in self.names or CLASSIFIED in self.names]:
            key = hashed(identity, name, self.calls, data.best)
            chosen = self._kept(name, key) or self._keep(name, key, await worded(name, data.best, by))
            data = replace(data, workflows={**data.workflows, name: chosen})
        if CLASSIFIED in self.names:
            names = [*alone, *catalogue_arms()]
            made = {name: make_arm(name, self.pool, router_data=data) for name in names}
            data = replace(data, catalogue=await self._dataset(made, sorts, _all(identity, data)))
        if wanted := [name for name in CONSTANTS if name in self.names]:
            data = await self._with_constants(wanted, data, by, identity)
        return Lessons(data=data, identity=_all(identity, data))

    async def _with_constants(
        self, wanted: Sequence[str], data: RouterTrainingData, by: Choosing, identity: str
    ) -> RouterTrainingData:
        dear = self.pool.default_policy if self.compare is None or self.compare in (*CONSTANTS, "oracle") else self.compare
        limit = await self._usd(dear, data, identity) if "constant:cheap" in wanted else None
        keys = {name: hashed(identity, name, self.calls, limit if name == "constant:cheap" else None) for name in wanted}
        found = {name: self._kept(name, key) for name, key in keys.items()}
        if missing := [name for name, chosen in found.items() if chosen is None]:
            made = await constants(missing, by, limit)
            found |= {name: self._keep(name, keys[name], chosen) for name, chosen in made.items()}
        return replace(data, workflows={**data.workflows, **{name: each for name, each in found.items() if each is not None}})

    async def _usd(self, arm: str, data: RouterTrainingData, identity: str) -> float | None:
        """What ``arm`` costs a question; None where that is not known."""
        worker = make_arm(arm, self.pool, router_data=data)
        setups = self.setups([arm], _all(identity, data))
        results = await self.asked(f"what {arm} costs", {arm: worker}, self.problems[:MEASURED], "learning.jsonl", setups)
        return next((row.cost_usd for row in summarise(results) if row.kind is None), None)

    async def _dataset(self, made: Mapping[str, Worker], sorts: Mapping[str, str], learned: str) -> RouterDataset:
        arms = list(made)
        results = await self.asked("learning", made, self.problems, "learning.jsonl", self.setups(arms, learned))
        found = {(result.arm, result.problem): result for result in results if result.verdict is not None}
        rows = [problem for problem in self.problems if all((arm, problem.id) in found for arm in arms)]
        verdicts = [[found[arm, problem.id].verdict for arm in arms] for problem in rows]
        return RouterDataset(
            questions=tuple(problem.question for problem in rows),
            kinds=tuple(sorts[problem.question] for problem in rows),
            right=tuple(tuple(float(v is not None and v.correct) for v in row) for row in verdicts),
            answers=tuple(
                tuple(votes_of([None if v is None else v.extracted for v in row], problem.kind))
                for problem, row in zip(rows, verdicts, strict=True)
            ),
        )

    def _kept(self, arm: str, by: str) -> ChosenWorkflow | None:
        """What was chosen before."""
        if self.folder is None or not (self.folder / FILE).exists():
            return None
        found = [each.chosen for each in jsonl.read_records(_Kept, self.folder / FILE) if (each.arm, each.by) == (arm, by)]
        return found[-1] if found else None

    def _keep(self, arm: str, by: str, chosen: ChosenWorkflow) -> ChosenWorkflow:
        if self.folder is not None:
            jsonl.append(self.folder / FILE, jsonl.dumps(_Kept(arm=arm, by=by, chosen=chosen)))
        return chosen


def needs_journal(names: Iterable[str]) -> bool:
    """Whether choices are made for one of ``names``, whose calls are kept in a journal only."""
    return any(name in (*CHOSEN, CLASSIFIED) for name in names)


def _all(identity: str, data: RouterTrainingData) -> str:
    """``identity``, and the workflows that were chosen: another choice inherits no answers."""
    if not data.workflows:
        return identity
    return hashed(identity, [(name, jsonl.dumps(each)) for name, each in data.workflows.items()])
