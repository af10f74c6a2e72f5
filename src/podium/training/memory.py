"""What a GPU has to hold when a published model learns with TRL and samples with vLLM in the same process.

The arithmetic of the libraries' source, not a measurement: weights stay in float32 and are computed with in bfloat16, Adam
keeps two moments, FSDP shares all of that out evenly and gathers a layer at a time; vLLM has a copy of its own in bfloat16, and
the rest of its share of the GPU for keys and values. The two take turns: the gradient is gone when vLLM wakes, and vLLM may sleep
while the model learns. Whatever is not known exactly is counted too high. Free of torch.
"""

from dataclasses import dataclass

FULL, HALF = 4, 2
"""Bytes of a number in float32 and in bfloat16."""
MOMENTS = 2
GIB = 2**30
LOGITS_AT_ONCE = 32_768
"""Words of the vocabulary whose logits TRL holds at once."""
RUNTIME = 3 * GIB
"""CUDA, NCCL, vLLM's recorded graphs and other things that never leave."""
PEAK_OF_VLLM = 2 * GIB
"""What vLLM sets aside of its share for its own forward pass of 4,096 tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelShape:
    """The sizes of a Qwen2 model, as its ``config.json`` names them. Example: :data:`QWEN_7B`."""

    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    vocab_size: int
    tie_word_embeddings: bool = False

    @property
    def key_value_size(self) -> int:
        """Width of the keys, and of the values, of one layer."""
        return self.hidden_size // self.num_attention_heads * self.num_key_value_heads

    @property
    def layer_parameters(self) -> int:
        """Parameters of one layer: attention with its biases, the three matrices of the other half, two norms."""
        h, kv = self.hidden_size, self.key_value_size
        return 2 * h * h + 2 * h * kv + h + 2 * kv + 3 * h * self.intermediate_size + 2 * h

    @property
    def outer_parameters(self) -> int:
        """Parameters outside the layers: embeddings, the output weights where they are other ones, the last norm."""
        return self.vocab_size * self.hidden_size * (1 if self.tie_word_embeddings else 2) + self.hidden_size

    @property
    def parameters(self) -> int:
        """All of them. Example: 7,615,616,512 for :data:`QWEN_7B`."""
        return self.num_hidden_layers * self.layer_parameters + self.outer_parameters

    @property
    def cached_bytes(self) -> int:
        """Keys and values of one token, in bfloat16."""
        return 2 * self.num_hidden_layers * self.key_value_size * HALF

    def adapter_parameters(self, rank: int) -> int:
        """Parameters of an adapter of ``rank`` on every matrix of every layer."""
        h, i, kv = self.hidden_size, self.intermediate_size, self.key_value_size
        return self.num_hidden_layers * rank * (2 * (h + h) + 2 * (h + kv) + 3 * (h + i))


QWEN_7B = ModelShape(
    hidden_size=3584,
    intermediate_size=18944,
    num_hidden_layers=28,
    num_attention_heads=28,
    num_key_value_heads=4,
    vocab_size=152064,
)
"""Qwen2.5-7B."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What one thing takes of one GPU, in bytes, while the model learns and while it samples."""

    name: str
    learning: int
    sampling: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """Everything that one GPU holds. Example: ``memory(QWEN_7B, gpus=2, ...).learning / GIB``."""

    parts: tuple[Part, ...]
    gpu: int
    """Bytes that the GPU has."""
    cached_tokens: int
    """Tokens whose keys and values fit into vLLM's share, over all GPUs that share a copy; 0 without vLLM."""

    @property
    def learning(self) -> int:
        """Bytes while the model learns."""
        return sum(part.learning for part in self.parts)

    @property
    def sampling(self) -> int:
        """Bytes while it samples."""
        return sum(part.sampling for part in self.parts)

    @property
    def fits(self) -> bool:
        """Whether both are within the GPU."""
        return max(self.learning, self.sampling) <= self.gpu

    def rows(self) -> list[tuple[str, str, str]]:
        """A table in GiB: name, learning, sampling; the sum and what is left last."""
        lines = [(part.name, part.learning, part.sampling) for part in self.parts]
        lines += [("sum", self.learning, self.sampling), ("left", self.gpu - self.learning, self.gpu - self.sampling)]
        return [(name, f"{learning / GIB:.1f}", f"{sampling / GIB:.1f}") for name, learning, sampling in lines]


def memory(
    shape: ModelShape,
    *,
    gpus: int,
    gpu: int,
    rows: int,
    tokens: int,
    sharded: bool,
    adapter: int = 0,
    share: float = 0.0,
    parallel: int = 1,
    sleeps: bool = False,
    sampled_at_once: int = 0,
) -> Memory:
    """What one of ``gpus`` GPUs of ``gpu`` bytes holds.

    ``rows`` of at most ``tokens`` tokens are learned from at once, with activations recomputed layer by layer. ``sharded`` says
    that FSDP shares the state out; without, every GPU has all of it. ``adapter`` counts what learns where not every weight does.
    vLLM gets ``share`` of the GPU, one copy over ``parallel`` GPUs; where it ``sleeps``, it is gone while the model learns.
    Without vLLM (``share`` 0), ``sampled_at_once`` completions are written side by side with the model itself.
    """
    owners = gpus if sharded else 1
    learning = adapter or shape.parameters
    weights = FULL * (shape.parameters + adapter) // owners
    moments = FULL * MOMENTS * learning // owners
    # While a layer is computed its weights are whole, and the next one's too; so are those outside the layers, all the time.
    whole = HALF * (shape.outer_parameters + 2 * shape.layer_parameters) if sharded else HALF * 2 * shape.layer_parameters
    passing = FULL * (shape.outer_parameters + shape.layer_parameters) if sharded and not adapter else 0
    head = 2 * FULL * shape.vocab_size * shape.hidden_size if not adapter else HALF * shape.vocab_size * shape.hidden_size
    kept = rows * tokens * shape.num_hidden_layers * shape.hidden_size * HALF
    inside = rows * tokens * HALF * (4 * shape.intermediate_size + 8 * shape.hidden_size)
    logits = FULL * rows * tokens * min(LOGITS_AT_ONCE, shape.vocab_size)
    its_share = int(share * gpu)
    its_weights = HALF * shape.parameters // parallel if share else 0
    cache = max(0, its_share - its_weights - PEAK_OF_VLLM) if share else sampled_at_once * tokens * shape.cached_bytes
    awake = 0 if sleeps else 1
    return Memory(
        parts=(
            Part(name="weights, float32", learning=weights, sampling=weights),
            Part(name="gradient, float32", learning=FULL * learning // owners, sampling=0),
            Part(name="Adam's two moments, float32", learning=moments, sampling=moments),
            Part(name="weights gathered to compute with, bfloat16", learning=whole, sampling=0 if share else whole),
            Part(name="gradients on their way to their owner, float32", learning=passing, sampling=0),
            Part(name="output weights whole, with their gradient", learning=head, sampling=0),
            Part(name="activations kept, one per layer", learning=kept, sampling=0),
            Part(name="activations of the layer being recomputed", learning=inside, sampling=0),
            Part(name="logits", learning=logits, sampling=logits if not share else 0),
            Part(name="vLLM: weights, bfloat16", learning=awake * its_weights, sampling=its_weights),
            Part(
                name="vLLM: its own forward pass",
                learning=awake * (PEAK_OF_VLLM if share else 0),
                sampling=PEAK_OF_VLLM if share else 0,
            ),
            Part(name="keys and values", learning=awake * cache if share else 0, sampling=cache),
            Part(name="CUDA, NCCL, recorded graphs", learning=RUNTIME, sampling=RUNTIME),
        ),
        gpu=gpu,
        cached_tokens=parallel * cache // shape.cached_bytes if share else 0,
    )
