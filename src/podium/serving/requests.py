"""What may stand in a request for a chat completion: OpenAI's fields that are honoured, and ours, ``podium``.

A field that is not here is refused by its name, as OpenAI refuses it: what is silently left out would be missed later. What can
not be honoured and need not be is left out, and the answer's header ``X-Podium-Ignored`` names it (:meth:`ChatRequest.ignored`).
"""

from typing import Annotated, Any, Literal

from pydantic import Field

from podium.body import Body, Name
from podium.request_options import RequestOptions
from podium.serving.bodies import FIRST_ERROR, MAX_CHOICES, MAX_TURNS, Arguments, Content, Json, ToolName
from podium.types import Effort


class FunctionCall(Body):
    """What a model wants called."""

    name: Name
    arguments: Arguments


class ToolCallBody(Body):
    """A tool call, as this server handed it out."""

    id: Name
    type: Literal["function"] = "function"
    function: FunctionCall


class MessageBody(Body):
    """A turn of the conversation."""

    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: Content | None = None
    name: str | None = None
    tool_calls: Annotated[tuple[ToolCallBody, ...], FIRST_ERROR] | None = None
    tool_call_id: str | None = None
    refusal: str | None = None
    reasoning_content: str | None = None
    """What this server streamed beside the answer; clients send it back, and it is left out."""
    reasoning: str | None = None
    """The same, as some clients call it."""
    annotations: tuple[Any, ...] | None = None
    audio: None = None
    function_call: None = None


class FunctionBody(Body):
    """A tool of the client's."""

    name: ToolName
    description: str | None = None
    parameters: Json | None = None
    strict: bool | None = None


class ToolBody(Body):
    """A tool of the client's, in OpenAI's wrapping."""

    type: Literal["function"]
    function: FunctionBody


class NamedFunction(Body):
    """The name alone."""

    name: Name


class ToolChoiceBody(Body):
    """That one tool."""

    type: Literal["function"]
    function: NamedFunction


class NamedTool(Body):
    """One of the tools that may be called."""

    type: Literal["function"]
    function: NamedFunction


class AllowedTools(Body):
    """Which tools may be called, and whether one has to be."""

    mode: Literal["auto", "required"]
    tools: Annotated[tuple[NamedTool, ...], FIRST_ERROR] = Field(min_length=1, max_length=128)


class AllowedToolsChoice(Body):
    """Only some of the tools."""

    type: Literal["allowed_tools"]
    allowed_tools: AllowedTools


class SchemaBody(Body):
    """A JSON schema for the answer."""

    name: str = "answer"
    description: str | None = None
    schema_: Json = Field(alias="schema")
    strict: bool | None = None


class FormBody(Body):
    """``response_format``."""

    type: Literal["text", "json_object", "json_schema"]
    json_schema: SchemaBody | None = None


class StreamOptions(Body):
    """``stream_options``."""

    include_usage: bool = False
    include_obfuscation: bool = False


class AnyRequest(Body):
    """What all ways of asking for an answer share."""

    model: Name
    stream: bool | None = None
    temperature: float | None = Field(default=None, ge=0, le=2, allow_inf_nan=False)
    top_p: float | None = Field(default=None, ge=0, le=1, allow_inf_nan=False)
    podium: RequestOptions = RequestOptions()


class AnswerRequest(AnyRequest):
    """What both of OpenAI's ways share."""

    stream_options: StreamOptions | None = None
    parallel_tool_calls: bool | None = None
    # Accepted because clients send them; they say nothing about the answer.
    user: str | None = None
    safety_identifier: str | None = None
    prompt_cache_key: str | None = None
    prompt_cache_retention: str | None = None
    prompt_cache_options: dict[str, Any] | None = None
    metadata: dict[str, str] | None = None
    store: bool | None = None
    # Left out, and named in the answer's header.
    service_tier: str | None = None
    # Accepted at the value that changes nothing.
    top_logprobs: Literal[0] | None = None


class ChatRequest(AnswerRequest):
    """``POST /v1/chat/completions``."""

    messages: Annotated[tuple[MessageBody, ...], FIRST_ERROR] = Field(min_length=1, max_length=MAX_TURNS)
    n: int | None = Field(default=None, ge=1, le=MAX_CHOICES)
    stop: str | Annotated[tuple[str, ...], Field(max_length=16)] | None = None
    max_tokens: int | None = Field(default=None, ge=1, le=10_000_000)
    max_completion_tokens: int | None = Field(default=None, ge=1, le=10_000_000)
    seed: int | None = Field(default=None, ge=-(2**63), le=2**63 - 1)
    tools: tuple[ToolBody, ...] | None = Field(default=None, max_length=128)
    tool_choice: Literal["none", "auto", "required"] | ToolChoiceBody | AllowedToolsChoice | None = None
    response_format: FormBody | None = None
    reasoning_effort: Effort | None = None
    # Accepted because clients send them; they say nothing about the answer.
    modalities: tuple[Literal["text"], ...] | None = Field(default=None, max_length=1)
    # Left out, and named in the answer's header.
    verbosity: Literal["low", "medium", "high"] | None = None
    web_search_options: dict[str, Any] | None = None
    prediction: dict[str, Any] | None = None
    # Accepted at the value that changes nothing.
    logprobs: Literal[False] | None = None
    frequency_penalty: Literal[0] | None = None
    presence_penalty: Literal[0] | None = None
    logit_bias: dict[str, float] | None = Field(default=None, max_length=0)

    @property
    def ignored(self) -> tuple[str, ...]:
        """What was asked for and is left out."""
        wanted = ("verbosity", "web_search_options", "prediction")
        left = [name for name in wanted if getattr(self, name) is not None]
        return (*left, *(["service_tier"] if self.service_tier not in (None, "auto", "default") else []))
