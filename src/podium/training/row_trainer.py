"""TRL's trainer without its loop: its sampling, its loss and its sharding, for rows that are handed over.

Shapes: B rows, P prompt tokens, T completion tokens.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from accelerate.utils import is_peft_model
from datasets import Dataset
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from torch.optim.lr_scheduler import LambdaLR
from transformers import PreTrainedTokenizerFast
from transformers import Trainer as TransformersTrainer
from trl import GRPOConfig, GRPOTrainer

from podium.training.batch import MicroBatch
from podium.training.grpo import choice_entropy
from podium.training.rows import TrainingRow


class RowTrainer(GRPOTrainer):  # type: ignore[misc]  # untyped here
    """TRL's trainer for one recipe. Example: :class:`podium.training.trl_engine.TrlEngine`.

    ``factor`` gives the learning rate's factor for the step after so many; ``steps`` are those of the whole run.
    """

    def __init__(self, model: str, arguments: GRPOConfig, factor: Callable[[int], float], steps: int, adapter: Any) -> None:
        # Left to itself, the library gives every Qwen2 model the published splitting of words, whatever tokenizer.json says.
        self.tokenizer: Any = PreTrainedTokenizerFast.from_pretrained(model, padding_side="left")
        unused = Dataset.from_dict({"prompt": [""] * arguments.generation_batch_size})
        super().__init__(model, _judged_elsewhere, arguments, unused, processing_class=self.tokenizer, peft_config=adapter)
        self._factor = factor
        self._steps = steps
        self.digits = torch.empty(0, dtype=torch.long)
        self.entropy = 0.0
        self.sampled_at_once = 1
        """Completions that are written side by side where vLLM does not sample."""
        self.seen = {"loss": 0.0, "choice_entropy": 0.0, "drafts": 0.0}
        """What this process's micro-batches came to so far."""

    @property
    def sharded(self) -> bool:
        """Whether no process holds a parameter whole."""
        plugin = self.accelerator.state.deepspeed_plugin
        return bool(self.is_fsdp_enabled or (plugin is not None and plugin.zero_stage == 3))

    def sampled(self, prompts: Sequence[Sequence[int]], n: int) -> tuple[list[list[int]], list[list[float]]]:
        """One completion for each of ``prompts``, equal ones in runs of ``n``, and the log-probability of every token."""
        if not self.use_vllm:
            # TRL would continue all of them in one batch, whose keys and values may not fit. Every process has equally many.
            ids = []
            for at in range(0, len(prompts), self.sampled_at_once):
                part = [list(prompt) for prompt in prompts[at : at + self.sampled_at_once]]
                ids += self._generate_single_turn(part, None, {}, len(part))[0]
            return ids, self._scored(prompts, ids)
        ids, logprobs = self._generate_single_turn([list(prompt) for prompt in prompts], None, {}, n)
        if any(value is None for row in logprobs for value in row):
            raise ValueError("vLLM gave no log-probability for a token it sampled: its arithmetic overflowed, try another dtype")
        return ids, logprobs

    def stepped(self) -> float:
        """One optimiser step on the gradient gathered; returns its norm before clipping."""
        norm = self._get_grad_norm(self.model_wrapped, grad_norm=self._clip_grad_norm(self.model_wrapped))
        self.optimizer.step()
        self.lr_scheduler.step()
        self.model_wrapped.zero_grad()
        self.state.global_step += 1
        self._metrics["train"].clear()
        return float(norm)

    def create_scheduler(self, num_training_steps: int, optimizer: torch.optim.Optimizer | None = None) -> LambdaLR:
        """The recipe's schedule. The library's own begins a warm-up with a step at rate 0, which would waste an iteration."""
        self.lr_scheduler = LambdaLR(optimizer or self.optimizer, self._factor)
        self._created_lr_scheduler = True
        return self.lr_scheduler

    def _inner_training_loop(self, *_: Any, resume_from_checkpoint: str | None = None, **__: Any) -> None:
        # Everything before the first step (placement, sharding, optimiser, a stored state) is the library's; the steps are ours.
        self._prepare_for_training(self._steps, None, resume_from_checkpoint)
        self.state.global_step = self.lr_scheduler.last_epoch

    def _prepare_inputs(self, inputs: dict[str, Any]) -> dict[str, Any]:
        # TRL would generate here.
        moved: dict[str, Any] = TransformersTrainer._prepare_inputs(self, inputs)
        return moved

    def _compute_loss(self, model: torch.nn.Module, inputs: dict[str, Any]) -> Tensor:
        # Processes are averaged over, so a share of the sum counts once for each of them.
        weight = inputs["weight"] * self.accelerator.num_processes
        if inputs["drafts"]:
            return self._likelihood(model, inputs, weight)
        if inputs["drawn"]:
            with torch.no_grad():
                now = self._logprobs(model, inputs)
            sampled = inputs["old_per_token_logps"]
            inputs = {**inputs, "old_per_token_logps": torch.where(sampled.isnan(), now, sampled)}
        completion, rows = inputs["completion_ids"], len(inputs["completion_ids"])
        states: list[Tensor] = []
        base = self.accelerator.unwrap_model(model)
        base = base.get_base_model() if is_peft_model(base) else base
        watch = base.base_model.register_forward_hook(lambda _module, _arguments, output: states.append(output.last_hidden_state))
        try:
            # TRL takes a mean over rows and micro-batches. Its loss is linear in the advantage, so a row's weight can go there.
            scale = weight * rows * self.current_gradient_accumulation_steps
            loss: Tensor = super()._compute_loss(model, {**inputs, "advantages": inputs["advantages"] * scale})
        finally:
            watch.remove()
        self.seen["loss"] += float(loss.detach())
        if not self.entropy:
            return loss
        predicting = states[0][:, -completion.shape[1] - 1 : -1].float()
        digits = self.digits.to(completion.device)
        logits = predicting @ base.get_output_embeddings().weight[digits].float().T / self.temperature
        batch = MicroBatch(
            tokens=completion,
            mask=inputs["completion_mask"].bool(),
            owner=torch.arange(rows),
            logprobs=inputs["old_per_token_logps"],
            advantage=inputs["advantages"],
            choice=inputs["choice"],
            workers=inputs["workers"],
            weight=weight,
            topic=torch.full_like(completion, -1),
        )
        bonus = choice_entropy(logits, batch, torch.arange(len(digits), device=digits.device))
        self.seen["choice_entropy"] += float(bonus.detach())
        return loss - self.entropy * bonus

    def _likelihood(self, model: torch.nn.Module, inputs: dict[str, Any], weight: Tensor) -> Tensor:
        """Texts to be kept likely: ``weight`` is what a token of the row counts for."""
        mask = inputs["completion_mask"] * ~inputs["choice"]
        per_row = -(self._logprobs(model, inputs) * mask).sum(dim=1)
        loss: Tensor = (per_row * weight).sum()
        self.seen["drafts"] += float(loss.detach())
        return loss

    def _logprobs(self, model: torch.nn.Module, inputs: dict[str, Any]) -> Tensor:
        logprobs: Tensor
        logprobs, _, _ = self._get_per_token_logps_and_entropies(
            model,
            torch.cat((inputs["prompt_ids"], inputs["completion_ids"]), dim=1),
            torch.cat((inputs["prompt_mask"], inputs["completion_mask"]), dim=1),
            inputs["completion_ids"].shape[1],
            batch_size=self.args.per_device_train_batch_size,
        )
        return logprobs

    def _scored(self, prompts: Sequence[Sequence[int]], ids: Sequence[Sequence[int]]) -> list[list[float]]:
        """Log-probabilities of completions that were sampled without."""
        rows = [
            TrainingRow(prompt_ids=tuple(prompt), completion_ids=tuple(own), logprobs=(0.0,) * len(own), advantage=0.0)
            for prompt, own in zip(prompts, ids, strict=True)
        ]
        batch = self._prepare_inputs(_tensors(rows, [0.0] * len(rows), self.tokenizer.pad_token_id, drafts=False))
        with torch.no_grad():
            logprobs = self._logprobs(self.model, batch).tolist()
        return [row[: len(own)] for row, own in zip(logprobs, ids, strict=True)]


def micro_batches(
    rows: Sequence[TrainingRow], *, size: int, processes: int, pad: int, worth: float = 1.0, drafts: bool = False
) -> list[dict[str, Any]]:
    """All rows in micro-batches of ``size``, those of similar length together; process p takes every ``processes``-th from p on.

    Filled up with rows that weigh nothing, so that every process has equally many. ``worth`` is what all rows weigh together,
    ``drafts`` says that they are texts to be kept likely.
    """
    order = sorted(rows, key=lambda row: (len(row.prompt_ids) + len(row.completion_ids), row.completion_ids))
    missing = -len(rows) % (size * processes)
    # Of texts to be kept likely every token counts the same, of completions every row.
    units = sum(len(row.completion_ids) - len(row.choices) for row in rows) if drafts else len(rows)
    weights = [0.0] * missing + [worth / units] * len(rows)
    order = order[:1] * missing + order
    # Where weights are sharded all processes read a batch equally often, so it is asked of all rows and not of a batch's.
    drawn = any(math.isnan(value) for row in rows for value in row.logprobs)
    return [
        _tensors(order[at : at + size], weights[at : at + size], pad, drafts=drafts, drawn=drawn)
        for at in range(0, len(order), size)
    ]


def _tensors(
    rows: Sequence[TrainingRow], weights: Sequence[float], pad: int, *, drafts: bool, drawn: bool = False
) -> dict[str, Any]:
    """What TRL's loss reads: (B, P) prompts padded on the left, (B, T) completions padded on the right."""
    prompts = [torch.tensor(row.prompt_ids) for row in rows]
    completions = [torch.tensor(row.completion_ids) for row in rows]
    choices = [torch.zeros(len(row.completion_ids), dtype=torch.bool) for row in rows]
    for marks, row in zip(choices, rows, strict=True):
        marks[list(row.choices)] = True
    return {
        "prompt_ids": _padded(prompts, pad, side="left"),
        "prompt_mask": _padded([torch.ones_like(ids) for ids in prompts], 0, side="left"),
        "completion_ids": _padded(completions, pad),
        "completion_mask": _padded([torch.ones_like(ids) for ids in completions], 0),
        "old_per_token_logps": _padded([torch.tensor(row.logprobs) for row in rows], 0.0),
        "advantages": torch.tensor([row.advantage for row in rows]),
        "weight": torch.tensor(weights),
        "choice": _padded(choices, False),
        "workers": torch.tensor([row.workers for row in rows]),
        "drafts": drafts,
        "drawn": drawn,
    }


def _padded(rows: Sequence[Tensor], value: float, *, side: str = "right") -> Tensor:
    return pad_sequence(list(rows), batch_first=True, padding_value=value, padding_side=side)


def _judged_elsewhere(**_: object) -> list[float]:
    raise AssertionError("rewards are given by podium.training.collect")
