"""A published language model as the start of a run: which one, and how TRL is to compute with it. Free of torch."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from podium.training.memory import ModelShape

SAMPLED_AT_ONCE = 64
"""Completions that ``transformers`` writes side by side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pretrained:
    """Example: ``Pretrained(model="Qwen/Qwen2.5-7B-Instruct", options={"use_vllm": True})``."""

    model: str
    """A name or a folder that ``transformers`` loads: a Qwen2 or Qwen2.5 chat model."""
    max_tokens: int = 1024
    """Longest completion (paper, section 4.1)."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Fields of TRL's ``GRPOConfig`` that say how to compute (docs/gpu.md)."""
    sampled_at_once: int = SAMPLED_AT_ONCE
    """Completions that are written side by side where vLLM does not sample; their keys and values must fit beside the weights."""
    adapter: Mapping[str, Any] | None = None
    """Arguments of ``peft.LoraConfig``; None trains every weight."""
    shape: ModelShape | None = None
    """The model's sizes, for the estimate of its memory; None where none is needed."""
    gpus: int = 1
    """Processes that the estimate assumes, one a GPU."""
