"""A worker behind a chat API: OpenAI and everything compatible with it, Anthropic, Google.

One call is one HTTP request: rendered (``render.py``), sent by the adapter library, read, priced. Limits, retries, caches
and budgets are wrappers' business. An empty reply never passes for an answer.

Measured on one of two busy cores, November 2026: 0.5 to 0.7 CPU-ms a plain call, 2.4 to 3.2 CPU-ms a streamed one of 20
pieces; 256 concurrent calls to a server that sleeps 1 s return within 1.5 to 2.3 s.

Tools of the client's, pictures, files and a format of the response are handed to the model as its API has them. Left out: seeds
at Anthropic, whose API has none.
"""

import asyncio
import json
import logging
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import asdict, replace
from typing import Any, Self, cast

import httpx2
from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.exceptions import ContentFilterError, ModelAPIError, OutputTokenLimitExceeded, UserError
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings

from podium.errors import ConfigError
from podium.types import Call, Completion, ResponseOptions, Sampling, ToolCall, Usage
from podium.workers.billing import believable
from podium.workers.bound import completion_cap
from podium.workers.call_key import idempotency_key, same_numbers
from podium.workers.chat_files import cache_settings
from podium.workers.chat_messages import in_tool_loop, library_messages, option_settings, parameters_for, tool_calls_of
from podium.workers.connections import Connections, of_this_loop
from podium.workers.extra_body import checked_body, price_problem
from podium.workers.faults import cause_of, fault_of
from podium.workers.price_list import bound_of, cost_of, facts_of, price_of
from podium.workers.prices import Price
from podium.workers.providers import (
    NO_KEY,
    PROVIDERS,
    checked_url,
    connect,
    require_adapter,
    settings_for,
    split_model,
    wants_signed_thinking,
)
from podium.workers.render import render
from podium.workers.signed import thoughts_of, with_own_thoughts
from podium.workers.table import DEFAULT_SECONDS
from podium.workers.thinking import AnswerText

log = logging.getLogger(__name__)


class ChatWorker:
    """Asks one model of one provider.

    ``model`` is ``provider:name``; ``base_url`` replaces the provider's address (vLLM, Ollama, a gateway); ``sampling``
    holds the worker's defaults, which a call overrides field by field (a client's options can only lower ``max_tokens``);
    ``extra_body`` goes into the request as it is;
    ``price`` replaces the price list; ``seconds`` bounds a whole call, the stream included. ``connections`` are shared
    with other workers and then closed by the code that opened them; without, the worker opens and closes its own.

    Example::

        async with ChatWorker(model="openai:gpt-5-mini", api_key=os.environ["OPENAI_API_KEY"]) as worker:
            print((await worker(Call.plain("6 times 7?"))).text)

    Raises :class:`ConfigError` for an unknown provider, a missing extra, and a base_url or extra_body that can not be used.
    """

    def __init__(
        self,
        *,
        model: str,
        base_url: str | None = None,
        api_key: str | None = None,
        sampling: Sampling = Sampling(),
        extra_body: Mapping[str, Any] | None = None,
        price: Price | None = None,
        seconds: float = DEFAULT_SECONDS,
        connections: Connections | None = None,
    ) -> None:
        self.model = model
        self.provider, self.name = split_model(model)
        require_adapter(self.provider)
        self._declared_url = None if base_url is None else checked_url(base_url)
        self._key = api_key or None
        self._sampling = sampling
        self._extra_body = checked_body(extra_body or {})
        if price is None and (problem := price_problem(self._extra_body)) is not None:
            raise ConfigError(problem)
        self._seconds = seconds
        self._own_connections = connections is None
        self._connections = Connections() if connections is None else connections
        self._models: dict[asyncio.AbstractEventLoop, Model[Any]] = {}
        self._warned: set[str] = set()
        self.price = price_of(self.provider, self.name, price, self._declared_url)
        """What this worker costs per token; None where it is unknown."""
        self.facts = facts_of(self.provider, self.name, self._declared_url)
        """What the price list knows of the model besides its price."""
        self.most_usd = bound_of(self.provider, self.name, self.price, self._declared_url, seconds)
        """What a call of so many prompt and completion tokens can cost at most, for :class:`podium.workers.metered.Metered`."""
        self.identity = self._identify()
        """Canonical JSON of everything that decides what this worker answers, for cache keys; it holds no secret."""

    async def __call__(self, call: Call) -> Completion:
        """Send ``call`` and read the answer, streaming it to ``call.on_token`` where there is one.

        Raises :class:`WorkerUnavailable` (429, 5xx, timeout, cut or unreadable or empty reply; :class:`WorkerUnreachable` where
        nothing was sent), :class:`ContextOverflow` and :class:`WorkerRefused`. Cancelling the task closes the HTTP request.
        """
        model = of_this_loop(self._models, self._connect)
        sampling = _overridden(_overridden(self._sampling, call.sampling), call.response_options.sampling)
        most = completion_cap(call, self._sampling.max_tokens)
        if most != sampling.max_tokens:
            sampling = replace(sampling, max_tokens=most)
        rendered, has_thoughts = with_own_thoughts(render(call), self._signs_as)
        wanted = call.response_options.effort
        if self.provider == "anthropic" and not has_thoughts and in_tool_loop(rendered) and wants_signed_thinking(model):
            sampling, wanted = replace(sampling, thinking_tokens=None), None
        settings, left_out = settings_for(model, self.provider, sampling, self._extra_body, self._seconds, wanted)
        body = cast(Mapping[str, Any], settings.get("extra_body") or {})
        settings.update(option_settings(call.response_options, self.provider, body))
        self._tell(left_out)
        repeat = idempotency_key.get()
        if repeat is not None:
            settings["extra_headers"] = {"Idempotency-Key": repeat}
        answer = AnswerText(call.on_token)
        messages = library_messages(rendered, self.provider, call.response_options)
        settings.update(cache_settings(call, self.provider))
        parameters = parameters_for(call.response_options)
        started = time.perf_counter()
        response: ModelResponse | None = None
        async with aclosing(self._pieces(model, messages, settings, parameters, stream=call.on_token is not None)) as pieces:
            async for piece in pieces:
                if isinstance(piece, ModelResponse):
                    response = piece
                else:
                    answer.feed(piece)
        seconds = time.perf_counter() - started
        if response is None:
            raise RuntimeError("a reply ended without its response record")
        # A model that asks for tools that it was not offered has not answered.
        tool_calls = tool_calls_of(response) if call.response_options.tools else ()
        thoughts = thoughts_of(response, self._signs_as) if tool_calls and self.provider == "anthropic" else None
        return replace(self._completion(answer.finish(), tool_calls, response, seconds), thoughts=thoughts)

    def check(self, response_options: ResponseOptions) -> None:
        """Raises :class:`ConfigError` where this model's API can not honour ``response_options``. Within a running event loop."""
        option_settings(response_options, self.provider, {})
        parameters = parameters_for(response_options)
        if parameters is None:
            return
        model = of_this_loop(self._models, self._connect)
        if (
            response_options.tools
            and response_options.response_format is not None
            and self.provider == "google"
            and not model.profile.get("google_supports_tool_combination", False)
        ):
            raise ConfigError(f"{self.model} takes tools or a response_format, but not both at once; leave one of them out")
        try:
            model.prepare_request(None, parameters)
        except UserError as error:
            raise ConfigError(f"{self.model} can not answer as demanded: {error}") from error

    async def aclose(self) -> None:
        """Close the running loop's connections, unless they are shared. Twice is harmless."""
        self._models.pop(asyncio.get_running_loop(), None)
        if self._own_connections:
            await self._connections.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"ChatWorker({self.identity})"

    async def _pieces(
        self,
        model: Model[Any],
        messages: Sequence[ModelMessage],
        settings: ModelSettings,
        parameters: ModelRequestParameters | None,
        *,
        stream: bool,
    ) -> AsyncGenerator[str | ModelResponse, None]:
        """The text as it comes, then the finished response; every fault of the provider leaves here as a Podium error."""
        # The boundary to foreign bytes: what the library raises while it asks and reads is the provider's fault, whatever
        # its type (a reply of the wrong shape raises AttributeError just as well). Our own code runs outside of it.
        try:
            if not stream:
                response = await model_request(model, messages, model_settings=settings, model_request_parameters=parameters)
                for part in response.parts:
                    if isinstance(part, TextPart):
                        yield part.content
                yield response
                return
            async with model_request_stream(
                model, messages, model_settings=settings, model_request_parameters=parameters
            ) as streamed:
                async for event in streamed:
                    if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
                        yield event.part.content
                    elif isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
                        yield event.delta.content_delta
                yield streamed.get()
        except Warning:
            # Only where the user turned warnings into errors: no fault of the provider's.
            raise
        except Exception as error:
            raise fault_of(error, self.model, self._key) from cause_of(error, self._key)

    def _completion(self, text: str, tool_calls: tuple[ToolCall, ...], response: ModelResponse, seconds: float) -> Completion:
        reason = response.finish_reason
        unanswered = _unanswered(text, tool_calls, response)
        if unanswered is not None:
            # "From" the library's error, although it never raised it: a reply came, so this failure was paid for.
            raise fault_of(unanswered, self.model, self._key) from unanswered
        # No tokens, and so no known cost, where the provider reported none or nonsense.
        said = response.usage
        usage = believable(
            Usage(
                prompt_tokens=said.input_tokens,
                completion_tokens=said.output_tokens,
                cost_usd=None,
                cached_tokens=said.cache_read_tokens if 0 <= said.cache_read_tokens <= said.input_tokens else 0,
            )
        )
        cost = cost_of(response.usage, self.provider, self.name, self.price, self._declared_url) if usage.tokens else None
        return Completion(
            text=text,
            finish_reason="tool_calls" if reason == "tool_call" else reason or "stop",
            tool_calls=tool_calls,
            usage=replace(usage, cost_usd=cost),
            seconds=seconds,
            price_source="" if cost is None or self.price is None else self.price.source,
        )

    def _connect(self) -> Model[Any]:
        return connect(
            self.provider,
            self.name,
            base_url=self._base_url,
            key=self._key or NO_KEY,
            client=self._connections.client(),
            timeout=httpx2.Timeout(self._seconds),
            extra_body=self._extra_body,
        )

    @property
    def _signs_as(self) -> str:
        """Whose signed thoughts this worker takes back."""
        return f"{self.model} at {self._base_url}"

    @property
    def _base_url(self) -> str:
        return self._declared_url or PROVIDERS[self.provider].base_url

    def _identify(self) -> str:
        parts = {
            "provider": self.provider,
            "model": self.name,
            "base_url": self._base_url,
            "sampling": {name: value for name, value in same_numbers(self._sampling).items() if value is not None},
            "extra_body": self._extra_body,
        }
        return json.dumps(parts, sort_keys=True, separators=(",", ":"))

    def _tell(self, left_out: tuple[str, ...]) -> None:
        for name in left_out:
            if name not in self._warned:
                self._warned.add(name)
                log.warning("%s takes no %s as it is set up; it is not sent", self.model, name)


def _unanswered(text: str, tool_calls: tuple[ToolCall, ...], response: ModelResponse) -> Exception | None:
    """Why a reply that arrived is no answer, as the library would put it; None where it is one."""
    reason = response.finish_reason
    if reason is None and not (response.provider_details or {}).get("finish_reason"):
        return ModelAPIError(response.model_name or "", "the reply was cut off: it ended without a finish reason")
    if reason == "content_filter":
        # Also where some text came: half an answer, cut where the provider chose, is not one to build on.
        return ContentFilterError("the answer was withheld")
    if reason == "error":
        return ModelAPIError(response.model_name or "", "the provider reports that generating the answer failed")
    if text.strip() or tool_calls:
        return None
    if reason == "length":
        return OutputTokenLimitExceeded("max_tokens ran out before any text came")
    return ModelAPIError(response.model_name or "", "the reply holds no text")


def _overridden(own: Sampling, call: Sampling) -> Sampling:
    if call == Sampling():
        return own
    return replace(own, **{name: value for name, value in asdict(call).items() if value is not None})
