"""The same rows handed to TRL: sampling with vLLM, learning sharded over many GPUs (https://huggingface.co/docs/trl).

What a step means stays here: our tasks, our rollouts, our advantages, the loss of :mod:`podium.training.grpo`. TRL's
``GRPOTrainer`` lends its sampling, its log-probabilities that never hold all logits, and FSDP, ZeRO and LoRA; its own loop, data
set, rewards and baseline are not used. A test holds loss and gradient to those of the reference engine.

One process leads. It runs the trainer, keeps journal and budget and carries out the workflows; the others do what it tells them:
each samples whole groups and learns from its share of the rows.
"""

import json
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, nullcontext
from datetime import timedelta
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from accelerate.utils import gather_object, set_seed
from torch import distributed

from podium.errors import CheckpointError, ConfigError
from podium.policies.local import PROMPTS, Dialect
from podium.policies.tokens import Tokens
from podium.training.config import TrainConfig
from podium.training.learner_config import LearnerConfig
from podium.training.pretrained import SAMPLED_AT_ONCE, Pretrained
from podium.training.row_trainer import RowTrainer, micro_batches
from podium.training.rows import TrainingRow, steps_of
from podium.training.trl_options import grpo_config
from podium.types import Brief, Generation, Usage

CONTROL_TIMEOUT = timedelta(days=1)
"""How long a process waits for the next command: workflows are carried out meanwhile."""

TrlGeneration = list[tuple[list[int], list[float]]]
"""Token ids and log-probabilities of completions, grouped by prompt."""


class TrlEngine:
    """Many GPUs as a :class:`podium.training.trainer.Engine`. Launch with ``torchrun`` or ``accelerate launch``; see docs/gpu.md.

    Example, the same on every process::

        with TrlEngine("Qwen/Qwen2.5-7B-Instruct", Dialect(prompt="full", max_tokens=1024), LearnerConfig(learning_rate=1e-6),
                       iterations=200, rollouts=256, options={"use_vllm": True}) as engine:
            if engine.leads:
                asyncio.run(Trainer(config, engine, engine, pool, folder).run())
            else:
                engine.follow()

    ``model`` is a folder or a name that ``transformers`` loads, of a Qwen2 chat model. ``rollouts`` are the rollouts of an
    iteration. ``options`` are fields of TRL's ``GRPOConfig`` that say how to compute (``use_vllm``, ``bf16``, ``deepspeed``,
    ``per_device_train_batch_size``); what to compute follows from the other arguments. ``adapter`` is a ``peft`` configuration.
    ``sampled_at_once`` completions are written side by side where vLLM does not sample: it bounds their keys and values.

    Raises :class:`ConfigError` for options that contradict the recipe.
    """

    def __init__(
        self,
        model: str,
        dialect: Dialect,
        config: LearnerConfig,
        *,
        iterations: int,
        rollouts: int,
        temperature: float = 1.0,
        options: Mapping[str, Any] | None = None,
        adapter: Any = None,
        sampled_at_once: int = SAMPLED_AT_ONCE,
    ) -> None:
        self.dialect = dialect
        self._config = config
        steps = iterations * config.steps
        self._scratch = tempfile.TemporaryDirectory(prefix="podium-trl-")
        with ExitStack() as undone:
            undone.callback(self._scratch.cleanup)
            arguments = grpo_config(
                self._scratch.name,
                config,
                rollouts=rollouts,
                max_tokens=dialect.max_tokens,
                temperature=temperature,
                options=options or {},
                adapted=adapter is not None,
            )
            self._trainer = RowTrainer(
                model, arguments, lambda taken: config.rate(taken, steps) / config.learning_rate, steps, adapter
            )
            undone.pop_all()
        self._tokens = Tokens(self._trainer.tokenizer.backend_tokenizer)
        self._trainer.digits = torch.tensor(self._tokens.worker_ids())
        self._trainer.sampled_at_once = sampled_at_once
        longest = self._trainer.model.config.max_position_embeddings
        if arguments.use_vllm and arguments.vllm_max_model_length is not None:
            longest = min(longest, arguments.vllm_max_model_length)
        self._room: int = longest - dialect.max_tokens
        self._world = self._trainer.accelerator.num_processes
        # Commands travel beside the tensors, with a patience of their own, so that TRL's collectives keep their short timeouts.
        self._control = distributed.new_group(backend="gloo", timeout=CONTROL_TIMEOUT) if self._world > 1 else None
        self._prepared = False
        self._in_step = False

    @property
    def leads(self) -> bool:
        """Whether this process runs the trainer."""
        return bool(self._trainer.accelerator.process_index == 0)

    def __enter__(self) -> "TrlEngine":
        return self

    def __exit__(self, *_: object) -> None:
        # After a failure inside a command the others are not listening; the launcher ends them when this process ends.
        if self.leads and not self._in_step:
            self._everywhere("_stop")
        self._scratch.cleanup()

    def follow(self) -> None:
        """Do what the leading process says until it is done."""
        command: list[Any] = [None]
        while command[0] is None or command[0][0] != "_stop":
            distributed.broadcast_object_list(command, src=0, group=self._control)
            name, arguments = command[0]
            getattr(self, name)(*arguments)

    def seed(self, number: int) -> None:
        """Make what is written next depend on ``number`` and the weights; vLLM keeps random numbers of its own."""
        self._everywhere("_seed", number)

    def prompt_ids(self, brief: Brief, forced_prefix: str = "") -> Sequence[int]:
        """The tokens a completion is conditioned on: a forced prefix is a longer prompt.

        Raises :class:`ConfigError` where they exceed the model's length, or vLLM's.
        """
        ids = self._tokens.prompt(PROMPTS[self.dialect.prompt](brief, self.dialect.syntax)) + self._tokens.encode(forced_prefix)
        if len(ids) > self._room:
            raise ConfigError(
                f"the prompt has {len(ids)} tokens; this model has room for {self._room} (vllm_max_model_length, where it is set)"
            )
        return ids

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """The text of each token."""
        return [self._tokens.decode([token]) for token in ids]

    def worker_tokens(self) -> Sequence[int]:
        """The token of each worker id, as far as it has one of its own."""
        return self._tokens.worker_ids()

    def write_many(self, briefs: Sequence[Brief], n: int, forced_prefixes: Sequence[str] = ()) -> list[list[Generation]]:
        """``n`` workflows for each brief; the ``n`` of a brief are written by one process."""
        forced_prefixes = forced_prefixes or [""] * len(briefs)
        prompts = [
            list(self.prompt_ids(brief, forced_prefix)) for brief, forced_prefix in zip(briefs, forced_prefixes, strict=True)
        ]
        written = self._everywhere("_write", prompts, n)
        return [
            [self._generation(prompt, forced_prefix, *one) for one in written[i * n : (i + 1) * n]]
            for i, (prompt, forced_prefix) in enumerate(zip(prompts, forced_prefixes, strict=True))
        ]

    def learn(
        self,
        rows: Sequence[TrainingRow],
        *,
        entropy: float,
        drafts: Sequence[TrainingRow],
        draft_sft_weight: float,
        held: Sequence[TrainingRow] = (),
        seed: int,
    ) -> dict[str, float]:
        """Take this iteration's optimiser steps, as :class:`podium.training.engine.ReferenceEngine` does; nothing can be held."""
        if held:
            raise ConfigError(
                "this engine does not hold the policy of the start, so nothing can be held at what that would write"
            )
        if entropy and self._trainer.sharded:
            raise ConfigError(
                "the bonus on worker choices reads the output weights, which FSDP and ZeRO-3 keep in pieces: set the entropy of "
                "exploration to 0, or use DDP or ZeRO-2"
            )
        report: dict[str, float] = self._everywhere("_learn", list(rows), entropy, list(drafts), draft_sft_weight, seed)
        return report

    def save(self, folder: Path, *, version: str) -> None:
        """Write model, tokenizer, dialect and the optimiser's state. With several machines ``folder`` must be shared."""
        self._everywhere("_save", folder, version)

    def restore(self, folder: Path) -> None:
        """Take up what :meth:`save` wrote, before anything else is done. Raises :class:`CheckpointError` where it can not."""
        if self._prepared:
            raise CheckpointError("this engine has already worked; restore a state with a new one")
        if not (folder / "trainer_state.json").exists():
            raise CheckpointError(f"{folder} holds no state of this engine")
        self._everywhere("_prepare", folder)

    def backward(
        self, rows: Sequence[TrainingRow], *, entropy: float, drafts: Sequence[TrainingRow] = (), draft_sft_weight: float = 0.0
    ) -> dict[str, float]:
        """Add the gradient of the loss over all ``rows`` to the parameters; to be called by every process alike."""
        self._prepare()
        trainer, accelerator = self._trainer, self._trainer.accelerator
        cut = partial(
            micro_batches,
            size=trainer.args.per_device_train_batch_size,
            processes=self._world,
            pad=trainer.tokenizer.pad_token_id,
        )
        keeping = bool(drafts) and draft_sft_weight > 0
        mine = (cut(rows) + (cut(drafts, worth=draft_sft_weight, drafts=True) if keeping else []))[
            accelerator.process_index :: self._world
        ]
        trainer.entropy, trainer.current_gradient_accumulation_steps = entropy, len(mine)
        trainer.seen = dict.fromkeys(trainer.seen, 0.0)
        for number, batch in enumerate(mine):
            last = number == len(mine) - 1
            accelerator.gradient_state._set_sync_gradients(last)
            # DDP adds up on every process and exchanges once. FSDP would have to keep the whole gradient on each for that.
            deferred = not last and not trainer.is_deepspeed_enabled and not trainer.is_fsdp_enabled
            with accelerator.no_sync(trainer.model_wrapped) if deferred else nullcontext():
                trainer.training_step(trainer.model_wrapped, batch, None)
        totals = accelerator.reduce(torch.tensor(list(trainer.seen.values()), device=accelerator.device), reduction="mean")
        report = dict(zip(trainer.seen, totals.tolist(), strict=True))
        kept = report.pop("drafts")
        return {**report, "draft_loss": kept / draft_sft_weight} if keeping else report

    def _everywhere(self, name: str, *arguments: Any) -> Any:
        if self._world > 1:
            self._in_step = True
            distributed.broadcast_object_list([(name, arguments)], src=0, group=self._control)
        result = getattr(self, name)(*arguments)
        self._in_step = False
        return result

    def _stop(self) -> None:
        pass

    def _seed(self, number: int) -> None:
        set_seed(number % 2**31, device_specific=True)

    def _prepare(self, folder: Path | None = None) -> None:
        if not self._prepared:
            self._prepared = True
            self._trainer.train(resume_from_checkpoint=None if folder is None else str(folder))

    def _write(self, prompts: Sequence[Sequence[int]], n: int) -> TrlGeneration:
        self._prepare()
        share = -(-len(prompts) // self._world)
        first = share * self._trainer.accelerator.process_index
        # Every process must sample equally much, so the last prompt fills up what is left over.
        mine = [prompts[min(first + i, len(prompts) - 1)] for i in range(share) for _ in range(n)]
        ids, logprobs = self._trainer.sampled(mine, n)
        written: TrlGeneration = gather_object(list(zip(ids, logprobs, strict=True)))
        return written[: len(prompts) * n]

    def _learn(
        self, rows: Sequence[TrainingRow], entropy: float, drafts: Sequence[TrainingRow], draft_sft_weight: float, seed: int
    ) -> dict[str, float]:
        totals: dict[str, float] = {}
        parts = steps_of(rows, minibatches=self._config.minibatches, epochs=self._config.epochs, seed=seed)
        for part in parts:
            report = self.backward(part, entropy=entropy, drafts=drafts, draft_sft_weight=draft_sft_weight)
            report["gradient_norm"] = self._trainer.stepped()
            for name, value in report.items():
                totals[name] = totals.get(name, 0.0) + value / len(parts)
        return totals

    def _save(self, folder: Path, version: str) -> None:
        self._prepare()
        trainer = self._trainer
        trainer.save_model(str(folder))
        trainer._save_optimizer_and_scheduler(str(folder))
        if self.leads:
            trainer.state.save_to_json(str(folder / "trainer_state.json"))
            (folder / "podium.json").write_text(json.dumps(self.dialect.described(version), indent=1) + "\n", encoding="utf-8")
        trainer.accelerator.wait_for_everyone()

    def _generation(self, prompt: Sequence[int], forced_prefix: str, ids: list[int], logprobs: list[float]) -> Generation:
        return Generation(
            text=forced_prefix + self._tokens.decode(ids),
            token_ids=tuple(ids),
            logprobs=tuple(logprobs),
            policy_version=str(self._trainer.state.global_step),
            finish_reason="stop" if ids[-1] in self._trainer.eos_token_ids else "length",
            usage=Usage(prompt_tokens=len(prompt), completion_tokens=len(ids), cost_usd=0.0),
        )


def pretrained_engine(config: TrainConfig, model: Pretrained) -> TrlEngine:
    """The engine of a recipe that names a pretrained model. Raises :class:`ConfigError` where an adapter needs ``peft``."""
    adapter = None
    if model.adapter is not None:
        if find_spec("peft") is None:
            raise ConfigError("an adapter needs peft, which is not installed: pip install peft")
        adapter = import_module("peft").LoraConfig(**model.adapter)
    return TrlEngine(
        model.model,
        Dialect(syntax=config.syntax, prompt="full", max_tokens=model.max_tokens),
        config.learner,
        iterations=config.iterations,
        rollouts=config.problems_per_step * config.group_size,
        options=model.options,
        adapter=adapter,
        sampled_at_once=model.sampled_at_once,
    )
