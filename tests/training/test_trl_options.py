"""Every field of TRL's configuration is an option, or refused with a reason; none is left to chance."""

import dataclasses
import inspect
import itertools
import json
import os
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

if find_spec("trl") is None and not os.environ.get("PODIUM_NO_SKIPS"):
    pytest.skip("TRL is not installed: pip install -e '.[trl]'", allow_module_level=True)

from trl import GRPOConfig, GRPOTrainer

from podium.errors import ConfigError
from podium.recipes.paper import config as paper
from podium.recipes.paper import lora
from podium.training.learner_config import LearnerConfig
from podium.training.trl_options import CHANGES, DECIDED, FREE, UNUSED, grpo_config, over_processes

FIELDS = {field.name: field for field in dataclasses.fields(GRPOConfig)}
CPU = {"use_cpu": True, "bf16": False}

pytestmark = [pytest.mark.filterwarnings("ignore::FutureWarning"), pytest.mark.filterwarnings("ignore::UserWarning")]


def made(folder: Path, *, adapted: bool = False, **options: Any) -> GRPOConfig:
    return grpo_config(
        str(folder),
        LearnerConfig(clip=0.1),
        rollouts=256,
        max_tokens=64,
        temperature=1.0,
        options={**CPU, **options},
        adapted=adapted,
    )


def test_every_field_of_the_installed_library_is_in_one_group() -> None:
    """A field that a new version brings has to be looked at before a recipe may set it, or rely on its default."""
    assert set(FIELDS) - (FREE | DECIDED | CHANGES | UNUSED) == set()
    assert all(not one & other for one, other in itertools.combinations((FREE, DECIDED, CHANGES, UNUSED), 2))


@pytest.mark.parametrize("name", sorted(set(FIELDS) - FREE))
def test_what_does_not_only_say_how_to_compute_is_refused(tmp_path: Path, name: str) -> None:
    option: dict[str, Any] = {name: FIELDS[name].default}
    with pytest.raises(ConfigError, match=f"^{name}: .*options only say how to compute"):
        made(tmp_path, **option)


def test_what_nobody_knows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="epsilon_low: not known to be an option"):
        made(tmp_path, epsilon_low=0.1)


def test_no_option_is_read_where_the_loss_is_made() -> None:
    """What the loss reads of the configuration, but for the device, its precision, and a correction that is off."""
    source = inspect.getsource(GRPOTrainer._compute_loss)
    read = {name for name in FIELDS if re.search(rf"\b{name}\b", source)}
    assert read > {"delta", "loss_type", "importance_sampling_level", "top_entropy_quantile"}
    assert read & FREE == {"use_vllm"}


def test_what_is_left_at_its_default_is_what_the_loss_of_the_reference_engine_is(tmp_path: Path) -> None:
    config = made(tmp_path)
    assert (config.epsilon, config.epsilon_high, config.delta, config.importance_sampling_level) == (0.1, None, None, "token")
    assert (config.top_entropy_quantile, config.entropy_coef, config.use_adaptive_entropy) == (1.0, 0.0, False)
    assert (config.off_policy_mask_threshold, config.vllm_importance_sampling_correction) == (None, False)
    assert (config.min_p, config.top_p, config.top_k, config.repetition_penalty, config.generation_kwargs) == (
        None,
        1.0,
        0,
        1.0,
        None,
    )
    assert (config.adam_beta1, config.adam_beta2, config.label_smoothing_factor, config.neftune_noise_alpha) == (
        0.9,
        0.999,
        0.0,
        None,
    )
    assert config.optim.value.startswith("adamw_torch")


@pytest.mark.parametrize("recipe", [paper, lora])
def test_the_recipes_of_the_paper_pass_on_the_gpus_they_name(recipe: Any, tmp_path: Path) -> None:
    model = recipe().pretrained
    parallel = model.options["vllm_tensor_parallel_size"]
    config = over_processes(model.options, rollouts=256, processes=model.gpus)
    # TRL lets vLLM write so many at once: all rollouts of an iteration that one copy of the model has to write.
    assert config["per_device_train_batch_size"] * parallel * config["gradient_accumulation_steps"] == 256
    sharding = {name for name in model.options if name.startswith("fsdp")}  # needs GPUs
    plain = {name: value for name, value in model.options.items() if name not in sharding | {"vllm_tensor_parallel_size"}}
    assert made(tmp_path, adapted=model.adapter is not None, **{**plain, **CPU}).vllm_enable_sleep_mode


def test_one_copy_over_two_gpus_needs_two_processes(tmp_path: Path) -> None:
    options: dict[str, Any] = {"use_vllm": True, "vllm_tensor_parallel_size": 2}
    with pytest.raises(ConfigError, match="there are 1: launch with torchrun --nproc_per_node 2"):
        made(tmp_path, **options)
    with pytest.raises(ConfigError, match="there are 3"):
        over_processes(options, rollouts=256, processes=3)
    over_processes({**options, "vllm_mode": "server"}, rollouts=256, processes=1)


@pytest.mark.parametrize("given", [{"dtype": "bfloat16"}, {"dtype": "auto"}, {"attention_dropout": 0.1}, "bfloat16"])
def test_the_model_stays_what_it_is(tmp_path: Path, given: Any) -> None:
    with pytest.raises(ConfigError, match="model_init_kwargs"):
        made(tmp_path, model_init_kwargs=given)


def test_frozen_weights_may_be_halved_and_attention_computed_in_another_way(tmp_path: Path) -> None:
    made(tmp_path, model_init_kwargs={"dtype": "bfloat16"}, adapted=True)
    made(tmp_path, model_init_kwargs={"dtype": "float32", "attn_implementation": "sdpa"})


@pytest.mark.parametrize("in_file", [False, True])
@pytest.mark.parametrize("name", ["optimizer", "scheduler", "gradient_clipping", "gradient_accumulation_steps"])
def test_deepspeed_may_not_bring_an_optimiser_of_its_own(tmp_path: Path, name: str, in_file: bool) -> None:
    plain = {name: {"type": "Lion"}, "zero_optimization": {"stage": 2}}
    given: Any = plain
    if in_file:
        given = str(tmp_path / "deepspeed.json")
        Path(given).write_text(json.dumps(plain))
    with pytest.raises(ConfigError, match=f"deepspeed: {name}"):
        made(tmp_path, deepspeed=given)
    with pytest.raises(ConfigError, match="can not read"):
        made(tmp_path, deepspeed=str(tmp_path / "missing.json"))
