"""The kind of worker ``chat``, a model behind an API: the keys of its table, and the worker that is made of them."""

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from podium.errors import ConfigError
from podium.registry import register
from podium.types import Sampling
from podium.workers.chat import ChatWorker
from podium.workers.connections import Connections
from podium.workers.extra_body import checked_body, price_problem
from podium.workers.kinds import WorkerKind
from podium.workers.providers import PROVIDERS, checked_url, split_model
from podium.workers.table import DEFAULT_KIND, VariableName, WorkerConfig, checked


class ChatWorkerConfig(WorkerConfig):
    """The table of a chat worker. Example: ``ChatWorkerConfig(name="small", model="openai:gpt-5-mini")``."""

    model: Annotated[str, checked(split_model)]
    """``provider:model``; everything after the first colon is the provider's own name for it."""
    base_url: Annotated[str, checked(checked_url)] | None = None
    """Another address than the provider's: vLLM, Ollama, a gateway."""
    api_key_env: VariableName | None = None
    """Name of the variable that holds the key. Default: the provider's usual one, and none with a ``base_url``, so that a
    provider's key never goes to another address by accident."""
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    thinking_tokens: Annotated[int, Field(ge=0)] | None = None
    """Thinking budget; 0 asks for the least the provider allows."""
    extra_body: Annotated[dict[str, Any], checked(checked_body)] = Field(default_factory=dict)
    """Further fields of the request, as the provider documents them; none that changes how much is asked for or what it costs."""

    @model_validator(mode="after")
    def _agree(self) -> Self:
        if self.thinking_tokens is not None and self.thinking_tokens >= self.max_tokens:
            raise ValueError(f"thinking_tokens = {self.thinking_tokens} leaves nothing of max_tokens = {self.max_tokens}")
        if self.price is None and (problem := price_problem(self.extra_body)) is not None:
            raise ValueError(problem)
        return self

    @property
    def key_env(self) -> str | None:
        """The variable the key is read from; None where no key is sent."""
        if self.api_key_env is not None or self.base_url is not None:
            return self.api_key_env
        return PROVIDERS[split_model(self.model)[0]].key_env

    @property
    def sampling(self) -> Sampling:
        """The worker's decoding defaults."""
        return Sampling(
            temperature=self.temperature,
            top_p=self.top_p,
            max_tokens=self.max_tokens,
            thinking_tokens=self.thinking_tokens,
        )


def build_chat_worker(config: ChatWorkerConfig, environ: Mapping[str, str], connections: Connections | None = None) -> ChatWorker:
    """The bare worker of one table, with its key out of ``environ``.

    Raises :class:`ConfigError` where the variable is not set or the provider's extra is not installed. Example::

        build_chat_worker(config, os.environ, connections)
    """
    key = None
    if config.key_env is not None:
        key = environ.get(config.key_env, "").strip()
        if not key:
            raise ConfigError(
                f"the environment variable {config.key_env} is not set; set it to the provider's key "
                "or name another variable in api_key_env"
            )
        if not (key.isascii() and key.isprintable()) or " " in key:
            raise ConfigError(f"the variable {config.key_env} does not hold a key: it has characters no key has")
    return ChatWorker(
        model=config.model,
        base_url=config.base_url,
        api_key=key,
        sampling=config.sampling,
        extra_body=config.extra_body,
        price=config.price,
        seconds=config.timeout_seconds,
        connections=connections,
    )


register("workers", DEFAULT_KIND)(
    WorkerKind(about="a model behind an API", config=ChatWorkerConfig, make=build_chat_worker, keeps_time=True)
)
