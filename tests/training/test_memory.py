"""What a GPU has to hold: the arithmetic against real models, real optimisers and real caches, as far as a CPU has them."""

from dataclasses import asdict, replace

import pytest
import torch

from podium.policies.qwen2 import Qwen2, Qwen2Config
from podium.recipes.paper import config as paper
from podium.recipes.paper import lora
from podium.training.estimate import GPU_GIB, Estimate, estimate, memory_of
from podium.training.learner import Learner
from podium.training.learner_config import LearnerConfig
from podium.training.memory import FULL, GIB, QWEN_7B, Memory, ModelShape, memory
from podium.training.pretrained import Pretrained
from podium.training.rows import TrainingRow
from podium.training.warm_start import Demonstration
from podium.types import Card
from podium.workflow.syntax import WorkflowSyntax
from tests.training.gym_runs import WARM_START, small_config

TINY = ModelShape(
    hidden_size=48,
    intermediate_size=80,
    num_hidden_layers=3,
    num_attention_heads=4,
    num_key_value_heads=2,
    vocab_size=130,
    tie_word_embeddings=True,
)


def model() -> Qwen2:
    sizes = {name: value for name, value in asdict(TINY).items() if name != "tie_word_embeddings"}
    return Qwen2(Qwen2Config(**sizes), seed=0)


def bytes_of(needed: Memory, start: str) -> tuple[int, int]:
    [part] = [part for part in needed.parts if part.name.startswith(start)]
    return part.learning, part.sampling


def test_parameters_are_those_of_the_model() -> None:
    assert TINY.parameters == sum(parameter.numel() for parameter in model().parameters())
    assert replace(TINY, tie_word_embeddings=False).parameters == TINY.parameters + 48 * 130
    assert QWEN_7B.parameters == 7_615_616_512, "as published"
    matrices = [
        parameter for name, parameter in model().named_parameters() if parameter.dim() == 2 and name.startswith("model.layers.")
    ]
    assert len(matrices) == 7 * 3
    assert TINY.adapter_parameters(5) == sum(5 * (len(matrix) + len(matrix[0])) for matrix in matrices)


def test_keys_and_values_are_those_of_the_cache() -> None:
    prefix = model().prompts(torch.tensor([[1, 2, 3, 4, 5]]), torch.tensor([5]))
    numbers = sum(tensor.numel() for tensor in (*prefix.keys, *prefix.values))
    assert TINY.cached_bytes * 5 == 2 * numbers
    assert QWEN_7B.cached_bytes == 57_344


@pytest.mark.parametrize("gpus", [1, 2])
def test_state_is_that_of_the_optimiser(gpus: int) -> None:
    learning = model()
    learner = Learner(learning, LearnerConfig(), range(10), steps=2)
    learner.step([TrainingRow(prompt_ids=(1, 2), completion_ids=(3, 4), logprobs=(-1.0, -1.0), advantage=1.0)])
    weights = list(learning.parameters())
    gradients = [weight.grad for weight in weights if weight.grad is not None]
    state = learner.state()["optimizer"]["state"]
    moments = [value for each in state.values() for name, value in each.items() if name != "step"]
    needed = memory(TINY, gpus=gpus, gpu=GIB, rows=1, tokens=8, sharded=True)
    for start, tensors in (("weights, float32", weights), ("gradient, float32", gradients), ("Adam", moments)):
        held = sum(tensor.numel() * tensor.element_size() for tensor in tensors)
        assert bytes_of(needed, start)[0] == held // gpus


def test_the_recipes_of_the_paper_fit_on_the_gpus_they_name() -> None:
    full, adapter = (memory_of(config.pretrained) for config in (paper(), lora()) if config.pretrained is not None)
    assert full is not None
    assert adapter is not None
    assert full.fits
    assert adapter.fits
    longest = 256 * 1024 + 4 * 7168  # every rollout as long as it may be, and each prompt kept once
    assert full.cached_tokens > longest, "vLLM can keep the whole iteration"
    given = paper().pretrained
    assert given is not None
    alone = memory_of(replace(given, options={**given.options, "vllm_tensor_parallel_size": 1}))
    assert alone is not None
    assert alone.cached_tokens < longest, "with a whole copy on each GPU it could not"
    assert full.gpu == GPU_GIB * GIB
    # 16 bytes a parameter, over two GPUs: the state of training alone.
    state = sum(bytes_of(full, start)[0] for start in ("weights, float32", "gradient,", "Adam"))
    assert state == 16 * QWEN_7B.parameters // 2


@pytest.mark.parametrize(
    "changed",
    [
        {"vllm_enable_sleep_mode": False},
        {"vllm_gpu_memory_utilization": 0.5},
        {"per_device_train_batch_size": 4},
        {"fsdp": False},
    ],
)
def test_each_setting_of_the_recipe_is_needed(changed: dict[str, object]) -> None:
    given = paper().pretrained
    assert given is not None
    needed = memory_of(replace(given, options={**given.options, **changed}))
    assert needed is not None
    assert not needed.fits


def test_without_vllm_keys_and_values_grow_with_what_is_sampled_at_once() -> None:
    given = Pretrained(model="m", shape=QWEN_7B, gpus=2, options={"fsdp": True, "per_device_train_batch_size": 1})
    few, many = (memory_of(replace(given, sampled_at_once=n)) for n in (16, 128))
    assert few is not None
    assert many is not None
    assert few.fits
    assert not many.fits
    usual = memory_of(given)
    assert usual is not None
    assert usual.fits
    assert bytes_of(many, "keys")[1] == 8 * bytes_of(few, "keys")[1] == 128 * 8192 * QWEN_7B.cached_bytes
    assert bytes_of(few, "vLLM: weights") == (0, 0)


def test_vllm_on_gpus_of_its_own_takes_nothing_here() -> None:
    given = Pretrained(model="m", shape=QWEN_7B, gpus=2, options={"fsdp": True, "use_vllm": True, "vllm_mode": "server"})
    needed = memory_of(given)
    assert needed is not None
    assert bytes_of(needed, "vLLM: weights") == bytes_of(needed, "keys") == (0, 0)


def test_an_estimate_shows_the_table_where_the_sizes_are_known() -> None:
    cards = [Card(name="a", prompt_usd=1e-6, completion_usd=1e-6)]
    given = paper().pretrained
    assert given is not None
    found = estimate(replace(small_config(), pretrained=given), cards)
    assert found.memory is not None
    text = found.as_text()
    assert "memory of a GPU of 79 GiB" in text
    assert text.endswith("it fits")
    assert "keys and values" in text
    worse = replace(given, options={**given.options, "vllm_enable_sleep_mode": False})
    assert "does NOT fit" in estimate(replace(small_config(), pretrained=worse), cards).as_text()
    assert "memory" not in estimate(replace(small_config(), pretrained=replace(given, shape=None)), cards).as_text()
    assert estimate(small_config(), cards).memory is None
    assert FULL * QWEN_7B.parameters // 2 == bytes_of(found.memory, "weights, float32")[0]


def test_an_estimate_expects_fewer_calls_of_steps_with_a_condition_and_no_fewer_at_most() -> None:
    lists = 'model_id = [0, 1, 2]\nsubtasks = ["a", "b", "c"]\naccess_list = [[], [], "all"]\n'
    config = replace(small_config(), syntax=WorkflowSyntax(conditions=True))
    cards = [Card(name="a", prompt_usd=1e-6, completion_usd=1e-6)]

    def expected(condition: str) -> Estimate:
        written = Demonstration(f'{lists}conditions = ["always", "always", "{condition}"]', ())
        return estimate(replace(config, warm_start=replace(WARM_START, write=lambda *given: written)), cards)

    whole, stopping = expected("always"), expected("unless 2 agree")
    assert stopping.calls == pytest.approx(whole.calls * 2.5 / 3, abs=1)
    assert (stopping.cost_usd or 0) < (whole.cost_usd or 0)
    assert (stopping.calls_at_most, stopping.cost_usd_at_most) == (whole.calls_at_most, whole.cost_usd_at_most)
    assert "a step with a condition is carried out 50%" in stopping.as_text()
