"""What may stand in a request: OpenAI's fields that are honoured, and the extension object ``podium``.

A field that is not here is refused by its name, as OpenAI refuses it: what is silently left out would be missed later.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
MAX_CHOICES = 8
MAX_TURNS = 2000
MAX_FIELDS = 100
FIRST_ERROR = Field(fail_fast=True)
"""A list is read up to its first mistake: an error for each of a million elements would cost gigabytes."""


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _few(cls, given: Any) -> Any:
        """An error per unknown field of a hostile body would cost far more than the body."""
        if isinstance(given, dict) and len(given) > MAX_FIELDS:
            raise ValueError(f"an object of a request has {MAX_FIELDS} fields at most")
        return given


class Extension(_Body):
    """``podium``: what can be chosen for one request; the same as headers, ``X-Podium-Budget-Usd`` and so on."""

    workers: tuple[Name, ...] = Field(default=(), max_length=100)
    """Only these workers."""
    without: tuple[Name, ...] = Field(default=(), max_length=100)
    """All but these."""
    policy: Name | None = None
    """Who writes the workflow, by the names of ``podium ask --policy``."""
    rounds: int | None = Field(default=None, ge=1, le=10)
    budget_usd: float | None = Field(default=None, gt=0, le=1e6, allow_inf_nan=False)
    budget_seconds: float | None = Field(default=None, gt=0, le=1e6, allow_inf_nan=False)


class TextPart(_Body):
    """A piece of a message."""

    type: Literal["text", "input_text", "output_text", "refusal"]
    text: str = ""
    refusal: str = ""
    annotations: tuple[Any, ...] = ()
    logprobs: tuple[Any, ...] = ()


class FunctionCall(_Body):
    """What a model wants called."""

    name: Name
    arguments: str


class ToolCallBody(_Body):
    """A tool call, as this server handed it out."""

    id: Name
    type: Literal["function"] = "function"
    function: FunctionCall


class MessageBody(_Body):
    """A turn of the conversation."""

    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: str | Annotated[tuple[TextPart, ...], FIRST_ERROR] | None = None
    name: str | None = None
    tool_calls: Annotated[tuple[ToolCallBody, ...], FIRST_ERROR] | None = None
    tool_call_id: str | None = None
    refusal: str | None = None
    reasoning_content: str | None = None
    """What this server streamed beside the answer; clients send it back, and it is left out."""
    annotations: tuple[Any, ...] | None = None
    audio: None = None
    function_call: None = None


class FunctionBody(_Body):
    """A tool of the client's."""

    name: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None


class ToolBody(_Body):
    """A tool of the client's, in OpenAI's wrapping."""

    type: Literal["function"]
    function: FunctionBody


class NamedFunction(_Body):
    """The name alone."""

    name: Name


class ToolChoiceBody(_Body):
    """That one tool."""

    type: Literal["function"]
    function: NamedFunction


class SchemaBody(_Body):
    """A form for the answer."""

    name: str = "answer"
    description: str | None = None
    schema_: dict[str, Any] = Field(alias="schema")
    strict: bool | None = None


class FormBody(_Body):
    """``response_format``."""

    type: Literal["text", "json_object", "json_schema"]
    json_schema: SchemaBody | None = None


class StreamOptions(_Body):
    """``stream_options``."""

    include_usage: bool = False
    include_obfuscation: bool = False


class ChatRequest(_Body):
    """``POST /v1/chat/completions``."""

    model: Name
    messages: Annotated[tuple[MessageBody, ...], FIRST_ERROR] = Field(min_length=1, max_length=MAX_TURNS)
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    n: int | None = Field(default=None, ge=1, le=MAX_CHOICES)
    stop: str | Annotated[tuple[str, ...], Field(max_length=16)] | None = None
    max_tokens: int | None = Field(default=None, ge=1, le=10_000_000)
    max_completion_tokens: int | None = Field(default=None, ge=1, le=10_000_000)
    temperature: float | None = Field(default=None, ge=0, le=2, allow_inf_nan=False)
    top_p: float | None = Field(default=None, ge=0, le=1, allow_inf_nan=False)
    seed: int | None = Field(default=None, ge=-(2**63), le=2**63 - 1)
    tools: tuple[ToolBody, ...] | None = Field(default=None, max_length=128)
    tool_choice: Literal["none", "auto", "required"] | ToolChoiceBody | None = None
    response_format: FormBody | None = None
    podium: Extension = Extension()
    # Accepted because clients send them; they say nothing about the answer.
    user: str | None = None
    safety_identifier: str | None = None
    prompt_cache_key: str | None = None
    metadata: dict[str, str] | None = None
    store: bool | None = None
    service_tier: Literal["auto", "default"] | None = None
    parallel_tool_calls: bool | None = None
    # Accepted at the value that changes nothing.
    logprobs: Literal[False] | None = None
    frequency_penalty: Literal[0] | None = None
    presence_penalty: Literal[0] | None = None
    logit_bias: dict[str, float] | None = Field(default=None, max_length=0)


class ResponsesMessage(_Body):
    """A turn of the conversation at the Responses endpoint."""

    type: Literal["message"] = "message"
    role: Literal["system", "developer", "user", "assistant"]
    content: str | Annotated[tuple[TextPart, ...], FIRST_ERROR]
    id: str | None = None
    status: str | None = None
    phase: str | None = None


class ResponsesCall(_Body):
    """A tool call that this server handed out."""

    type: Literal["function_call"]
    call_id: Name
    name: Name
    arguments: str
    id: str | None = None
    status: str | None = None


class ResponsesResult(_Body):
    """What the client's tool returned."""

    type: Literal["function_call_output"]
    call_id: Name
    output: str
    id: str | None = None
    status: str | None = None


class ResponsesReasoning(_Body):
    """What this server said beside the answer; clients send it back, and it is left out."""

    type: Literal["reasoning"]
    id: str | None = None
    summary: tuple[Any, ...] = ()
    content: tuple[Any, ...] | None = None
    encrypted_content: str | None = None
    status: str | None = None


class ResponsesTool(_Body):
    """A tool of the client's at the Responses endpoint."""

    type: Literal["function"]
    name: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None


class ResponsesChoice(_Body):
    """That one tool."""

    type: Literal["function"]
    name: Name


class ResponsesForm(_Body):
    """``text.format``."""

    type: Literal["text", "json_object", "json_schema"]
    name: str = "answer"
    description: str | None = None
    schema_: dict[str, Any] | None = Field(default=None, alias="schema")
    strict: bool | None = None


class ResponsesText(_Body):
    """``text``."""

    format: ResponsesForm | None = None
    verbosity: None = None


class ResponsesRequest(_Body):
    """``POST /v1/responses``, without anything kept between requests."""

    model: Name
    input: (
        str
        | Annotated[
            tuple[ResponsesMessage | ResponsesCall | ResponsesResult | ResponsesReasoning, ...],
            Field(fail_fast=True, max_length=MAX_TURNS),
        ]
    )
    instructions: str | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    max_output_tokens: int | None = Field(default=None, ge=1, le=10_000_000)
    temperature: float | None = Field(default=None, ge=0, le=2, allow_inf_nan=False)
    top_p: float | None = Field(default=None, ge=0, le=1, allow_inf_nan=False)
    tools: tuple[ResponsesTool, ...] | None = Field(default=None, max_length=128)
    tool_choice: Literal["none", "auto", "required"] | ResponsesChoice | None = None
    text: ResponsesText | None = None
    podium: Extension = Extension()
    previous_response_id: str | None = None
    background: bool | None = None
    store: bool | None = None
    user: str | None = None
    safety_identifier: str | None = None
    prompt_cache_key: str | None = None
    metadata: dict[str, str] | None = None
    service_tier: Literal["auto", "default"] | None = None
    parallel_tool_calls: bool | None = None
    include: tuple[str, ...] | None = None
    truncation: Literal["disabled"] | None = None
