"""What a recipe may set of TRL's configuration: how to compute, never what.

Every field of ``GRPOConfig`` stands in one of four groups. Only those of :data:`FREE` are options; each of the others is refused
with its reason, and so is a field that is in none of the groups. A test holds the groups to the installed library.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trl import GRPOConfig

from podium.errors import ConfigError
from podium.training.learner_config import LearnerConfig


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


FREE = _names(
    # What passes at once, in which precision, over which devices; sampling with vLLM or without.
    "per_device_train_batch_size bf16 tf32 cast_lm_head_to_fp32 use_cpu full_determinism "
    "activation_checkpointing activation_checkpointing_kwargs gradient_checkpointing gradient_checkpointing_kwargs "
    "torch_compile torch_compile_backend torch_compile_mode torch_empty_cache_steps pad_to_multiple_of "
    "ddp_find_unused_parameters ddp_bucket_cap_mb ddp_broadcast_buffers ddp_static_graph ddp_backend ddp_timeout "
    "fsdp fsdp_config deepspeed ds3_gather_for_generation accelerator_config "
    "model_init_kwargs trust_remote_code log_level log_level_replica log_on_each_node "
    "use_vllm vllm_mode vllm_model_impl vllm_enable_sleep_mode vllm_server_base_url vllm_server_host vllm_server_port "
    "vllm_server_timeout vllm_group_port vllm_gpu_memory_utilization vllm_max_model_length vllm_tensor_parallel_size"
)
"""How to compute: the options."""

DECIDED = _names(
    "output_dir loss_type beta epsilon num_iterations num_generations learning_rate weight_decay adam_beta1 adam_beta2 "
    "adam_epsilon max_grad_norm temperature top_p top_k max_completion_length gradient_accumulation_steps "
    "vllm_importance_sampling_correction report_to save_strategy"
)
"""What :func:`grpo_config` derives from the recipe."""

CHANGES = _names(
    # The optimiser, the loss and its clip.
    "lr_scheduler_type lr_scheduler_kwargs warmup_steps optim optim_args optim_target_modules label_smoothing_factor "
    "neftune_noise_alpha disable_dropout router_aux_loss_coef use_liger_kernel liger_kernel_config fp16 "
    "delta epsilon_high sapo_temperature_neg sapo_temperature_pos vespo_k_pos vespo_lambda_pos vespo_k_neg vespo_lambda_neg "
    "importance_sampling_level mask_truncated_completions off_policy_mask_threshold use_bias_correction_kl "
    "top_entropy_quantile entropy_coef use_adaptive_entropy entropy_coef_min entropy_coef_max entropy_coef_delta entropy_target "
    "vllm_importance_sampling_mode vllm_importance_sampling_clip_max vllm_importance_sampling_clip_min "
    "vllm_importance_sampling_cap sync_ref_model ref_model_mixup_alpha ref_model_sync_steps average_tokens_across_devices "
    # What is sampled. Continuous batching turns the weights that learn to half precision.
    "min_p generation_kwargs repetition_penalty cache_implementation vllm_structured_outputs_regex chat_template_kwargs "
    "use_transformers_continuous_batching transformers_continuous_batching_config use_transformers_paged "
    "generation_batch_size steps_per_generation seed "
    # Rewards and advantages.
    "reward_weights multi_objective_aggregation scale_rewards"
)
"""What would make another loss, another distribution to sample from, or other advantages than the recipe's."""

UNUSED = _names(
    "num_train_epochs max_steps bf16_full_eval fp16_full_eval use_cache auto_find_batch_size logging_strategy logging_steps "
    "logging_first_step logging_nan_inf_filter include_num_input_tokens_seen disable_tqdm run_name project trackio_space_id "
    "trackio_bucket_id trackio_static_space_id eval_strategy eval_steps eval_delay per_device_eval_batch_size "
    "prediction_loss_only eval_on_start eval_do_concat_batches eval_use_gather_object eval_accumulation_steps "
    "include_for_metrics batch_eval_metrics save_only_model save_steps save_on_each_node save_total_limit "
    "enable_jit_checkpoint push_to_hub hub_token hub_private_repo hub_model_id hub_strategy hub_always_push hub_revision "
    "load_best_model_at_end metric_for_best_model greater_is_better ignore_data_skip restore_callback_states_from_checkpoint "
    "data_seed parallelism_config dataloader_drop_last dataloader_num_workers dataloader_pin_memory "
    "dataloader_persistent_workers dataloader_prefetch_factor dataloader_multiprocessing_context dataloader_in_order "
    "remove_unused_columns label_names train_sampling_strategy length_column_name debug skip_memory_metrics do_train do_eval "
    "do_predict resume_from_checkpoint local_rank num_generations_eval shuffle_dataset max_tool_calling_iterations "
    "log_completions log_multimodal num_completions_to_print log_unique_prompts log_completions_hub_repo"
)
"""What belongs to TRL's own loop, data, evaluation and log, of which nothing is used here."""

MODEL_KEYS = frozenset({"attn_implementation", "cache_dir", "device_map", "dtype", "local_files_only", "revision"})
"""Of ``model_init_kwargs``: others, a dropout for instance, would change the model."""
OPTIMISER_KEYS = frozenset({"optimizer", "scheduler", "gradient_clipping", "gradient_accumulation_steps"})
"""Of a DeepSpeed configuration: these would take the place of the recipe's optimiser; "auto" leaves them to it."""


def grpo_config(
    folder: str,
    config: LearnerConfig,
    *,
    rollouts: int,
    max_tokens: int,
    temperature: float,
    options: Mapping[str, Any],
    adapted: bool = False,
) -> GRPOConfig:
    """TRL's configuration for a recipe; ``adapted`` says that only an adapter learns.

    Raises :class:`ConfigError` where an option contradicts the recipe.
    """
    _check(options, adapted)
    processes = int(os.environ.get("WORLD_SIZE", "1"))
    derived = _derived(folder, config, max_tokens=max_tokens, temperature=temperature)
    return GRPOConfig(**derived, **over_processes(options, rollouts=rollouts, processes=processes))


def over_processes(options: Mapping[str, Any], *, rollouts: int, processes: int) -> dict[str, Any]:
    """``options`` with what follows from the number of processes. Raises :class:`ConfigError` where it does not suit them."""
    free = {"per_device_train_batch_size": 4, "ddp_find_unused_parameters": False, **options}
    parallel = free.get("vllm_tensor_parallel_size", 1)
    if free.get("use_vllm") and free.get("vllm_mode", "colocate") == "colocate" and processes % parallel:
        raise ConfigError(
            f"vllm_tensor_parallel_size={parallel} needs a multiple of {parallel} processes, and there are {processes}: launch "
            f"with torchrun --nproc_per_node {parallel}, or set it to 1"
        )
    at_once = free["per_device_train_batch_size"] * processes
    # How many micro-batches an iteration usually has; vLLM reserves room by it, and it must be even for TRL's own pairs.
    return {**free, "gradient_accumulation_steps": max(2, 2 * round(rollouts / at_once / 2))}


def _derived(folder: str, config: LearnerConfig, *, max_tokens: int, temperature: float) -> dict[str, Any]:
    """What the recipe decides."""
    return {
        "output_dir": folder,
        "loss_type": "grpo",
        "beta": 0.0,
        "epsilon": config.clip,
        "num_iterations": 1,
        "num_generations": 2,
        "learning_rate": config.learning_rate,
        "weight_decay": config.weight_decay,
        "adam_beta1": 0.9,
        "adam_beta2": 0.999,
        "adam_epsilon": 1e-8,
        "max_grad_norm": config.max_grad_norm,
        "temperature": temperature,
        "top_p": 1.0,
        "top_k": 0,
        "max_completion_length": max_tokens,
        # The clipped ratio is taken to the log-probabilities a token was sampled with, be it by vLLM or here.
        "vllm_importance_sampling_correction": False,
        "report_to": "none",
        "save_strategy": "no",
    }


def _check(options: Mapping[str, Any], adapted: bool) -> None:
    reasons = {
        "the recipe decides on that": DECIDED,
        "it would change what is sampled or learned, and the recipe decides on that": CHANGES,
        "it belongs to TRL's own loop, which is not used, and would be ignored": UNUSED,
    }
    for reason, names in reasons.items():
        refused = sorted(names & set(options))
        if refused:
            raise ConfigError(f"{', '.join(refused)}: {reason}; options only say how to compute")
    unknown = sorted(set(options) - FREE)
    if unknown:
        raise ConfigError(f"{', '.join(unknown)}: not known to be an option; there are {', '.join(sorted(FREE))}")
    _check_model(options.get("model_init_kwargs"), adapted)
    _check_deepspeed(options.get("deepspeed"))


def _check_model(given: object, adapted: bool) -> None:
    if given is None:
        return
    if not isinstance(given, Mapping) or set(given) - MODEL_KEYS:
        raise ConfigError(f"model_init_kwargs may have {', '.join(sorted(MODEL_KEYS))}; anything else would change the model")
    if not adapted and str(given.get("dtype", "float32")).removeprefix("torch.") != "float32":
        raise ConfigError(
            "model_init_kwargs: dtype must stay float32 where every weight learns: the recipe's steps are smaller than what a "
            "half-precision weight can be told apart by. bf16=True computes in half precision and keeps the weights whole"
        )


def _check_deepspeed(given: object) -> None:
    if given is None:
        return
    try:
        plain = json.loads(Path(given).read_text(encoding="utf-8")) if isinstance(given, str | Path) else given
    except (OSError, ValueError) as error:
        raise ConfigError(f"can not read the DeepSpeed configuration {given}: {error}") from error
    if not isinstance(plain, Mapping):
        raise ConfigError("deepspeed is a DeepSpeed configuration or the file of one")
    refused = sorted(name for name in OPTIMISER_KEYS & set(plain) if plain[name] != "auto")
    if refused:
        raise ConfigError(f'deepspeed: {", ".join(refused)}: the recipe decides on that; leave it out, or set it to "auto"')
