"""One GRPO iteration on the CPU: the reference engine against TRL's ``GRPOTrainer``, same model, same shape.

``python -m benchmarks.training`` takes a few minutes. Model: Qwen2 with 0.9 M random weights, float32. An iteration samples
4 prompts x 64 completions (prompt 150 tokens, completion exactly 80) and makes one optimiser step; no reference model, one torch
thread. Measured are CPU-seconds, so that what else runs on the machine matters less; the engines take turns, each in a process of
its own.

TRL is given its cheapest way: no log-probabilities while sampling (ours are included), no gradient checkpointing, and the
micro-batch that suits it best of those tried (8, 16, 32, 64, 128, 256). The last line is one JSON object; ``trl_ratio`` is TRL's
CPU-seconds by ours.
"""

import argparse
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, TrainerCallback
from trl import GRPOConfig, GRPOTrainer

from podium.policies.qwen2 import Qwen2, Qwen2Config, save
from podium.policies.sampling import sample
from podium.training.advantage import group_normalised
from podium.training.learner import Learner
from podium.training.learner_config import LearnerConfig
from podium.training.rows import TrainingRow

PROMPTS, ROLLOUTS, PROMPT_TOKENS, TOKENS, VOCABULARY = 4, 64, 150, 80, 1024
TRL_MICRO_BATCH = 64
LEARNING_RATE = 1e-4
NEVER = -1
"""An end token that is not in the vocabulary."""


def main() -> None:
    """Measure, print, and end with the JSON line."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--iterations", type=int, default=5, help="measured iterations per turn (one more warms up)")
    arguments.add_argument("--turns", type=int, default=2, help="how often the engines take turns")
    arguments.add_argument("--engine", choices=sorted(ENGINES), help="measure one engine in this process and print its figures")
    arguments.add_argument("--micro-batch", type=int, default=TRL_MICRO_BATCH, help="rows that pass through TRL's model at once")
    options = arguments.parse_args()
    if options.engine:
        torch.set_num_threads(1)
        print(json.dumps(ENGINES[options.engine](options.iterations + 1, options.micro_batch)[1:]))
        return
    measured: dict[str, list[dict[str, float]]] = {name: [] for name in ENGINES}
    for _ in range(options.turns):
        for name, iterations in measured.items():
            iterations += _in_own_process(name, options)
    middle = {name: {part: median(one[part] for one in each) for part in each[0]} for name, each in measured.items()}
    for name, each in measured.items():
        spread = " ".join(f"{one['total']:.2f}" for one in each)
        print(f"{name:10} {middle[name]['total']:6.2f} CPU-seconds per iteration (median of {spread})")
    reference, trl = middle["reference"], middle["trl"]
    print(
        json.dumps(
            {
                "trl_ratio": round(trl["total"] / reference["total"], 2),
                "seconds_per_iteration": round(reference["total"], 3),
                "sampling_seconds": round(reference["sampling"], 3),
                "update_seconds": round(reference["total"] - reference["sampling"], 3),
                "trl_seconds_per_iteration": round(trl["total"], 3),
                "trl_sampling_seconds": round(trl["sampling"], 3),
                "trl_update_seconds": round(trl["total"] - trl["sampling"], 3),
                "tokens_per_second": round(PROMPTS * ROLLOUTS * TOKENS / reference["total"]),
                "parameters": sum(p.numel() for p in _model().parameters()),
                "torch": torch.__version__,
                "python": platform.python_version(),
            }
        )
    )


def _in_own_process(name: str, options: argparse.Namespace) -> list[dict[str, float]]:
    command = [sys.executable, "-m", "benchmarks.training", "--engine", name, "--iterations", str(options.iterations)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive"}
    done = subprocess.run(
        [*command, "--micro-batch", str(options.micro_batch)], env=environment, check=True, capture_output=True, text=True
    )
    figures: list[dict[str, float]] = json.loads(done.stdout.splitlines()[-1])
    return figures


def _model() -> Qwen2:
    return Qwen2(Qwen2Config(vocab_size=VOCABULARY), seed=0)


def _prompts() -> list[list[int]]:
    rng = random.Random(0)
    return [[rng.randrange(VOCABULARY) for _ in range(PROMPT_TOKENS)] for _ in range(PROMPTS)]


def _rewards(rng: random.Random, n: int) -> list[float]:
    return [rng.choice((0.0, 0.5, 1.0)) for _ in range(n)]


def reference(iterations: int, _: int) -> list[dict[str, float]]:
    """CPU-seconds of each iteration of the reference engine."""
    model, prompts, rng = _model(), _prompts(), random.Random(0)
    generator = torch.Generator().manual_seed(0)
    learner = Learner(model, LearnerConfig(learning_rate=LEARNING_RATE), digits=range(10), steps=iterations)
    figures = []
    for _iteration in range(iterations):
        started = time.process_time()
        written = sample(model, prompts, ROLLOUTS, end=NEVER, max_tokens=TOKENS, generator=generator)
        sampled = time.process_time()
        rows = [
            TrainingRow(
                prompt_ids=tuple(prompt), completion_ids=tuple(one.token_ids), logprobs=tuple(one.logprobs), advantage=advantage
            )
            for prompt, group in zip(prompts, written, strict=True)
            for one, advantage in zip(group, group_normalised(_rewards(rng, ROLLOUTS)), strict=True)
        ]
        learner.step(rows)
        assert all(len(row.completion_ids) == TOKENS for row in rows)
        figures.append({"total": time.process_time() - started, "sampling": sampled - started})
    return figures


class Stopwatch(TrainerCallback):  # type: ignore[misc]  # untyped here
    """CPU-seconds from step to step. Example: ``GRPOTrainer(..., callbacks=[Stopwatch()])``."""

    def __init__(self) -> None:
        self.ends = [0.0]
        self.sampling: list[float] = []

    def on_train_begin(self, *_: Any, **__: Any) -> None:
        """Start."""
        self.ends = [time.process_time()]

    def on_step_end(self, *_: Any, **__: Any) -> None:
        """One iteration is over."""
        self.ends.append(time.process_time())


def trl(iterations: int, micro_batch: int) -> list[dict[str, float]]:
    """CPU-seconds of each iteration of TRL's trainer."""
    rng, stopwatch = random.Random(0), Stopwatch()
    with tempfile.TemporaryDirectory() as folder:
        save(_model(), Path(folder))
        config = GRPOConfig(
            output_dir=folder,
            use_cpu=True,
            bf16=False,
            gradient_checkpointing=False,
            loss_type="grpo",
            beta=0.0,
            num_generations=ROLLOUTS,
            per_device_train_batch_size=micro_batch,
            gradient_accumulation_steps=PROMPTS * ROLLOUTS // micro_batch,
            max_completion_length=TOKENS,
            generation_kwargs={"min_new_tokens": TOKENS},
            learning_rate=LEARNING_RATE,
            max_steps=iterations,
            logging_strategy="no",
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
        )
        words = [" ".join(f"w{token}" for token in prompt) for prompt in _prompts()]
        trainer = GRPOTrainer(
            folder,
            lambda completion_ids, **_: [float(len(ids) == TOKENS) * reward for ids, reward in _paid(completion_ids, rng)],
            config,
            Dataset.from_dict({"prompt": words}),
            processing_class=_tokenizer(),
            callbacks=[stopwatch],
        )
        generate = trainer._generate_single_turn
        trainer._generate_single_turn = lambda *given, **named: _timed(stopwatch.sampling, lambda: generate(*given, **named))
        trainer.train()
    totals = [end - start for start, end in zip(stopwatch.ends, stopwatch.ends[1:], strict=False)]
    assert len(totals) == len(stopwatch.sampling) == iterations
    return [{"total": total, "sampling": part} for total, part in zip(totals, stopwatch.sampling, strict=True)]


def _paid(completions: list[list[int]], rng: random.Random) -> list[tuple[list[int], float]]:
    assert len(completions) == PROMPTS * ROLLOUTS
    assert all(len(ids) == TOKENS for ids in completions)
    return list(zip(completions, _rewards(rng, len(completions)), strict=True))


def _timed(seconds: list[float], act: Callable[[], Any]) -> Any:
    started = time.process_time()
    result = act()
    seconds.append(time.process_time() - started)
    return result


def _tokenizer() -> PreTrainedTokenizerFast:
    """Every word a token, so that prompts have exactly as many tokens as words."""
    tokenizer = Tokenizer(models.WordLevel({f"w{token}": token for token in range(VOCABULARY)}, "w0"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    wrapped = PreTrainedTokenizerFast(tokenizer_object=tokenizer, padding_side="left")
    wrapped.pad_token, wrapped.eos_token = "w0", "w1"
    return wrapped


ENGINES = {"reference": reference, "trl": trl}

if __name__ == "__main__":
    main()
