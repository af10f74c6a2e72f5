"""The providers a worker can name, and how the adapter library is told to speak to each.

Everything OpenAI-compatible goes over Chat Completions; Anthropic and Google over their own protocols, as extras. The
library's conveniences that change what a model reads are switched off here, because a worker must see exactly what
``render.py`` shows: zero-width joiners inside chat-template tokens such as ``<|im_start|>``, merged system messages,
dropped leading white space. (Its ``<system>`` blocks and notes beside look-alike text belong to agent runs; the direct
calls that we make never add them.) SDK retries are off: retrying is a wrapper's business.

Left out: providers whose keys are not one string (Bedrock, Vertex, Azure); reach those through a gateway's ``base_url``.
"""

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlsplit

import httpx2
from openai import Omit
from pydantic_ai.models import Model, infer_model
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.profiles import ModelProfile, merge_profile
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers import infer_provider_class
from pydantic_ai.providers.deepseek import DeepSeekProvider
from pydantic_ai.providers.ollama import OllamaProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider
from pydantic_ai.providers.openrouter import OpenRouterProvider
from pydantic_ai.providers.vllm import VLLMProvider
from pydantic_ai.settings import ModelSettings

from podium.errors import ConfigError
from podium.types import Effort, Sampling
from podium.workers.efforts import EFFORTS, XHIGH, effort
from podium.workers.openai_client import OpenAIClient

NO_KEY = "no-key"
"""What goes out where a server needs no key; the SDKs refuse an empty one, and would look for another in the environment."""

_NEVER = ("\x00<", "\x00>")


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A provider that a model string may start with, as in ``openai:gpt-5-mini``."""

    base_url: str
    key_env: str | None = None
    """The variable its key is usually kept in; None where it needs no key."""
    extra: str | None = None
    """The extra of Podium that installs its adapter; None for OpenAI-compatible ones."""
    profile: Callable[[str], ModelProfile | None] | None = None


PROVIDERS: Mapping[str, Provider] = {
    "openai": Provider(base_url="https://api.openai.com/v1", key_env="OPENAI_API_KEY", profile=OpenAIProvider.model_profile),
    "anthropic": Provider(base_url="https://api.anthropic.com", key_env="ANTHROPIC_API_KEY", extra="anthropic"),
    "google": Provider(base_url="https://generativelanguage.googleapis.com", key_env="GOOGLE_API_KEY", extra="google"),
    "openrouter": Provider(
        base_url="https://openrouter.ai/api/v1", key_env="OPENROUTER_API_KEY", profile=OpenRouterProvider.model_profile
    ),
    "ollama": Provider(base_url="http://localhost:11434/v1", profile=OllamaProvider.model_profile),
    "vllm": Provider(base_url="http://localhost:8000/v1", profile=VLLMProvider.model_profile),
    "deepseek": Provider(base_url="https://api.deepseek.com", key_env="DEEPSEEK_API_KEY", profile=DeepSeekProvider.model_profile),
    "fireworks": Provider(base_url="https://api.fireworks.ai/inference/v1", key_env="FIREWORKS_API_KEY"),
    "groq": Provider(base_url="https://api.groq.com/openai/v1", key_env="GROQ_API_KEY"),
    "mistral": Provider(base_url="https://api.mistral.ai/v1", key_env="MISTRAL_API_KEY"),
    "together": Provider(base_url="https://api.together.xyz/v1", key_env="TOGETHER_API_KEY"),
    "xai": Provider(base_url="https://api.x.ai/v1", key_env="XAI_API_KEY"),
}


def split_model(model: str) -> tuple[str, str]:
    """``openai:gpt-5-mini`` -> ``("openai", "gpt-5-mini")``; :class:`ConfigError` for anything else."""
    provider, colon, name = model.partition(":")
    if not colon or not name.strip():
        raise ConfigError(f"{model!r} names no provider; write it as provider:model, for example openai:gpt-5-mini")
    if provider not in PROVIDERS:
        near = difflib.get_close_matches(provider, PROVIDERS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "for any OpenAI-compatible server write openai: and set base_url"
        raise ConfigError(f"{provider!r} is no known provider ({', '.join(PROVIDERS)}); {hint}")
    return provider, name


def checked_url(url: str) -> str:
    """``url`` where it is a bare http(s) address; :class:`ConfigError`, which does not repeat it, where it is not."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or any(character.isspace() for character in url):
        raise ConfigError("base_url is not an http(s) address; write it like http://localhost:8000/v1")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise ConfigError("base_url holds more than scheme, host and path; a key belongs into a variable named by api_key_env")
    return url


def connect(
    provider: str,
    name: str,
    *,
    base_url: str,
    key: str,
    client: httpx2.AsyncClient,
    timeout: httpx2.Timeout,
    extra_body: Mapping[str, Any],
) -> Model[Any]:
    """The library's model for ``provider:name``, on the given HTTP client.

    Raises :class:`ConfigError` where the provider's extra is not installed.
    """
    extra = PROVIDERS[provider].extra
    if extra is None:
        return _openai_compatible(provider, name, base_url=base_url, key=key, client=client, timeout=timeout)
    try:
        kind = cast(Callable[..., Any], infer_provider_class(provider))
        adapter = kind(api_key=key, base_url=base_url, http_client=client)
        model = infer_model(f"{provider}:{name}", provider_factory=lambda _: adapter)
    except ImportError as error:
        raise ConfigError(f"{provider}:{name} needs an adapter that is not installed: pip install 'podium[{extra}]'") from error
    if provider == "anthropic":
        adapter.client.max_retries = 0
        adapter.client.timeout = timeout
    else:
        # The library passes no extra body on to the Google SDK, which takes one in its client's options only. It retries
        # nothing by itself.
        adapter.client._api_client._http_options.extra_body = dict(extra_body) or None
    return model


def require_adapter(provider: str) -> None:
    """Raise :class:`ConfigError` where the adapter of ``provider`` is not installed."""
    extra = PROVIDERS[provider].extra
    if extra is None:
        return
    try:
        infer_provider_class(provider)
    except ImportError as error:
        raise ConfigError(f"{provider} needs an adapter that is not installed: pip install 'podium[{extra}]'") from error


def settings_for(
    model: Model[Any],
    provider: str,
    sampling: Sampling,
    extra_body: Mapping[str, Any],
    seconds: float,
    wanted: Effort | None = None,
) -> tuple[ModelSettings, tuple[str, ...]]:
    """The library's settings for one call, and the fields left out because the model takes none now.

    ``wanted`` is an effort by name, which replaces the budget of ``sampling``.

    Reasoning models refuse ``temperature`` and ``top_p`` while they reason, and OpenAI's others a thinking budget; sending
    them would fail every call of a pool that sets one value for all its workers.
    """
    fields = {"max_tokens": sampling.max_tokens, "temperature": sampling.temperature, "top_p": sampling.top_p}
    settings: dict[str, Any] = {name: value for name, value in fields.items() if value is not None}
    if sampling.seed is not None:
        settings["seed"] = sampling.seed
    left_out: list[str] = []
    body = dict(extra_body)
    thinks = None if sampling.thinking_tokens is None else sampling.thinking_tokens > 0
    thinking: dict[str, Any] = {}
    if wanted is not None:
        thinks, thinking = wanted != "none", _effort(model, provider, wanted, sampling.max_tokens)
        if not thinking and thinks:
            left_out.append("effort")
    elif sampling.thinking_tokens is not None:
        thinking = _thinking(model, provider, sampling.thinking_tokens)
        if not thinking and thinks:
            left_out.append("thinking_tokens")
    body = {**thinking.pop("extra_body", {}), **body}
    settings |= thinking
    if _refuses_sampling(model.profile, thinks=thinks):
        left_out += [name for name in ("temperature", "top_p") if settings.pop(name, None) is not None]
    if body and provider != "google":
        settings["extra_body"] = body
    if provider == "google":
        settings["timeout"] = seconds
    settings["request_timeout"] = seconds
    return cast(ModelSettings, settings), tuple(left_out)


def _thinking(model: Model[Any], provider: str, tokens: int) -> dict[str, Any]:
    """A budget in tokens, as each vendor takes it: as it is where it can, as a named effort where it can not.

    Empty where OpenAI's own model is known not to think.
    """
    profile: Mapping[str, Any] = model.profile
    match provider:
        case "openrouter":
            return {"extra_body": {"reasoning": {"max_tokens": tokens} if tokens else {"effort": "none"}}}
        case "anthropic" if tokens and not profile.get("anthropic_disallows_budget_thinking", False):
            return {"anthropic_thinking": {"type": "enabled", "budget_tokens": tokens}}
        case "google" if tokens and not profile.get("google_supports_thinking_level", True):
            return {"google_thinking_config": {"thinking_budget": tokens}}
        case _:
            return _named_effort(model, provider, effort(tokens) if tokens else "none")


def _effort(model: Model[Any], provider: str, wanted: Effort, max_tokens: int | None) -> dict[str, Any]:
    """An effort by name, as each vendor takes it; empty where the model does not think, or could then say nothing more."""
    profile: Mapping[str, Any] = model.profile
    if provider == "openrouter":
        return {"extra_body": {"reasoning": {"effort": wanted}}}
    if provider == "anthropic" and wanted != "none" and not profile.get("anthropic_supports_adaptive_thinking", False):
        # The library turns a name into a budget in tokens here, and a budget has to leave something of max_tokens.
        budget = next((tokens for tokens, name in EFFORTS if name == wanted), XHIGH)
        if max_tokens is not None and budget >= max_tokens:
            return {}
    return _named_effort(model, provider, wanted)


def _named_effort(model: Model[Any], provider: str, wanted: Effort) -> dict[str, Any]:
    profile: Mapping[str, Any] = model.profile
    if profile.get("supports_thinking", False) or profile.get("thinking_always_enabled", False):
        return {"thinking": False if wanted == "none" else wanted}
    if PROVIDERS[provider].extra is None and not _is_openai(str(model.base_url)):
        # The library does not know the model; the server does, and says so if it minds.
        return {"openai_reasoning_effort": wanted}
    return {}


def wants_signed_thinking(model: Model[Any]) -> bool:
    """Whether a model of Anthropic's that thinks refuses a turn of its own that calls tools without the thoughts before it."""
    return not model.profile.get("anthropic_supports_adaptive_thinking", False)


def _refuses_sampling(profile: Mapping[str, Any], *, thinks: bool | None) -> bool:
    if profile.get("anthropic_disallows_sampling_settings", False):
        return True
    if not profile.get("openai_supports_reasoning", False):
        return False
    efforts = profile.get("openai_reasoning_efforts")
    can_stop = "none" in efforts if efforts is not None else profile.get("openai_supports_reasoning_effort_none", False)
    reasons = profile.get("thinking_enabled_by_default", False) if thinks is None else thinks
    return bool(reasons or not can_stop)


def _openai_compatible(
    provider: str, name: str, *, base_url: str, key: str, client: httpx2.AsyncClient, timeout: httpx2.Timeout
) -> Model[Any]:
    own = _is_openai(base_url)
    sdk = OpenAIClient(
        api_key=key,
        base_url=base_url,
        http_client=client,
        timeout=timeout,
        max_retries=0,
        # The SDK reads these two from the environment; they are meant for OpenAI and no other provider.
        default_headers=None if own else cast(Any, {"OpenAI-Organization": Omit(), "OpenAI-Project": Omit()}),
    )
    find = PROVIDERS[provider].profile
    base = find(name) if find is not None else None
    if find is None:
        base = OpenAICompatibleProvider(provider, openai_client=sdk).model_profile(name)
    # OpenAI wants the new field; everybody else understands the old one, and some ignore the new one without a word.
    new_field = provider == "openai" and (own or bool((base or {}).get("openai_supports_reasoning", False)))
    profile = merge_profile(
        base,
        OpenAIModelProfile(
            may_tokenize_special_tokens_in_content=False,
            ignore_streamed_leading_whitespace=False,
            thinking_tags=_NEVER,
            openai_chat_streaming_requires_finish_reason=True,
            openai_chat_supports_multiple_system_messages=True,
            openai_chat_supports_max_completion_tokens=new_field,
        ),
    )
    return OpenAIChatModel(name, provider=OpenAICompatibleProvider(provider, openai_client=sdk, profile=profile), profile=profile)


def _is_openai(base_url: str) -> bool:
    return base_url.rstrip("/") == PROVIDERS["openai"].base_url
