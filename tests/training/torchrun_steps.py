"""What every process of ``test_two_processes_learn_as_one`` does: ``python -m tests.training.torchrun_steps FOLDER``.

Two processes learn with whole weights, then two with sharded ones, each pair in a folder of its own. They are told who they are
as torchrun tells them, and are forks of one process, because loading the libraries takes longer than all that they do.
"""

import asyncio
import hashlib
import json
import os
import pickle
import socket
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from accelerate.state import AcceleratorState, DistributedType, PartialState
from torch.distributed.fsdp import FSDPModule
from torch.distributed.tensor import DTensor

from podium.errors import BudgetExceeded
from podium.policies.local import LocalPolicy
from podium.training.learner_config import LearnerConfig
from podium.training.rows import TrainingRow, draft_rows, rows_of
from podium.training.trainer import Engine
from podium.training.trl_engine import TrlEngine
from tests.training import tiny

PROCESSES = 2
ITERATIONS = 2
ROLLOUTS = 6
ENTROPY = {"whole": 0.1, "sharded": 0.0}
DRAFT_SFT_WEIGHT = 0.2
CONFIG = LearnerConfig(learning_rate=2e-3)
OPTIONS = {"use_cpu": True, "bf16": False, "gradient_checkpointing": False, "per_device_train_batch_size": 4}
SHARDED = {
    "fsdp": True,
    "fsdp_config": {
        "fsdp_version": 2,
        "auto_wrap_policy": "TRANSFORMER_BASED_WRAP",
        "transformer_layer_cls_to_wrap": ["Qwen2DecoderLayer"],
        "state_dict_type": "FULL_STATE_DICT",
    },
    "gradient_checkpointing": True,
    "per_device_train_batch_size": 1,
}
"""As in the paper's recipe, as far as a CPU can."""
SAMPLED_AT_ONCE = 4


def main(folder: Path, weights: str) -> None:
    """Two iterations over the gym; the leading process is stopped by its budget in the third."""
    torch.set_num_threads(1)
    if weights == "sharded":
        _pretend_to_have_gpus()
    dialect = LocalPolicy.load(folder / "start").dialect
    options = {**OPTIONS, **(SHARDED if weights == "sharded" else {})}
    engine = TrlEngine(
        str(folder / "start"),
        dialect,
        CONFIG,
        iterations=ITERATIONS,
        rollouts=3 * ROLLOUTS,
        options=options,
        sampled_at_once=SAMPLED_AT_ONCE,
    )
    sampled: list[list[int]] = []
    original = engine._trainer.sampled

    def recorded(prompts: Sequence[Sequence[int]], n: int) -> tuple[list[list[int]], list[list[float]]]:
        sampled.extend(list(prompt) for prompt in prompts)
        return original(prompts, n)

    engine._trainer.sampled = recorded  # type: ignore[method-assign]
    whole_gradients: list[int] = []
    step = engine._trainer.training_step

    def watched(model: torch.nn.Module, *given: Any) -> torch.Tensor:
        loss: torch.Tensor = step(model, *given)
        whole_gradients.append(_whole_gradients(model))
        return loss

    engine._trainer.training_step = watched
    try:
        with engine:
            if engine.leads:
                _lead(engine, folder, ENTROPY[weights])
            engine.follow()
    except BudgetExceeded:
        assert engine.leads
    end, held = {}, 0
    for name, parameter in engine._trainer.accelerator.unwrap_model(engine._trainer.model).named_parameters():
        value = parameter.detach()
        held += value.to_local().numel() if isinstance(value, DTensor) else value.numel()
        end[name] = value.full_tensor() if isinstance(value, DTensor) else value
    digest = hashlib.sha256(b"".join(value.numpy().tobytes() for value in end.values())).hexdigest()
    if engine.leads:
        torch.save(end, folder / "end.pt")
    rank = engine._trainer.accelerator.process_index
    moments = sum(
        (value.to_local() if isinstance(value, DTensor) else value).numel()
        for state in engine._trainer.optimizer.state.values()
        for name, value in state.items()
        if name != "step"
    )
    seen = {"weights": digest, "sampled": sampled, "held": held, "moments": moments, "whole_gradients": whole_gradients}
    (folder / f"process{rank}.json").write_text(json.dumps(seen), encoding="utf-8")


def _whole_gradients(model: torch.nn.Module) -> int:
    """Numbers of gradients that this process keeps whole between micro-batches, though their weights are shared out."""
    kept = 0
    for module in model.modules():
        if isinstance(module, FSDPModule):
            group = module._get_fsdp_state()._fsdp_param_group
            for each in group.fsdp_params if group is not None else ():
                unsharded = each.unsharded_accumulated_grad
                kept += 0 if unsharded is None else unsharded.numel()
    return kept


def _lead(engine: Engine, folder: Path, entropy: float) -> None:
    learned: list[tuple[list[TrainingRow], list[TrainingRow]]] = []
    reports = []
    for iteration in range(ITERATIONS):
        engine.seed(iteration)
        # Three questions for two processes, one of them with a forced prefix, one rollout of each spoilt by the world.
        drawn = tiny.tasks(iteration, questions=3, spoilt=(4,), opened=1)
        groups = asyncio.run(tiny.collected(engine, drawn, ROLLOUTS))
        rows, drafts = (
            rows_of(groups, engine.pieces),
            draft_rows([(g.brief, g.draft) for g in groups], engine.prompt_ids, engine.pieces),
        )
        reports.append(
            engine.learn(rows, entropy=entropy, drafts=drafts, draft_sft_weight=DRAFT_SFT_WEIGHT, held=(), seed=iteration)
        )
        learned.append((rows, drafts))
    (folder / "rows.pickle").write_bytes(pickle.dumps(learned))
    (folder / "reports.json").write_text(json.dumps(reports), encoding="utf-8")
    engine.save(folder / "end", version="end")
    raise BudgetExceeded("the cap is reached")


def _pretend_to_have_gpus() -> None:
    """PyTorch shards weights over CPU processes as well; accelerate offers it to GPUs only."""
    original = AcceleratorState.__init__

    def init(self: AcceleratorState, *arguments: Any, **named: Any) -> None:
        if not AcceleratorState._shared_state:
            PartialState(cpu=True)
            PartialState._shared_state["distributed_type"] = DistributedType.MULTI_GPU
        original(self, *arguments, **named)

    AcceleratorState.__init__ = init


def launch(folder: Path, weights: str) -> None:
    """Both processes of a pair. Raises :class:`SystemExit` where one of them fails."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for rank in range(PROCESSES):
        if os.fork() == 0:
            told = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": PROCESSES, "LOCAL_WORLD_SIZE": PROCESSES}
            os.environ |= {name: str(value) for name, value in told.items()}
            os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
            try:
                main(folder, weights)
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            sys.stdout.flush()
            os._exit(0)
    for _ in range(PROCESSES):
        _, status = os.wait()
        if status:
            sys.exit(1)  # the other one, which waits for its twin, is ended by who started all


if __name__ == "__main__":
    for kind in ENTROPY:
        launch(Path(sys.argv[1]) / kind, kind)
