"""The Qwen2 architecture with a prompt that is computed once for all its completions, in sampling and in the update.

Parameters carry the names of the Hugging Face layout, so that what is saved here loads in ``transformers``, vLLM and TRL, and
the other way round. Architecture: Qwen2 technical report (arXiv 2407.10671): pre-norm blocks, RMSNorm, rotary positions,
grouped-query attention with bias on q, k and v, SwiGLU, tied embeddings.

Left out: sliding windows, rope scaling, dropout (all off in the models this is for).
Suffixes of shapes: Q prompts, P prompt tokens, B completions, T completion tokens, H heads, K key-value heads, D head size,
V vocabulary.
"""

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn import functional

from podium.errors import CheckpointError


@dataclass(frozen=True, slots=True, kw_only=True)
class Qwen2Config:
    """Sizes of a model. Example: ``Qwen2Config(vocab_size=1024)`` has about 0.9 M parameters."""

    vocab_size: int
    hidden_size: int = 128
    intermediate_size: int = 384
    num_hidden_layers: int = 4
    num_attention_heads: int = 4
    num_key_value_heads: int = 2
    max_position_embeddings: int = 2048
    rope_theta: float = 10_000.0
    rms_norm_eps: float = 1e-6


@dataclass(frozen=True, slots=True)
class Prefix:
    """Prompts after their forward pass: what every completion attends to.

    ``keys`` and ``values`` hold one (Q, K, P, D) tensor per layer, ``lengths`` (Q,) the prompt lengths without padding,
    ``last`` (Q, hidden) the last hidden state of each prompt, from which the first completion token is predicted.
    """

    keys: list[Tensor]
    values: list[Tensor]
    lengths: Tensor
    last: Tensor

    @property
    def mask(self) -> Tensor:
        """(Q, P), true where a prompt has a token."""
        return torch.arange(self.keys[0].shape[2])[None, :] < self.lengths[:, None]


class _Attention(nn.Module):
    def __init__(self, config: Qwen2Config) -> None:
        super().__init__()
        size = config.hidden_size // config.num_attention_heads
        self.q_proj = nn.Linear(config.hidden_size, config.num_attention_heads * size)
        self.k_proj = nn.Linear(config.hidden_size, config.num_key_value_heads * size)
        self.v_proj = nn.Linear(config.hidden_size, config.num_key_value_heads * size)
        self.o_proj = nn.Linear(config.num_attention_heads * size, config.hidden_size, bias=False)


class _Mlp(nn.Module):
    def __init__(self, config: Qwen2Config) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.up_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.down_proj = nn.Linear(config.intermediate_size, config.hidden_size, bias=False)

    def forward(self, hidden: Tensor) -> Tensor:
        out: Tensor = self.down_proj(functional.silu(self.gate_proj(hidden)) * self.up_proj(hidden))
        return out


class _Block(nn.Module):
    def __init__(self, config: Qwen2Config) -> None:
        super().__init__()
        self.self_attn = _Attention(config)
        self.mlp = _Mlp(config)
        self.input_layernorm = nn.RMSNorm(config.hidden_size, eps=config.rms_norm_eps)
        self.post_attention_layernorm = nn.RMSNorm(config.hidden_size, eps=config.rms_norm_eps)


class _Body(nn.Module):
    def __init__(self, config: Qwen2Config) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList(_Block(config) for _ in range(config.num_hidden_layers))
        self.norm = nn.RMSNorm(config.hidden_size, eps=config.rms_norm_eps)


class Qwen2(nn.Module):
    """A causal language model with tied embeddings. Example: ``Qwen2(Qwen2Config(vocab_size=1024), seed=0)``.

    Weights begin with the usual spread of 0.02; with ``scaled_start`` with one over the root of the width, and embeddings with
    0.1. In a small model 0.02 is so little that layers hardly tell tokens apart for a long time.
    """

    def __init__(self, config: Qwen2Config, *, seed: int = 0, scaled_start: bool = False) -> None:
        super().__init__()
        self.config = config
        self.model = _Body(config)
        generator = torch.Generator().manual_seed(seed)
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2:
                spread = 0.02 if not scaled_start else 0.1 if "embed" in name else config.hidden_size**-0.5
                nn.init.normal_(parameter, std=spread, generator=generator)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)
        size = config.hidden_size // config.num_attention_heads
        frequencies = config.rope_theta ** (-torch.arange(0, size, 2, dtype=torch.float32) / size)
        angles = torch.outer(torch.arange(config.max_position_embeddings, dtype=torch.float32), frequencies)
        angles = torch.cat((angles, angles), dim=-1)
        self._cos: Tensor
        self._sin: Tensor
        self.register_buffer("_cos", angles.cos(), persistent=False)
        self.register_buffer("_sin", angles.sin(), persistent=False)

    @property
    def head_size(self) -> int:
        """D: numbers per attention head."""
        return self.config.hidden_size // self.config.num_attention_heads

    def logits(self, hidden: Tensor) -> Tensor:
        """(..., hidden) -> (..., V)."""
        weight: Tensor = self.model.embed_tokens.weight
        return functional.linear(self.model.norm(hidden), weight)

    def prompts(self, tokens: Tensor, lengths: Tensor) -> Prefix:
        """Read Q prompts. ``tokens`` (Q, P) padded on the right, ``lengths`` (Q,)."""
        prompts, width = tokens.shape
        hidden: Tensor = self.model.embed_tokens(tokens)
        positions = torch.arange(width).expand(prompts, width)
        keys, values = [], []
        for block in self.model.layers:
            q, k, v = self.projected(block, hidden, positions)
            keys.append(k)
            values.append(v)
            # Padding stands on the right, so a causal mask keeps it out of every real token's sight.
            mixed = functional.scaled_dot_product_attention(q, self._repeated(k), self._repeated(v), is_causal=True)
            hidden = self.closed(block, hidden, mixed)
        last = hidden[torch.arange(prompts), lengths - 1]
        return Prefix(keys, values, lengths, last)

    def completions(self, tokens: Tensor, owner: Tensor, prefix: Prefix) -> Tensor:
        """(B, T, hidden): hidden states of completion tokens, each row reading prompt ``owner[b]`` of ``prefix``.

        ``tokens`` (B, T) padded on the right; the state at t predicts token t + 1 (token 0 comes from ``prefix.last``).
        """
        rows, width = tokens.shape
        hidden: Tensor = self.model.embed_tokens(tokens)
        if width == 0:
            return hidden  # completions of one token are predicted by the prompt alone
        positions = prefix.lengths[owner][:, None] + torch.arange(width)[None, :]
        causal = torch.ones(width, width, dtype=torch.bool).tril()
        mask = torch.cat((prefix.mask[owner][:, None, :].expand(-1, width, -1), causal.expand(rows, -1, -1)), dim=2)[:, None]
        for index, block in enumerate(self.model.layers):
            q, k, v = self.projected(block, hidden, positions)
            k = torch.cat((prefix.keys[index][owner], k), dim=2)
            v = torch.cat((prefix.values[index][owner], v), dim=2)
            mixed = functional.scaled_dot_product_attention(q, self._repeated(k), self._repeated(v), attn_mask=mask)
            hidden = self.closed(block, hidden, mixed)
        return hidden

    def projected(self, block: Any, hidden: Tensor, positions: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """q (B, H, T, D), k and v (B, K, T, D), rotated to their ``positions`` (B, T)."""
        rows, width, _ = hidden.shape
        normed = block.input_layernorm(hidden)
        attention = block.self_attn
        q = attention.q_proj(normed).view(rows, width, -1, self.head_size).transpose(1, 2)
        k = attention.k_proj(normed).view(rows, width, -1, self.head_size).transpose(1, 2)
        v = attention.v_proj(normed).view(rows, width, -1, self.head_size).transpose(1, 2)
        cos, sin = self._cos[positions][:, None], self._sin[positions][:, None]
        return _rotated(q, cos, sin), _rotated(k, cos, sin), v

    def closed(self, block: Any, hidden: Tensor, mixed: Tensor) -> Tensor:
        """The rest of a block after attention: ``mixed`` (B, H, T, D) -> hidden (B, T, hidden)."""
        rows, _, width, _ = mixed.shape
        hidden = hidden + block.self_attn.o_proj(mixed.transpose(1, 2).reshape(rows, width, -1))
        out: Tensor = hidden + block.mlp(block.post_attention_layernorm(hidden))
        return out

    def _repeated(self, heads: Tensor) -> Tensor:
        return heads.repeat_interleave(self.config.num_attention_heads // self.config.num_key_value_heads, dim=1)


def _rotated(heads: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary positions (Su et al. 2021, arXiv 2104.09864), halves paired as in Qwen2."""
    first, second = heads.chunk(2, dim=-1)
    return heads * cos + torch.cat((-second, first), dim=-1) * sin


def save(model: Qwen2, folder: Path, *, half: bool = False) -> None:
    """Write ``config.json`` and ``model.safetensors`` in the Hugging Face layout; ``half`` stores float16."""
    folder.mkdir(parents=True, exist_ok=True)
    dtype = torch.float16 if half else torch.float32
    weights = {name: parameter.detach().to(dtype).contiguous() for name, parameter in model.named_parameters()}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    described = {
        "architectures": ["Qwen2ForCausalLM"],
        "model_type": "qwen2",
        **asdict(model.config),
        "hidden_act": "silu",
        "tie_word_embeddings": True,
        "use_sliding_window": False,
        "attention_dropout": 0.0,
        "torch_dtype": "float16" if half else "float32",
    }
    (folder / "config.json").write_text(json.dumps(described, indent=1) + "\n", encoding="utf-8")


def load(folder: Path) -> Qwen2:
    """The model in ``folder``, as float32. Raises :class:`CheckpointError` where there is none this module can read."""
    try:
        described = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        if described.get("model_type") != "qwen2" or not described.get("tie_word_embeddings"):
            raise CheckpointError(f"{folder} is no Qwen2 model with tied embeddings; serve other models and use them by API")
        known = {f.name for f in fields(Qwen2Config)}
        model = Qwen2(Qwen2Config(**{name: value for name, value in described.items() if name in known}))
        model.load_state_dict({name: weight.float() for name, weight in load_file(folder / "model.safetensors").items()})
    except (OSError, ValueError, TypeError, RuntimeError, SafetensorError) as error:
        raise CheckpointError(f"can not load a model from {folder}: {error}") from error
    return model
