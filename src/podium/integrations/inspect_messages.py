"""Between Inspect's messages and outputs and ours."""

from collections.abc import Sequence
from typing import Literal

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    ModelOutput,
    ModelUsage,
    StopReason,
)

from podium.errors import ConfigError
from podium.types import Completion, Message, Question, Sampling, Usage

_STOPS: dict[str, StopReason] = {"length": "max_tokens", "content_filter": "content_filter", "stop": "stop"}


def question_of(messages: Sequence[ChatMessage]) -> Question:
    """The conversation so far. Raises :class:`ConfigError` for pictures, tools and whatever else is not text."""
    turns = []
    for message in messages:
        role: Literal["system", "user", "assistant"]
        if message.role == "tool" or (isinstance(message, ChatMessageAssistant) and message.tool_calls):
            raise ConfigError("Podium's workers are asked in text and call no tools; take a task without tools")
        role = message.role
        parts = [] if isinstance(message.content, str) else [part.type for part in message.content]
        if other := sorted({*parts} - {"text", "reasoning"}):
            raise ConfigError(f"Podium's workers are asked in text; a message has {', '.join(other)}")
        turns.append(Message(role=role, content=message.text))
    return tuple(turns)


def messages_of(question: Question) -> list[ChatMessage]:
    """The same the other way round."""
    made = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}
    return [made[message.role](content=message.content) for message in question]


def sampling_of(config: GenerateConfig) -> Sampling:
    """How the last step's worker should decode. Raises :class:`ConfigError` for what no worker of ours is told."""
    if config.stop_seqs or (config.num_choices or 1) > 1:
        raise ConfigError("stop_seqs and num_choices are not handed on to Podium's workers; leave them out")
    return Sampling(
        temperature=config.temperature,
        top_p=config.top_p,
        max_tokens=config.max_tokens,
        thinking_tokens=config.reasoning_tokens,
        seed=config.seed,
    )


def config_of(sampling: Sampling) -> GenerateConfig:
    """The same the other way round."""
    return GenerateConfig(
        temperature=sampling.temperature,
        top_p=sampling.top_p,
        max_tokens=sampling.max_tokens,
        reasoning_tokens=sampling.thinking_tokens,
        seed=sampling.seed,
    )


def output_of(completion: Completion, model: str) -> ModelOutput:
    """An answer with what all of it cost, the Conductor's own tokens included."""
    output = ModelOutput.from_content(model, completion.text, stop_reason=_STOPS.get(completion.finish_reason, "unknown"))
    output.usage = model_usage(completion.usage)
    output.time = completion.seconds
    return output


def model_usage(usage: Usage) -> ModelUsage:
    """Tokens and dollars; an unknown price stays unknown."""
    return ModelUsage(
        input_tokens=usage.prompt_tokens,
        output_tokens=usage.completion_tokens,
        total_tokens=usage.tokens,
        total_cost=usage.cost_usd,
    )
