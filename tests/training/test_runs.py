"""Whole runs of a small policy: it learns, it goes on after a crash as if nothing had happened, and it knows when to stop."""

import asyncio
import json
import math
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
import torch

from podium.errors import CheckpointError, ConfigError, TrainingCollapsed, WorkerUnavailable
from podium.pools.open import open_pool
from podium.recipes import gym
from podium.training import learner
from podium.training.advantage import ADVANTAGES
from podium.training.batch import MicroBatch
from podium.training.checkpoint import RunFolder
from podium.training.config import TrainConfig
from podium.training.engine import ReferenceEngine
from podium.training.exploration import Exploration
from podium.training.grpo import surrogate
from podium.training.monitor import CollapseRule, Iteration
from podium.training.recipe import fingerprint
from podium.training.rollout import RolloutGroup
from podium.training.rows import TrainingRow
from podium.training.run import load_recipe, train
from podium.training.sampler import Pools
from podium.training.schedule import Schedule
from podium.training.strategies import emergence
from podium.training.trainer import Trainer
from podium.types import Call, Completion
from podium.workers.pool import Member, WorkerPool
from tests.training.gym_runs import engine_for, gym_pool, small_config


async def run(config: TrainConfig, path: Path, **more: Any) -> tuple[ReferenceEngine, list[Iteration]]:
    engine, seen = engine_for(config), list[Iteration]()

    def on_iteration(iteration: Iteration, groups: Sequence[RolloutGroup]) -> None:
        seen.append(iteration)

    pool = more.pop("pool", None) or gym_pool()
    folder = RunFolder(path, fingerprint(config))
    await Trainer(config, engine, engine_for(config), pool, folder, on_iteration=on_iteration, **more).run()
    return engine, seen


def gain(seen: Sequence[Iteration]) -> float:
    """How much more often a valid workflow is right at the end than at the beginning."""
    first, last = seen[:4], seen[-4:]
    return sum(i.correct_given_valid for i in last) / len(last) - sum(i.correct_given_valid for i in first) / len(first)


@pytest.mark.parametrize("broken", [None, "sign", "mask"])
async def test_it_learns_and_would_not_with_a_broken_sign_or_mask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str | None
) -> None:
    config = small_config(iterations=16)
    if broken == "sign":
        normalised = ADVANTAGES["group_normalised"]
        monkeypatch.setitem(
            ADVANTAGES, "group_normalised", lambda rewards, successes: [-a for a in normalised(rewards, successes)]
        )
    if broken == "mask":
        # The first token of every row only: the one that names the kind of question.
        monkeypatch.setattr(
            learner, "surrogate", lambda logprobs, batch, clip: surrogate(logprobs, _first_only(batch), clip=clip)
        )
    # What a broken run does to the format is its own affair: no rule stops it before its sixteen iterations are over.
    _, seen = await run(config, tmp_path / "run", rule=CollapseRule(patience=99))
    if broken is None:
        assert gain(seen) > 0.1
    else:
        assert gain(seen) < 0.05


def _first_only(batch: MicroBatch) -> MicroBatch:
    mask = torch.zeros_like(batch.mask)
    mask[:, 0] = True
    return replace(batch, mask=mask)


class Crash(BaseException):
    """What a kill looks like from inside: nothing gets to clean up."""


async def test_a_run_that_crashed_goes_on_as_if_it_had_not(tmp_path: Path) -> None:
    config = small_config(iterations=5)
    engine, _ = await run(config, tmp_path / "whole")
    calls = 0

    class Crashes:
        def __init__(self, inner: Any) -> None:
            self._inner = inner

        async def __call__(self, call: Call) -> Completion:
            nonlocal calls
            calls += 1
            if calls in (150, 420, 700):
                raise Crash
            completion: Completion = await self._inner(call)
            return completion

    crashed = 0
    while True:
        async with open_pool(list(gym_pool()), journal=tmp_path / "calls.db", run="small") as pool:
            crashing = WorkerPool([Member(worker=Crashes(m.worker), card=m.card) for m in pool.workers])
            try:
                again, _ = await run(config, tmp_path / "crashed", pool=crashing)
            except BaseException as error:
                if not isinstance(error, Crash) and "Crash" not in repr(error):
                    raise
                crashed += 1
            else:
                break
    assert crashed >= 2
    for name, weight in engine.policy.model.named_parameters():
        assert torch.equal(weight, again.policy.model.get_parameter(name)), name
    assert _lines(tmp_path / "whole" / "groups.jsonl") == _lines(tmp_path / "crashed" / "groups.jsonl")
    assert len(_lines(tmp_path / "crashed" / "metrics.jsonl")) == 5


async def test_a_collapse_is_noticed_as_early_in_a_run_that_was_killed(tmp_path: Path) -> None:
    config = small_config(iterations=6)
    rule = CollapseRule(entropy_bits=9.0, correct=1.1, patience=4)
    with pytest.raises(TrainingCollapsed):
        await run(config, tmp_path / "whole", rule=replace(rule, streaks={}))

    def stop(iteration: Iteration, groups: Sequence[RolloutGroup]) -> None:
        if iteration.iteration == 2:
            raise Crash

    folder = RunFolder(tmp_path / "killed", fingerprint(config))
    with pytest.raises(Crash):
        await Trainer(
            config, engine_for(config), engine_for(config), gym_pool(), folder, rule=replace(rule, streaks={}), on_iteration=stop
        ).run()
    with pytest.raises(TrainingCollapsed, match="after iteration 3"):
        await run(config, tmp_path / "killed", rule=replace(rule, streaks={}))
    assert _lines(tmp_path / "whole" / "groups.jsonl") == _lines(tmp_path / "killed" / "groups.jsonl")


async def test_a_faulty_pool_fails_in_the_same_places_when_a_killed_run_goes_on(tmp_path: Path) -> None:
    config = replace(small_config(iterations=3), pool=gym.unreliable)
    engine, seen = await run(config, tmp_path / "whole", pool=gym.unreliable())
    assert 0.05 < sum(each.void for each in seen) / len(seen) < 0.4, "of two attempts both fail in one call of eleven"
    left = iter((90, 200, 150))
    kills = 0
    while True:
        async with open_pool(list(gym.unreliable()), journal=tmp_path / "calls.db", run="small") as pool:
            mortal = _mortal(pool.workers, next(left, None))
            try:
                again, _ = await run(config, tmp_path / "killed", pool=mortal)
                break
            except BaseException as error:
                if not isinstance(error, Crash) and "Crash" not in repr(error):
                    raise
                kills += 1
    assert kills == 3
    assert _without_void_costs(tmp_path / "whole") == _without_void_costs(tmp_path / "killed")
    for name, weight in engine.policy.model.named_parameters():
        assert torch.equal(weight, again.policy.model.get_parameter(name)), name


def _without_void_costs(run: Path) -> list[dict[str, Any]]:
    """The groups of a run. How far steps beside a failed one had come when they were stopped is a matter of time, and void."""
    lines = _lines(run / "groups.jsonl")
    for turn in (turn for line in lines for rollout in line["rollouts"] for turn in rollout):
        turn["cost_usd"] = None if turn["reward"] is None else turn["cost_usd"]
    return lines


def _mortal(pool: WorkerPool, calls: int | None) -> WorkerPool:
    """``pool``, of which the process dies at the call after so many; None lives for ever."""
    made = 0

    def dying(worker: Any) -> Any:
        async def asked(call: Call) -> Completion:
            nonlocal made
            made += 1
            if made == calls:
                raise Crash
            completion: Completion = await worker(call)
            return completion

        return asked

    return WorkerPool([Member(worker=dying(m.worker), card=m.card) for m in pool])


async def test_a_state_of_another_version_is_refused(tmp_path: Path) -> None:
    config = small_config(iterations=1)
    await run(config, tmp_path)
    state = tmp_path / "state" / "000001" / "state.json"
    stored = json.loads(state.read_text())
    del stored["streaks"]
    state.write_text(json.dumps(stored))
    with pytest.raises(CheckpointError, match=r"not stored by this version .*streaks"):
        await run(config, tmp_path)


async def test_every_verdict_is_written_down_and_learned_from(tmp_path: Path) -> None:
    """Also where a right answer earns less than a wrong one."""
    config = replace(small_config(iterations=1), per_usd=5000.0, advantage="pass_at_4")
    _, [seen] = await run(config, tmp_path)
    turns = [turn for line in _lines(tmp_path / "groups.jsonl") for [turn] in line["rollouts"]]
    right = [turn for turn in turns if turn["correct"]]
    assert len(right) / len(turns) == pytest.approx(seen.correct)
    assert seen.correct > 0.1
    assert any(turn["reward"] < 0.5 for turn in right)
    assert all((turn["correct"] is None) == (turn["failure"] is not None) for turn in turns)
    assert emergence(tmp_path).right == pytest.approx((seen.correct,))
    mixed = 0
    for line in _lines(tmp_path / "groups.jsonl"):
        advantages = {
            right: [turn["advantage"] for [turn] in line["rollouts"] if turn["correct"] is right] for right in (True, False)
        }
        # With fewer than four others, any four rollouts have a right one among them, and nobody adds to that.
        if all(advantages.values()) and len(line["rollouts"]) - len(advantages[True]) >= 4:
            mixed += 1
            assert fmean(advantages[True]) > max(0, fmean(advantages[False]))
    assert mixed > 2


@pytest.mark.parametrize("terms", [{"per_usd": 1.0}, {"budgets_usd": (0.1,)}])
async def test_where_dollars_count_every_price_must_be_known_beforehand(tmp_path: Path, terms: dict[str, Any]) -> None:
    asked = []

    async def unpriced(call: Call) -> Completion:
        asked.append(call)
        raise AssertionError("nothing may be asked")

    first, *rest = gym_pool()
    pool = WorkerPool([Member(worker=unpriced, card=replace(first.card, prompt_usd=None)), *rest])
    with pytest.raises(ConfigError, match=f"price of {first.name} is unknown"):
        await run(replace(small_config(iterations=1), **terms), tmp_path, pool=pool)
    assert asked == []


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


async def test_workers_without_lasting_names_can_not_be_drawn(tmp_path: Path) -> None:
    config = replace(small_config(iterations=1), pools=Pools(sizes=(3,), pseudonyms=True))
    with pytest.raises(ConfigError, match="leave out drawn_workers or pseudonyms"):
        await run(config, tmp_path / "run")


async def test_a_run_draws_workers_by_what_its_earlier_iterations_found(tmp_path: Path) -> None:
    """Three of twelve rollouts of each group are not the policy's choice, and what came of all of them is stored."""
    config = replace(small_config(iterations=2), exploration=Exploration(drawn_workers=Schedule(start=0.25, hold=1.0)))
    drawn: list[int] = []

    def count(seen: Iteration, groups: Sequence[RolloutGroup]) -> None:
        turns = [rollout.turns[0] for group in groups for rollout in group.rollouts]
        drawn.append(sum(any(map(math.isnan, turn.generation.logprobs)) for turn in turns))

    folder = RunFolder(tmp_path / "run", fingerprint(config))
    await Trainer(config, engine_for(config), engine_for(config), gym_pool(), folder, on_iteration=count).run()
    assert all(number > 12 for number in drawn)
    stored = folder.state()
    assert stored is not None
    counts = [sum(kept) for places in stored[1]["places"].values() for kept in places[0].values()]
    assert sum(counts) > 100


async def test_a_line_cut_off_by_a_crash_is_written_again(tmp_path: Path) -> None:
    config = small_config(iterations=2)
    await run(config, tmp_path)
    whole = (tmp_path / "groups.jsonl").read_text(encoding="utf-8")
    with (tmp_path / "groups.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"iteration": 2, "prob')
    await run(config, tmp_path)
    assert (tmp_path / "groups.jsonl").read_text(encoding="utf-8") == whole


async def test_another_recipe_may_not_go_on_in_the_same_folder(tmp_path: Path) -> None:
    await run(small_config(iterations=1), tmp_path)
    with pytest.raises(CheckpointError, match="seed"):
        await run(small_config(iterations=1, seed=1), tmp_path)


@pytest.mark.parametrize(
    "old",
    [
        "from podium.training.config import TrainConfig\ndef config(seed):\n    return TrainConfig(name='x', questions=4)\n",
        "from podium.workflow.language import Language\n",
        "from podium.types import Demands\n",
    ],
)
def test_a_recipe_with_old_names_says_where_the_new_ones_stand(tmp_path: Path, old: str) -> None:
    (tmp_path / "recipe.py").write_text(old)
    with pytest.raises(ConfigError, match=r"recipe\.py fails.*docs/changes_0_2\.md"):
        load_recipe(str(tmp_path / "recipe.py"), 0)


@pytest.mark.parametrize("share", [0.3, 1.0])
async def test_faults_of_the_world_are_never_scored(tmp_path: Path, share: float) -> None:
    class Faulty:
        def __init__(self, inner: Any) -> None:
            self._inner, self._calls = inner, 0

        async def __call__(self, call: Call) -> Completion:
            self._calls += 1
            if (self._calls * 7) % 10 < 10 * share:
                raise WorkerUnavailable("429")
            completion: Completion = await self._inner(call)
            return completion

    config = small_config(iterations=2)
    pool = WorkerPool([Member(worker=Faulty(m.worker), card=m.card) for m in gym_pool()])
    if share == 1.0:
        with pytest.raises(WorkerUnavailable, match="spoilt by the world"):
            await run(config, tmp_path, pool=pool)
        return
    _, seen = await run(config, tmp_path, pool=pool)
    assert seen[0].void > 0.1
    for line in _lines(tmp_path / "groups.jsonl"):
        for [turn] in line["rollouts"]:
            assert (turn["reward"] is None) == (turn["failure"] in ("WorkerUnavailable", "UpstreamFailed"))
            assert turn["advantage"] == 0 or turn["reward"] is not None


async def test_a_collapsed_run_is_stopped_and_says_why(tmp_path: Path) -> None:
    rule = CollapseRule(entropy_bits=9.0, correct=1.1, patience=2)
    with pytest.raises(TrainingCollapsed, match="one worker"):
        await run(small_config(iterations=4), tmp_path, rule=rule)
    assert len(_lines(tmp_path / "metrics.jsonl")) == 2


@pytest.mark.parametrize("kept", [False, True])
async def test_what_steps_see_is_kept_likely_where_the_recipe_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: bool
) -> None:
    free: set[str] = set()

    def learn(
        engine: ReferenceEngine, rows: Sequence[TrainingRow], *, drafts: Sequence[TrainingRow], **_: Any
    ) -> dict[str, float]:
        free.update(engine.pieces([draft.completion_ids[at] for draft in drafts for at in draft.choices]))
        return {}

    monkeypatch.setattr(ReferenceEngine, "learn", learn)
    config = small_config(iterations=1)
    exploration = replace(config.exploration, draft_sft_weight=Schedule(start=0.3), draft_access=kept)
    await run(replace(config, exploration=exploration), tmp_path / "run")
    assert free & set("0123"), "workers are always free to change"
    assert all(piece.isdecimal() for piece in free) == kept


def test_told_to_stop_the_start_is_left_at_its_next_step(tmp_path: Path) -> None:
    """It is made by a thread, which can not be cancelled and which the process waits for: Ctrl-C did nothing for minutes."""
    steps, is_told = [], threading.Event()

    async def stopped() -> None:
        loop = asyncio.get_running_loop()

        def on_step(step: int, _: float) -> None:
            steps.append(step)
            if step == 2:
                loop.call_soon_threadsafe(running.cancel)
                assert is_told.wait(60)

        running = asyncio.ensure_future(train(small_config(), tmp_path / "run", on_warm_start=on_step))
        with pytest.raises(asyncio.CancelledError):
            await running
        is_told.set()

    asyncio.run(stopped())
    assert steps == [0, 1, 2]
    assert not (tmp_path / "run" / "start").exists()
