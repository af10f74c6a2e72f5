"""Samples completions of many prompts at once, with the log-probability of every token.

Every prompt is read once and shared by all its completions; what is computed per token is a grid of (prompt, completion).
Finished rows are dropped: when a quarter of the grid is idle it is packed anew.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from podium.policies.qwen2 import Prefix, Qwen2


@dataclass(slots=True)
class Sampled:
    """One completion. ``token_ids`` ends with the end token unless ``finished`` is False (cut at the limit)."""

    token_ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    finished: bool = False


def padded(rows: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """(B, T) token ids padded on the right with 0, and (B,) lengths."""
    lengths = torch.tensor([len(row) for row in rows])
    tokens = torch.zeros(len(rows), int(lengths.max()), dtype=torch.long)
    for index, row in enumerate(rows):
        tokens[index, : len(row)] = torch.tensor(row, dtype=torch.long)
    return tokens, lengths


@torch.no_grad()
def sample(
    model: Qwen2,
    prompts: Sequence[Sequence[int]],
    n: int,
    *,
    end: int,
    max_tokens: int,
    temperature: float = 1.0,
    generator: torch.Generator | None = None,
    heard: Callable[[list[list[Sampled]]], None] | None = None,
) -> list[list[Sampled]]:
    """``n`` completions for each prompt; temperature 0 takes the most probable token. ``heard`` is told of them at every token.

    Log-probabilities are those of the model at ``temperature`` (at 0: of the model itself).
    """
    prefix = model.prompts(*padded(prompts))
    results = [[Sampled() for _ in range(n)] for _ in prompts]
    grid = _Grid(model, prefix, torch.arange(len(prompts)), n)
    live = [[results[q][g] for g in range(n)] for q in range(len(prompts))]
    hidden = prefix.last[:, None, :].expand(-1, n, -1)
    for step in range(max_tokens):
        logits = model.logits(hidden)
        scaled = (logits / temperature if temperature > 0 else logits).log_softmax(dim=-1)
        if temperature > 0:
            chosen = drawn(scaled.exp().view(-1, scaled.shape[-1]), generator).view(scaled.shape[:2])
        else:
            chosen = scaled.argmax(dim=-1)
        logprobs = scaled.gather(2, chosen[..., None])[..., 0].tolist()
        ids = chosen.tolist()
        for q, row in enumerate(live):
            for g, sampled in enumerate(row):
                if not sampled.finished:
                    sampled.token_ids.append(ids[q][g])
                    sampled.logprobs.append(logprobs[q][g])
                    sampled.finished = ids[q][g] == end
        if heard is not None:
            heard(results)
        active = [[g for g, sampled in enumerate(row) if not sampled.finished] for row in live]
        count = sum(len(row) for row in active)
        if count == 0 or step == max_tokens - 1:
            break
        if count <= 0.75 * chosen.numel():
            kept = [q for q, row in enumerate(active) if row]
            width = max(len(active[q]) for q in kept)
            if len(kept) * width < chosen.numel():
                # A question with fewer live rows than the widest repeats finished ones, which are ignored.
                columns = [(active[q] + [g for g in range(len(live[q])) if g not in active[q]])[:width] for q in kept]
                grid.pack(kept, columns)
                chosen = chosen[torch.tensor(kept)[:, None], torch.tensor(columns)]
                live = [[live[q][g] for g in row] for q, row in zip(kept, columns, strict=True)]
        hidden = grid.step(chosen)
    return results


def drawn(weights: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """(B,) one index per row of ``weights`` (B, V), each with a probability in proportion to its weight.

    By inverting the distribution function: ``torch.multinomial`` draws an exponential number for every entry, a fifth of all the
    time that sampling takes. An index of weight 0 is never drawn.
    """
    below = weights.double().cumsum(dim=-1)
    at = torch.rand(len(below), 1, generator=generator, dtype=torch.float64) * below[:, -1:]
    return torch.searchsorted(below, at, right=True)[:, 0].clamp_(max=weights.shape[-1] - 1)


class _Grid:
    """The keys and values of a (Q, G) grid of growing completions."""

    def __init__(self, model: Qwen2, prefix: Prefix, questions: Tensor, n: int) -> None:
        self._model = model
        self._keys = prefix.keys
        self._values = prefix.values
        self._lengths = prefix.lengths
        self._bias = torch.zeros(prefix.mask.shape).masked_fill_(~prefix.mask, float("-inf"))[:, None, None, None, :]
        layers = len(prefix.keys)
        heads, size = model.config.num_key_value_heads, model.head_size
        self._own_keys = [torch.empty(len(questions) * n, heads, 0, size) for _ in range(layers)]
        self._own_values = [torch.empty(len(questions) * n, heads, 0, size) for _ in range(layers)]
        self._room = 0
        self._length = 0

    def pack(self, questions: list[int], columns: list[list[int]]) -> None:
        """Keep only the named questions, and of each the named columns."""
        chosen = torch.tensor(questions)
        width = self._own_keys[0].shape[0] // len(self._lengths)
        rows = torch.tensor([q * width + g for q, row in zip(questions, columns, strict=True) for g in row])
        self._keys = [keys[chosen] for keys in self._keys]
        self._values = [values[chosen] for values in self._values]
        self._lengths = self._lengths[chosen]
        self._bias = self._bias[chosen]
        self._own_keys = [keys[rows] for keys in self._own_keys]
        self._own_values = [values[rows] for values in self._own_values]

    def step(self, tokens: Tensor) -> Tensor:
        """One token (Q, G) further: the hidden states (Q, G, hidden) that predict the next."""
        model = self._model
        questions, width = tokens.shape
        rows = questions * width
        kv, size = model.config.num_key_value_heads, model.head_size
        repeat = model.config.num_attention_heads // kv
        if self._length == self._room:
            self._grow(32)
        hidden: Tensor = model.model.embed_tokens(tokens.reshape(rows, 1))
        positions = (self._lengths[:, None] + self._length).expand(questions, width).reshape(rows, 1)
        self._length += 1
        for index, block in enumerate(model.model.layers):
            q, k, v = model.projected(block, hidden, positions)
            keys, values = self._own_keys[index], self._own_values[index]
            keys[:, :, self._length - 1] = k[:, :, 0]
            values[:, :, self._length - 1] = v[:, :, 0]
            own_k, own_v = keys[:, :, : self._length], values[:, :, : self._length]
            q = q.view(questions, width, kv, repeat, size) * size**-0.5
            own = torch.matmul(q.view(rows, kv, repeat, size), own_k.transpose(2, 3))
            own = own.view(questions, width, kv, repeat, -1)
            shared_q = q.permute(0, 2, 1, 3, 4).reshape(questions, kv, width * repeat, size)
            shared = torch.matmul(shared_q, self._keys[index].transpose(2, 3))
            shared = shared.view(questions, kv, width, repeat, -1).transpose(1, 2) + self._bias
            weights = torch.cat((shared, own), dim=-1).softmax(dim=-1)
            split = shared.shape[-1]
            by_prompt = weights[..., :split].transpose(1, 2).reshape(questions, kv, width * repeat, split)
            mixed = torch.matmul(by_prompt, self._values[index]).view(questions, kv, width, repeat, size).transpose(1, 2)
            by_row = weights[..., split:].reshape(rows, kv, repeat, self._length)
            mixed = mixed.reshape(rows, kv, repeat, size) + torch.matmul(by_row, own_v)
            hidden = model.closed(block, hidden, mixed.reshape(rows, kv * repeat, 1, size))
        return hidden.view(questions, width, -1)

    def _grow(self, tokens: int) -> None:
        self._room += tokens
        for caches in (self._own_keys, self._own_values):
            for index, cache in enumerate(caches):
                room = torch.empty(*cache.shape[:2], tokens, cache.shape[3])
                caches[index] = torch.cat((cache, room), dim=2)
