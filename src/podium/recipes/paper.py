"""The paper's run: Qwen2.5-7B learns to conduct the workers of a pool file on 960 public problems. Two GPUs of 80 GB or more.

    podium train recipes/paper.py --estimate                                    what it would cost
    torchrun --nproc_per_node 2 -m podium train recipes/paper.py --max-usd 1500 run it, or go on with it
    torchrun --nproc_per_node 2 -m podium train recipes/paper.py:lora           an adapter instead of every weight

It wants ``pool.toml`` (docs/pool.md) in the folder it is started in, ``pip install 'podium[trl,data]'`` and vLLM. PODIUM_DATA
names a folder with local copies of the problems, else they come from the hub. Sections are those of arXiv 2512.04388.
"""

import os
from dataclasses import replace
from functools import cache
from pathlib import Path

from podium.tasks.benchmarks.mixes import PAPER_960, draw
from podium.tasks.benchmarks.registry import load
from podium.tasks.kinds import instructed
from podium.training.config import TrainConfig
from podium.training.exploration import Exploration
from podium.training.learner_config import LearnerConfig
from podium.training.memory import QWEN_7B
from podium.training.pretrained import Pretrained
from podium.types import Problem
from podium.workflow.syntax import WorkflowSyntax


def config(seed: int = 0) -> TrainConfig:
    """Every setting the paper names."""
    return TrainConfig(
        name="paper",
        seed=seed,
        problems=problems,
        pool=Path("pool.toml"),  # section 4.1: seven workers, 4,096 tokens, temperature 0.2
        syntax=WorkflowSyntax(access="binary"),  # section 3.1; positions are its Table 11
        pretrained=Pretrained(
            model="Qwen/Qwen2.5-7B-Instruct",
            max_tokens=1024,  # section 4.1
            shape=QWEN_7B,
            gpus=2,  # section 4.1; docs/gpu.md has the arithmetic
            options={
                "bf16": True,
                "gradient_checkpointing": True,
                "per_device_train_batch_size": 1,
                "use_vllm": True,
                "vllm_mode": "colocate",
                "vllm_tensor_parallel_size": 2,  # one copy over both GPUs
                "vllm_gpu_memory_utilization": 0.3,
                "vllm_enable_sleep_mode": True,  # gone while the model learns
                "vllm_max_model_length": 8192,
                "fsdp": True,
                "fsdp_config": {
                    "fsdp_version": 2,
                    "auto_wrap_policy": "TRANSFORMER_BASED_WRAP",
                    "transformer_layer_cls_to_wrap": ["Qwen2DecoderLayer"],
                    "state_dict_type": "FULL_STATE_DICT",
                },
            },
        ),
        iterations=200,  # section 4.1: 51,200 rollouts
        problems_per_step=4,
        group_size=64,
        max_steps=5,  # section 3.1
        advantage="group_normalised",  # section 3.2
        learner=LearnerConfig(learning_rate=1e-6, warmup_ratio=0.03, clip=0.2),  # section 4.1: AdamW, cosine, KL 0
        exploration=Exploration(),  # none; what helps a small policy is in recipes/gym.py
    )


def lora(seed: int = 0) -> TrainConfig:
    """The same with an adapter, which one GPU can hold: a rate ten times as high (learning rates of adapters)."""
    full = config(seed)
    options = {
        "bf16": True,
        "gradient_checkpointing": True,
        "per_device_train_batch_size": 2,
        "use_vllm": True,
        "vllm_mode": "colocate",
        "vllm_tensor_parallel_size": 1,  # a copy on each GPU
        "vllm_gpu_memory_utilization": 0.35,
        "vllm_enable_sleep_mode": True,
        "vllm_max_model_length": 8192,
    }
    adapter = {"r": 32, "lora_alpha": 64, "target_modules": "all-linear", "task_type": "CAUSAL_LM"}
    return replace(
        full,
        name="paper-lora",
        pretrained=Pretrained(
            model="Qwen/Qwen2.5-7B-Instruct", max_tokens=1024, options=options, adapter=adapter, shape=QWEN_7B, gpus=1
        ),
        learner=replace(full.learner, learning_rate=1e-5),
    )


@cache
def problems() -> list[Problem]:
    """MATH, MMLU, RLPR and LiveCodeBench V1, 240 of each (section 4.1), disjoint from the test sets."""
    folder = Path(os.environ["PODIUM_DATA"]) if "PODIUM_DATA" in os.environ else None
    drawn = draw(PAPER_960, lambda name, split: load(name, split=split, data_dir=folder), substitutes=folder is not None)
    return [instructed(problem) for problem in drawn.problems]
