"""The loop: draw, collect, compare, learn, look, store. It knows nothing of tensors; an engine writes and learns."""

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from podium.errors import CheckpointError, ConfigError, TrainingCollapsed, WorkerUnavailable
from podium.training.advantage import ADVANTAGES, over_rounds
from podium.training.checkpoint import RunFolder
from podium.training.collect import Collector, Task, Writer
from podium.training.config import TrainConfig, check_exploration
from podium.training.exploration import with_drafts
from podium.training.held_reading import HeldReading
from podium.training.hindsight import AsItBegan, first_rounds, hindsight
from podium.training.monitor import CollapseRule, Iteration, measured
from podium.training.rollout import Rollout, RolloutGroup, Turn
from podium.training.rows import TrainingRow, draft_rows, rows_of
from podium.training.sampler import KindCurriculum, SetAside, draw_tasks
from podium.training.worker_draws import PlaceRecord, WorkerDraws
from podium.workers.pool import WorkerPool


class Engine(Writer, Protocol):
    """Weights that write and learn: the reference engine, or many GPUs behind TRL."""

    def seed(self, number: int) -> None:
        """Make what is written next depend on ``number`` and the weights alone."""
        ...

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """The text of each token."""
        ...

    def worker_tokens(self) -> Sequence[int]:
        """The token of each worker id, as far as it has one of its own."""
        ...

    def learn(
        self,
        rows: Sequence[TrainingRow],
        *,
        entropy: float,
        drafts: Sequence[TrainingRow],
        draft_sft_weight: float,
        held: Sequence[TrainingRow],
        seed: int,
    ) -> dict[str, float]:
        """One iteration's optimiser steps; see :meth:`podium.training.learner.Learner.step`."""
        ...

    def save(self, folder: Path, *, version: str) -> None:
        """Write everything needed to go on."""
        ...

    def restore(self, folder: Path) -> None:
        """Take up what was saved."""
        ...


class Untrained(Writer, Protocol):
    """The start policy, which forced prefixes are drawn from."""

    def seed(self, number: int) -> None:
        """As in :class:`Engine`."""
        ...


class Trainer:
    """One run. Example: ``await Trainer(config, engine, untrained, pool, folder).run()``.

    ``untrained`` writes forced prefixes and drafts, ``start`` (the same where None) is the policy as it was when the run began.
    ``on_iteration`` is told of every iteration, those of an earlier part of a resumed run excepted.
    """

    def __init__(
        self,
        config: TrainConfig,
        engine: Engine,
        untrained: Untrained,
        pool: WorkerPool,
        folder: RunFolder,
        *,
        on_iteration: Callable[[Iteration, Sequence[RolloutGroup]], None] | None = None,
        rule: CollapseRule | None = None,
        start: Untrained | None = None,
    ) -> None:
        if config.verifier is None:
            raise ConfigError("a run needs somebody to judge the answers: name a verifier")
        _check_prices(config, pool)
        check_exploration(config)
        self._config = config
        self._engine = engine
        self._untrained = untrained
        self._start = untrained if start is None else start
        self._pool = pool
        self._folder = folder
        self._on_iteration = on_iteration
        self._rule = rule if rule is not None else CollapseRule()
        self._problems = list(config.problems())
        self._held_reading = HeldReading.of(config, pool, engine.prompt_ids)
        self._set_aside = SetAside(iterations=config.cooldown_iterations)
        self._curriculum = KindCurriculum()
        self._record = PlaceRecord()
        self._collector = Collector(
            verifier=config.verifier,
            syntax=config.syntax,
            per_usd=config.per_usd,
            per_step=config.per_step,
            concurrency=config.concurrency,
        )

    async def run(self) -> None:
        """Go on from the newest stored iteration to the last one.

        Raises :class:`BudgetExceeded` where a cap is reached (nothing of the unfinished iteration is learned),
        :class:`WorkerUnavailable` where the world spoils too much of it, :class:`TrainingCollapsed` where going on would only
        cost money. In every case the folder can be resumed.
        """
        done = self._resume()
        for iteration in range(done, self._config.iterations):
            seen, groups = await self._iterate(iteration)
            self._folder.append("groups.jsonl", [_line(iteration, group) for group in groups])
            self._folder.append("metrics.jsonl", [seen.as_json()])
            reason = self._rule.reason(seen)
            self._store(iteration + 1)
            if self._on_iteration is not None:
                self._on_iteration(seen, groups)
            if reason is not None:
                raise TrainingCollapsed(f"stopped after iteration {iteration}: {reason}")

    def _resume(self) -> int:
        stored = self._folder.state()
        done = 0
        if stored is not None:
            folder, state = stored
            try:
                self._set_aside.until = dict(state["resting"])
                self._curriculum.correct = dict(state["curriculum"])
                self._rule.streaks = dict(state["streaks"])
                self._record.restore(state["places"])
                done = int(state["done"])
            except (KeyError, TypeError, ValueError) as error:
                raise CheckpointError(
                    f"{folder} was not stored by this version of podium (missing or unreadable: {error}), so the run would not "
                    "go on as it began; begin anew in another folder"
                ) from error
            self._engine.restore(folder)
        for name in ("groups.jsonl", "metrics.jsonl"):
            self._folder.rewind(name, done)
        return done

    def _store(self, done: int) -> None:
        version = f"{self._config.name}@{done}"
        state = {
            "resting": self._set_aside.until,
            "curriculum": self._curriculum.correct,
            "streaks": self._rule.streaks,
            "places": self._record.state(),
        }
        self._folder.store(done, state, lambda path: self._engine.save(path, version=version))

    async def _iterate(self, iteration: int) -> tuple[Iteration, list[RolloutGroup]]:
        config, progress = self._config, iteration / self._config.iterations
        started = time.perf_counter()
        number = _seed(config.seed, iteration)
        self._engine.seed(number)
        self._untrained.seed(number)
        self._start.seed(number)
        tasks = self._tasks(iteration, progress)
        groups = await self._collector.collect(self._writer(iteration, progress), tasks, config.group_size)
        collected = time.perf_counter()
        groups = [self.with_advantages(group) for group in groups]
        self._strike(iteration, groups)
        self._check_world(iteration, groups)
        exploration = config.exploration
        if exploration.drawn_workers.start > 0:
            self._record.learn(groups)
        doubts = random.Random(f"doubts {config.seed} {iteration}")
        rows = rows_of(
            groups,
            self._engine.pieces,
            lambda group: doubts.random() < self._curriculum.entropy_weight(group.problem.kind, exploration.settled_from),
        )
        learning: dict[str, float] = {}
        drafts = self._drafts(groups, progress)
        rows = rows if config.reinforced else []
        if rows or (drafts and not config.reinforced):
            # A row without advantage still carries the entropy bonus, so every row that is not void is handed over.
            learning = self._engine.learn(
                rows,
                entropy=exploration.entropy.at(progress),
                drafts=drafts,
                held=self._held(groups, iteration),
                draft_sft_weight=exploration.draft_sft_weight.at(progress),
                seed=number,
            )
        ended = time.perf_counter()
        seconds = {"collect": collected - started, "learn": ended - collected}
        return measured(iteration, groups, learning=learning, seconds=seconds), groups

    def _writer(self, iteration: int, progress: float) -> Writer:
        exploration = self._config.exploration
        if exploration.draft_round == 2:
            return AsItBegan(self._start, self._engine)
        share = exploration.drawn_workers.at(progress)
        if share <= 0:
            return self._engine
        return WorkerDraws(self._engine, self._record, share, random.Random(f"workers {self._config.seed} {iteration}"))

    def _drafts(self, groups: Sequence[RolloutGroup], progress: float) -> list[TrainingRow]:
        exploration = self._config.exploration
        if exploration.draft_sft_weight.at(progress) <= 0:
            return []
        prompt_ids, pieces = self._engine.prompt_ids, self._engine.pieces
        if exploration.draft_round == 2:
            return draft_rows(hindsight(groups, self._start, self._config.syntax), prompt_ids, pieces, whole=True)
        drafts = [(group.brief, group.draft) for group in groups]
        return draft_rows(drafts, prompt_ids, pieces, keep_access=exploration.draft_access)

    def _held(self, groups: Sequence[RolloutGroup], iteration: int) -> list[TrainingRow]:
        if self._config.exploration.draft_round != 2:
            return self._held_reading.rows(self._engine.prompt_ids, iteration=iteration)
        return draft_rows(first_rounds(groups), self._engine.prompt_ids, self._engine.pieces, whole=True)

    def _tasks(self, iteration: int, progress: float) -> list[Task]:
        config = self._config
        tasks = draw_tasks(
            self._problems,
            self._pool,
            seed=config.seed,
            iteration=iteration,
            problems_per_step=config.problems_per_step,
            pools=config.pools,
            set_aside=self._set_aside,
            curriculum=self._curriculum if config.curriculum else None,
            max_steps=config.max_steps,
            recursive=config.recursive,
            word_dropout=config.word_dropout,
            word_dropout_max=config.word_dropout_max,
            word_mixing=config.word_mixing,
            budgets_usd=config.budgets_usd,
        )
        tasks = [replace(t, cost_weight=self._curriculum.cost_weight(t.problem.kind, config.saving_from)) for t in tasks]
        exploration = config.exploration
        forced = exploration.forced_prefix.at(progress)
        if forced <= 0 and (exploration.draft_round == 2 or exploration.draft_sft_weight.at(progress) <= 0):
            return tasks
        rng = random.Random(f"openings {config.seed} {iteration}")
        longest_of: list[int] = []
        if exploration.longest_of > 1:
            open_shares = [self._curriculum.entropy_weight(task.problem.kind, exploration.settled_from) for task in tasks]
            longest_of = [exploration.longest_of if rng.random() < share else 1 for share in open_shares]
        return with_drafts(
            tasks,
            self._untrained,
            forced,
            rng,
            longest_of=longest_of,
            syntax=config.syntax,
        )

    def with_advantages(self, group: RolloutGroup) -> RolloutGroup:
        """``group`` with every turn compared with all turns of the group, over rollouts and rounds."""
        scaled = [over_rounds([turn.reward for turn in rollout.turns], self._config.discount) for rollout in group.rollouts]
        successes = [turn.succeeded for rollout in group.rollouts for turn in rollout.turns]
        flat = iter(ADVANTAGES[self._config.advantage]([reward for row in scaled for reward in row], successes))
        return replace(
            group,
            rollouts=tuple(
                Rollout(turns=tuple(replace(turn, advantage=next(flat)) for turn in rollout.turns)) for rollout in group.rollouts
            ),
        )

    def _strike(self, iteration: int, groups: Sequence[RolloutGroup]) -> None:
        for group in groups:
            turns = _scored(group)
            if turns:
                right = sum(turn.correct for turn in turns)
                self._curriculum.learn(group.problem.kind, right / len(turns))
            # A forced prefix may be what made the group fail, so it is no evidence against the problem.
            if turns and not group.forced_prefix and not any(turn.correct for turn in turns):
                self._set_aside.strike(group.problem, iteration)

    def _check_world(self, iteration: int, groups: Sequence[RolloutGroup]) -> None:
        turns = [turn for group in groups for rollout in group.rollouts for turn in rollout.turns]
        void = [turn for turn in turns if turn.reward is None]
        if len(void) > self._config.max_void * len(turns):
            failures = [turn.failure.message for turn in void if turn.failure is not None]
            why = failures[0] if failures else "the recipe counts dollars, and the provider did not say what an answer took"
            raise WorkerUnavailable(
                f"{len(void)} of {len(turns)} rollouts of iteration {iteration} were spoilt by the world (the first: {why}); "
                "nothing of it was learned. See that the workers answer and run the same command again: it goes on from here"
            )


def _check_prices(config: TrainConfig, pool: WorkerPool) -> None:
    """Before anything is paid: where dollars count, nothing could be learned of a worker without a price."""
    unknown = [card.name for card in pool.cards if card.prompt_usd is None or card.completion_usd is None]
    if unknown and (config.per_usd or config.budgets_usd):
        raise ConfigError(
            f"the recipe counts dollars, and the price of {', '.join(unknown)} is unknown: set prompt_usd_per_million and "
            "completion_usd_per_million in the pool file, or train without per_usd and budgets_usd"
        )


def _scored(group: RolloutGroup) -> list[Turn]:
    return [turn for rollout in group.rollouts for turn in rollout.turns if turn.reward is not None]


def _seed(seed: int, iteration: int) -> int:
    return random.Random(f"sampling {seed} {iteration}").getrandbits(63)


def _line(iteration: int, group: RolloutGroup) -> dict[str, Any]:
    """A group as one line of ``groups.jsonl``: enough to re-derive every figure of the run."""
    return {
        "iteration": iteration,
        "problem": group.problem.id,
        "kind": group.problem.kind,
        "pool": [card.name for card in group.brief.cards],
        "forced_prefix": group.forced_prefix,
        "draft": group.draft,
        "rollouts": [
            [
                {
                    "text": turn.generation.text,
                    "correct": None if turn.verdict is None else turn.verdict.correct,
                    "reward": turn.reward,
                    "advantage": turn.advantage,
                    "failure": None if turn.failure is None else turn.failure.kind,
                    "cost_usd": turn.transcript.usage.cost_usd,
                }
                for turn in rollout.turns
            ]
            for rollout in group.rollouts
        ],
    }
