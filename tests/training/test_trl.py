"""TRL handed the same rows does what the reference engine does, in one process and in two."""

import asyncio
import contextlib
import json
import math
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

# Where nothing may be skipped, the imports below fail instead.
if find_spec("trl") is None and not os.environ.get("PODIUM_NO_SKIPS"):
    pytest.skip("TRL is not installed, so the GPU path can not be tested: pip install -e '.[trl]'", allow_module_level=True)

import torch
from typer.testing import CliRunner

from podium.cli.app import app
from podium.errors import CheckpointError, ConfigError
from podium.policies.local import Dialect, LocalPolicy
from podium.policies.qwen2 import Qwen2, Qwen2Config
from podium.policies.tokens import Tokens
from podium.recipes.gym_start import written_for
from podium.training.batch import MicroBatch, distinct_prompts, micro_batches
from podium.training.checkpoint import RunFolder
from podium.training.config import TrainConfig
from podium.training.grpo import choice_entropy, surrogate
from podium.training.learner import Learner, backward
from podium.training.learner_config import LearnerConfig
from podium.training.monitor import Iteration
from podium.training.rollout import RolloutGroup
from podium.training.row_trainer import RowTrainer
from podium.training.row_trainer import micro_batches as trl_batches
from podium.training.rows import TrainingRow, draft_rows, rows_of
from podium.training.trainer import Trainer
from podium.training.trl_engine import TrlEngine
from podium.training.warm_start import WarmStart
from tests.training import tiny, torchrun_steps

pytestmark = [
    # What the libraries announce to each other is not ours to fix.
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]

CPU = {"use_cpu": True, "bf16": False, "gradient_checkpointing": False, "per_device_train_batch_size": 3}


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """On a busy machine two threads that wait for each other are several times slower than one."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def policy() -> LocalPolicy:
    return tiny.taught(steps=120)


@pytest.fixture(scope="module")
def groups(policy: LocalPolicy) -> list[RolloutGroup]:
    """4 questions x 8 rollouts: one group with a forced prefix, rollout 3 of every group spoilt by the world."""
    policy.generator = torch.Generator().manual_seed(1)
    return asyncio.run(tiny.collected(policy, tiny.tasks(0, spoilt=(3,), opened=1), 8))


@pytest.fixture(scope="module")
def rows(policy: LocalPolicy, groups: list[RolloutGroup]) -> list[TrainingRow]:
    return rows_of(groups, _pieces(policy))


@pytest.fixture(scope="module")
def moved(policy: LocalPolicy) -> LocalPolicy:
    """The policy some way on, so that the ratio to the recorded log-probabilities is not 1 and is clipped here and there."""
    model = deepcopy(policy.model)
    noise = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=noise) * 0.08)
    return LocalPolicy(model, policy.tokens, policy.dialect)


def _pieces(policy: LocalPolicy) -> Callable[[Sequence[int]], list[str]]:
    return lambda ids: [policy.tokens.decode([token]) for token in ids]


def _engine(policy: LocalPolicy, folder: Path, config: LearnerConfig | None = None, **options: object) -> TrlEngine:
    policy.save(folder)
    return TrlEngine(
        str(folder), policy.dialect, config or LearnerConfig(), iterations=4, rollouts=32, options={**CPU, **options}
    )


def test_the_recorded_batch_has_what_could_go_wrong(
    groups: list[RolloutGroup], rows: list[TrainingRow], moved: LocalPolicy
) -> None:
    rewards = [turn.reward for group in groups for rollout in group.rollouts for turn in rollout.turns]
    assert rewards.count(None) == 4
    assert len(rows) == 28
    assert {0.5, 1.0} <= set(rewards)
    assert [bool(group.forced_prefix) for group in groups] == [True, False, False, False]
    assert len({len(row.completion_ids) for row in rows}) > 1
    assert len({len(row.prompt_ids) for row in rows}) > 1
    ratios: list[torch.Tensor] = []
    _reference(moved, rows, ratios=ratios)
    assert (torch.cat(ratios) > 1.2).any()
    assert (torch.cat(ratios) < 0.8).any()


def test_masks_and_advantages_are_those_of_the_reference_engine(rows: list[TrainingRow]) -> None:
    _, owners = distinct_prompts(rows)
    expected = sorted(
        (tokens[mask].tolist(), logprobs[mask].tolist(), float(advantage), choice.nonzero().flatten().tolist(), int(workers))
        for batch in micro_batches(rows, owners, tokens=100)
        for tokens, mask, logprobs, advantage, choice, workers in zip(
            batch.tokens, batch.mask, batch.logprobs, batch.advantage, batch.choice, batch.workers, strict=True
        )
    )
    batches = trl_batches(rows, size=3, processes=2, pad=0)
    assert len(batches) == 10  # 28 rows and 2 that weigh nothing
    seen, prompts = [], []
    for batch in batches:
        for i, weight in enumerate(batch["weight"].tolist()):
            mask, prompt_mask = batch["completion_mask"][i].bool(), batch["prompt_mask"][i].bool()
            assert mask.tolist() == sorted(mask.tolist(), reverse=True)
            assert prompt_mask.tolist() == sorted(prompt_mask.tolist())
            if weight:
                assert weight == pytest.approx(1 / 28)
                prompts.append(tuple(batch["prompt_ids"][i][prompt_mask].tolist()))
                seen.append(
                    (
                        batch["completion_ids"][i][mask].tolist(),
                        batch["old_per_token_logps"][i][mask].tolist(),
                        float(batch["advantages"][i]),
                        batch["choice"][i].nonzero().flatten().tolist(),
                        int(batch["workers"][i]),
                    )
                )
    assert sorted(seen) == expected
    assert sorted(prompts) == sorted(row.prompt_ids for row in rows)


def _reference(
    policy: LocalPolicy,
    rows: Sequence[TrainingRow],
    *,
    entropy: float = 0.0,
    drafts: Sequence[TrainingRow] = (),
    draft_sft_weight: float = 0.0,
    ratios: list[torch.Tensor] | None = None,
) -> dict[str, float]:
    """What the reference engine's loss comes to; the gradient is left on the model."""
    digits = torch.tensor(policy.tokens.worker_ids())
    totals = {"loss": 0.0, "choice_entropy": 0.0, "draft_loss": 0.0}

    def logprobs_of(logits: torch.Tensor, batch: MicroBatch) -> torch.Tensor:
        return logits.log_softmax(dim=-1).gather(2, batch.tokens[..., None])[..., 0]

    def loss(states: torch.Tensor, batch: MicroBatch) -> torch.Tensor:
        logits = policy.model.logits(states)
        logprobs = logprobs_of(logits, batch)
        if ratios is not None:
            ratios.append((logprobs - batch.logprobs).exp()[batch.mask].detach())
        value, bonus = surrogate(logprobs, batch, clip=0.2), choice_entropy(logits, batch, digits)
        totals["loss"] += float(value)
        totals["choice_entropy"] += float(bonus)
        return value - entropy * bonus

    def likelihood(states: torch.Tensor, batch: MicroBatch) -> torch.Tensor:
        logprobs = logprobs_of(policy.model.logits(states), batch)
        tokens = sum(len(row.completion_ids) - len(row.choices) for row in drafts)
        value = -(logprobs * (batch.mask & ~batch.choice)).sum() / tokens
        totals["draft_loss"] += float(value)
        return draft_sft_weight * value

    policy.model.zero_grad()
    backward(policy.model, rows, loss, 200)
    if drafts:
        backward(policy.model, drafts, likelihood, 200)
    return totals


@pytest.mark.parametrize(
    ("entropy", "draft_sft_weight", "drawn"), [(0.0, 0.0, False), (0.3, 0.0, False), (0.3, 0.5, False), (0.3, 0.5, True)]
)
def test_loss_and_gradient_are_those_of_the_reference_engine(
    moved: LocalPolicy,
    groups: list[RolloutGroup],
    rows: list[TrainingRow],
    entropy: float,
    draft_sft_weight: float,
    drawn: bool,
    tmp_path: Path,
) -> None:
    if drawn:  # the worker ids of every third row are not the policy's own
        rows = [
            replace(row, logprobs=tuple(math.nan if n in row.choices else value for n, value in enumerate(row.logprobs)))
            if number % 3 == 0
            else row
            for number, row in enumerate(rows)
        ]
        assert any(math.isnan(value) for row in rows for value in row.logprobs)
    drafts = draft_rows([(g.brief, g.draft) for g in groups], moved.prompt_ids, _pieces(moved)) if draft_sft_weight else []
    assert len(drafts) == (1 if draft_sft_weight else 0)
    expected = _reference(moved, rows, entropy=entropy, drafts=drafts, draft_sft_weight=draft_sft_weight)
    with _engine(moved, tmp_path) as engine:
        report = engine.backward(rows, entropy=entropy, drafts=drafts, draft_sft_weight=draft_sft_weight)
        theirs = dict(engine._trainer.model.named_parameters())
    assert report["loss"] == pytest.approx(expected["loss"], abs=1e-5)
    assert report["choice_entropy"] == pytest.approx(expected["choice_entropy"] if entropy else 0.0, abs=1e-5)
    assert report.get("draft_loss", 0.0) == pytest.approx(expected["draft_loss"], abs=1e-5)
    for name, parameter in moved.model.named_parameters():
        assert parameter.grad is not None
        assert (theirs[name].grad - parameter.grad).norm() <= 1e-4 * parameter.grad.norm(), name


def test_what_it_writes_is_scored_as_the_reference_engine_scores_it(policy: LocalPolicy, tmp_path: Path) -> None:
    drawn = tiny.tasks(1, opened=2)
    with _engine(policy, tmp_path) as engine:
        briefs, forced_prefixes = [task.brief for task in drawn], [task.forced_prefix for task in drawn]
        engine.seed(7)
        written = engine.write_many(briefs, 4, forced_prefixes)
        engine.seed(7)
        assert engine.write_many(briefs, 4, forced_prefixes) == written
        engine.seed(8)
        assert engine.write_many(briefs, 4, forced_prefixes) != written
        rows = rows_of(asyncio.run(tiny.collected(engine, drawn, 4)), engine.pieces)
    assert [[one.text.startswith(tiny.OPENING) for one in row] for row in written[:2]] == [[True] * 4] * 2
    assert all(one.token_ids[-1] == policy.tokens.end for row in written for one in row if one.finish_reason == "stop")
    assert all(
        one.text == task.forced_prefix + policy.tokens.decode(one.token_ids)
        for task, row in zip(drawn, written, strict=True)
        for one in row
    )
    assert [row.prompt_ids for row in rows[::4]] == [tuple(policy.prompt_ids(task.brief, task.forced_prefix)) for task in drawn]
    assert all(len(row.completion_ids) == len(row.logprobs) for row in rows)
    ratios: list[torch.Tensor] = []
    _reference(policy, rows, ratios=ratios)
    assert torch.cat(ratios) == pytest.approx(torch.ones(len(torch.cat(ratios))), abs=1e-4)


def test_a_restored_engine_goes_on_as_if_it_had_not_stopped(policy: LocalPolicy, rows: list[TrainingRow], tmp_path: Path) -> None:
    config = LearnerConfig(learning_rate=1e-3, minibatches=2)
    with _engine(policy, tmp_path / "start", config) as engine:
        engine.learn(rows, entropy=0.0, drafts=[], draft_sft_weight=0.0, seed=0)
        engine.save(tmp_path / "state", version="gym@1")
        expected = engine.learn(rows, entropy=0.0, drafts=[], draft_sft_weight=0.0, seed=1)
    stored = LocalPolicy.load(tmp_path / "state")
    assert stored.version == "gym@1"
    assert stored.dialect == policy.dialect
    assert not torch.equal(stored.model.model.embed_tokens.weight, policy.model.model.embed_tokens.weight)
    with _engine(policy, tmp_path / "start", config) as engine:
        engine.restore(tmp_path / "state")
        assert engine.learn(rows, entropy=0.0, drafts=[], draft_sft_weight=0.0, seed=1) == expected
        with pytest.raises(CheckpointError, match="already worked"):
            engine.restore(tmp_path / "state")
    with _engine(policy, tmp_path / "start", config) as engine, pytest.raises(CheckpointError, match="holds no state"):
        engine.restore(tmp_path)


async def test_the_trainer_runs_on_it_and_goes_on(policy: LocalPolicy, tmp_path: Path) -> None:
    """The whole loop, with second rounds, whose prompts are all different."""
    config = TrainConfig(
        name="tiny",
        problems=lambda: tiny.PROBLEMS,
        pool=tiny.pool,
        verifier=tiny.COLLECTOR.verifier,
        warm_start=WarmStart(problems=lambda: tiny.PROBLEMS, write=written_for),
        syntax=tiny.LANGUAGE,
        iterations=3,
        problems_per_step=3,
        group_size=4,
        recursive=0.7,
        learner=LearnerConfig(minibatches=2),
    )
    seen: list[Iteration] = []
    for until in (2, 3):
        folder = RunFolder(tmp_path / "run", {"name": "tiny"})
        with _engine(policy, tmp_path / "start", config.learner) as engine:
            part = replace(config, iterations=until)
            await Trainer(part, engine, engine, tiny.pool(), folder, on_iteration=lambda one, _: seen.append(one)).run()
    assert [one.iteration for one in seen] == [0, 1, 2]
    assert all(one.pass_through is not None for one in seen)
    assert folder.done() == 3


PRETRAINED = """
from dataclasses import replace
from podium.training.exploration import Exploration
from podium.training.learner_config import LearnerConfig
from podium.training.pretrained import Pretrained
from podium.training.schedule import Schedule
from podium.workflow.syntax import WorkflowSyntax
from tests.training.gym_runs import small_config

CPU = {{"use_cpu": True, "bf16": False, "gradient_checkpointing": False, "per_device_train_batch_size": 2}}

def config(seed):
    return replace(
        small_config(iterations=2, seed=seed), name="pretrained", problems_per_step=2, group_size=2, exploration=Exploration(),
        syntax=WorkflowSyntax(few_shot="none"), pretrained=Pretrained(model="{model}", max_tokens=8, options=CPU),
    )

def opened(seed):
    return replace(config(seed), exploration=Exploration(forced_prefix=Schedule(start=1.0)))
"""


def test_the_command_line_trains_a_published_model(tmp_path: Path) -> None:
    """A model with random weights stands in for it; what it writes is no workflow, and the run goes through all the same."""
    tokens = Tokens.trained([problem.question for problem in tiny.PROBLEMS], vocab_size=300)
    size = Qwen2Config(vocab_size=len(tokens), hidden_size=48, intermediate_size=96, num_hidden_layers=2)
    model = Qwen2(replace(size, max_position_embeddings=8192), seed=0)
    LocalPolicy(model, tokens, Dialect()).save(tmp_path / "model")
    recipe = tmp_path / "recipe.py"
    recipe.write_text(PRETRAINED.format(model=tmp_path / "model"))
    result = CliRunner().invoke(app, ["train", str(recipe), "--out", str(tmp_path / "runs")])
    assert result.exit_code == 0, result.output
    folder = tmp_path / "runs" / "seed-0"
    assert [json.loads(line)["iteration"] for line in (folder / "metrics.jsonl").read_text().splitlines()] == [0, 1]
    assert LocalPolicy.load(folder / "policy").version == "pretrained, seed 0, 2 iterations"
    refused = CliRunner().invoke(app, ["train", f"{recipe}:opened", "--out", str(tmp_path / "other")])
    assert refused.exit_code == 2
    assert "leave out forced_prefix" in refused.output


def test_what_the_recipe_decides_is_no_option(policy: LocalPolicy, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="beta, loss_type: the recipe decides"):
        _engine(policy, tmp_path, loss_type="dapo", beta=0.1)


def test_completions_are_written_in_batches_of_bounded_size(policy: LocalPolicy, tmp_path: Path) -> None:
    drawn = tiny.tasks(1, questions=3, opened=1)
    with _engine(policy, tmp_path) as engine:
        engine._trainer.sampled_at_once = 5
        sizes: list[int] = []
        generate = engine._trainer.model.generate

        def watched(**given: Any) -> Any:
            sizes.append(len(given["input_ids"]))
            return generate(**given)

        engine._trainer.model.generate = watched
        engine.seed(7)
        written = engine.write_many([task.brief for task in drawn], 4, [task.forced_prefix for task in drawn])
        assert sizes == [5, 5, 2]
        assert [len(row) for row in written] == [4] * 3
        assert len({one.text for row in written for one in row}) > 3
        rows = rows_of(asyncio.run(tiny.collected(engine, drawn, 4)), engine.pieces)
    ratios: list[torch.Tensor] = []
    _reference(policy, rows, ratios=ratios)
    assert torch.cat(ratios) == pytest.approx(torch.ones(len(torch.cat(ratios))), abs=1e-4), "each is scored under its own prompt"


def test_no_bonus_where_no_process_holds_the_weights(
    policy: LocalPolicy, rows: list[TrainingRow], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RowTrainer, "sharded", True)
    with _engine(policy, tmp_path) as engine, pytest.raises(ConfigError, match="FSDP and ZeRO-3"):
        engine.learn(rows, entropy=0.1, drafts=[], draft_sft_weight=0.0, seed=0)


@pytest.fixture(scope="module")
def two_processes(policy: LocalPolicy, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What two processes with whole weights and two with sharded ones left, each pair in its folder."""
    folder = tmp_path_factory.mktemp("two")
    for weights in torchrun_steps.ENTROPY:
        policy.save(folder / weights / "start")
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.training.torchrun_steps", str(folder)],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=600)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # also one whose twin has failed
        process.wait()
    assert process.returncode == 0, output
    return folder


@pytest.mark.parametrize("weights", ["whole", "sharded"])
def test_two_processes_learn_as_one(policy: LocalPolicy, two_processes: Path, weights: str) -> None:
    tmp_path = two_processes / weights
    first, second = (json.loads((tmp_path / f"process{rank}.json").read_text()) for rank in range(2))
    assert first["weights"] == second["weights"]
    parameters = sum(parameter.numel() for parameter in policy.model.parameters())
    assert first["held"] + second["held"] == parameters * (1 if weights == "sharded" else 2)
    assert [one["moments"] for one in (first, second)] == [2 * one["held"] for one in (first, second)]
    assert len(first["whole_gradients"]) > torchrun_steps.ITERATIONS, "a step has several micro-batches"
    assert set(first["whole_gradients"] + second["whole_gradients"]) == {0}, "a whole gradient would not fit beside the rest"
    reports = json.loads((tmp_path / "reports.json").read_text())
    assert len(reports) == torchrun_steps.ITERATIONS
    assert all(torch.tensor(list(report.values())).isfinite().all() for report in reports)
    assert all(report["gradient_norm"] > 0 for report in reports)

    # Three questions for two processes: two and one, and the odd place is filled with a group that is thrown away.
    n = torchrun_steps.ROLLOUTS
    for one in (first, second):
        assert len(one["sampled"]) == torchrun_steps.ITERATIONS * 2 * n
        assert all(one["sampled"][at : at + n] == [one["sampled"][at]] * n for at in range(0, len(one["sampled"]), n))
    assert {tuple(p) for p in first["sampled"]}.isdisjoint({tuple(p) for p in second["sampled"]})

    # The reference engine, given what the two collected, ends where they ended.
    model = deepcopy(policy.model)
    learner = Learner(model, torchrun_steps.CONFIG, policy.tokens.worker_ids(), steps=torchrun_steps.ITERATIONS)
    start = dict(policy.model.named_parameters())
    collected: list[tuple[list[TrainingRow], list[TrainingRow]]] = pickle.loads((tmp_path / "rows.pickle").read_bytes())  # noqa: S301 - written by our own process
    for (rows, drafts), report in zip(collected, reports, strict=True):
        assert 3 * (n - 1) <= len(rows) < 3 * n  # a spoilt rollout is void unless its workflow was no workflow
        entropy = torchrun_steps.ENTROPY[weights]
        mine = learner.step(rows, entropy=entropy, drafts=drafts, draft_sft_weight=torchrun_steps.DRAFT_SFT_WEIGHT)
        for name in report if entropy else report.keys() - {"choice_entropy"}:
            assert report[name] == pytest.approx(mine[name], rel=1e-3, abs=1e-5), name
    end = torch.load(tmp_path / "end.pt", weights_only=True)
    for name, parameter in model.named_parameters():
        moved = parameter - start[name]
        assert (end[name] - start[name] - moved).norm() <= 0.02 * moved.norm(), name
    assert (tmp_path / "end" / "model.safetensors").exists()
