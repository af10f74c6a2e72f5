"""What may stand in a request for a response: OpenAI's newer form, as agents send it.

Tools that OpenAI runs itself are left out, and so is what they once returned to another server: the answer's header
``X-Podium-Ignored`` names them. A tool or an item of a kind that OpenAI does not have is refused.
"""

from typing import Annotated, Any, Literal, get_args

from pydantic import ConfigDict, Discriminator, Field, StringConstraints, Tag

from podium.body import Body, Name
from podium.serving.bodies import FIRST_ERROR, MAX_TURNS, Arguments, Content, Json, ToolName
from podium.serving.requests import AnswerRequest
from podium.types import Effort

HostedTool = Literal[
    "apply_patch", "code_interpreter", "computer", "computer_use_preview", "file_search", "image_generation", "local_shell",
    "mcp", "programmatic_tool_calling", "shell", "tool_search", "web_search", "web_search_2025_08_26", "web_search_preview",
    "web_search_preview_2025_03_11",
]  # fmt: skip
HostedItem = Literal[
    "apply_patch_call", "apply_patch_call_output", "code_interpreter_call", "computer_call",
    "computer_call_output", "configuration_update", "file_search_call", "image_generation_call",
    "local_shell_call", "local_shell_call_output", "mcp_approval_request", "mcp_approval_response", "mcp_call",
    "mcp_list_tools", "program", "program_output", "shell_call", "shell_call_output", "tool_search_call", "tool_search_output",
    "web_search_call",
]  # fmt: skip
_TOOL_TAGS = {
    **dict.fromkeys(get_args(HostedTool), "hosted"),
    "function": "function",
    "custom": "custom",
    "namespace": "namespace",
}
_ITEM_TAGS = {
    **dict.fromkeys(get_args(HostedItem), "hosted"),
    "message": "message",
    "function_call": "function_call",
    "function_call_output": "output",
    "custom_tool_call": "custom_tool_call",
    "custom_tool_call_output": "output",
    "reasoning": "reasoning",
    "additional_tools": "additional_tools",
    "item_reference": "reference",
    "compaction": "compaction",
    "compaction_summary": "compaction",
    "context_compaction": "compaction",
}


def _type_of(given: Any) -> str:
    kind = given.get("type") if isinstance(given, dict) else getattr(given, "type", None)
    return kind if isinstance(kind, str) else ""


def _item_tag(given: Any) -> str | None:
    kind = _type_of(given)
    if not kind and isinstance(given, dict):
        kind = "message" if "role" in given else "item_reference" if "id" in given else ""
    return _ITEM_TAGS.get(kind)


def _tool_tag(given: Any) -> str | None:
    return _TOOL_TAGS.get(_type_of(given))


class _Item(Body):
    """What any item may hold besides: whose it is and how far it got says nothing about the answer."""

    id: str | None = None
    status: str | None = None
    created_by: str | None = None


class ResponsesMessage(_Item):
    """A turn of the conversation."""

    type: Literal["message"] = "message"
    role: Literal["system", "developer", "user", "assistant"]
    content: Content
    phase: str | None = None


class _Call(_Item):
    call_id: Name
    name: Name
    namespace: Name | None = None
    caller: Any = None
    is_async: bool | None = Field(default=None, alias="async")


class ResponsesCall(_Call):
    """A tool call that this server handed out."""

    type: Literal["function_call"]
    arguments: Arguments


class ResponsesCustomCall(_Call):
    """The same of a tool that takes a text."""

    type: Literal["custom_tool_call"]
    input: str


class ResponsesResult(_Item):
    """What the client's tool returned."""

    type: Literal["function_call_output", "custom_tool_call_output"]
    call_id: Name
    output: Content
    name: str | None = None
    namespace: str | None = None
    caller: Any = None


class ResponsesReasoning(_Item):
    """What this server said beside the answer; clients send it back, and it is left out."""

    type: Literal["reasoning"]
    summary: tuple[Any, ...] = ()
    content: tuple[Any, ...] | None = None
    encrypted_content: str | None = None


class ResponsesReference(_Item):
    """An item of a kept response."""

    type: Literal["item_reference"] | None = None


class ResponsesCompaction(_Item):
    """What was said before, cut down to a summary; only this server's own can be read here."""

    type: Literal["compaction", "compaction_summary", "context_compaction"]
    encrypted_content: str | None = None


class _Foreign(Body):
    model_config = ConfigDict(extra="ignore")


class ResponsesHostedItem(_Foreign):
    """What a tool of another server did."""

    type: HostedItem


class ResponsesTool(Body):
    """A tool of the client's that takes JSON."""

    type: Literal["function"]
    name: ToolName
    description: str | None = None
    parameters: Json | None = None
    strict: bool | None = None
    # How a server may find and run it: this one shows it to the model and hands its calls to the client.
    defer_loading: bool | None = None
    allowed_callers: tuple[str, ...] | None = None
    output_schema: Json | None = None
    is_async: bool | None = Field(default=None, alias="async")


class ResponsesCustomTool(Body):
    """A tool of the client's that takes a text."""

    type: Literal["custom"]
    name: ToolName
    description: str | None = None
    format: Json | None = None
    defer_loading: bool | None = None
    allowed_callers: tuple[str, ...] | None = None
    is_async: bool | None = Field(default=None, alias="async")


OwnTool = Annotated[
    Annotated[ResponsesTool, Tag("function")] | Annotated[ResponsesCustomTool, Tag("custom")],
    Discriminator(_tool_tag, "unknown_tool", "this is a tool of no known type"),
]


class ResponsesNamespace(Body):
    """Tools of the client's under one name."""

    type: Literal["namespace"]
    name: ToolName
    description: str | None = None
    tools: Annotated[tuple[OwnTool, ...], FIRST_ERROR] = Field(max_length=128)


class ResponsesHostedTool(_Foreign):
    """A tool that OpenAI runs, or knows without being told."""

    type: HostedTool


AnyTool = Annotated[
    Annotated[ResponsesTool, Tag("function")]
    | Annotated[ResponsesCustomTool, Tag("custom")]
    | Annotated[ResponsesNamespace, Tag("namespace")]
    | Annotated[ResponsesHostedTool, Tag("hosted")],
    Discriminator(_tool_tag, "unknown_tool", "this is a tool of no known type"),
]
Tools = Annotated[tuple[AnyTool, ...], Field(fail_fast=True, max_length=256)]


class ResponsesMoreTools(_Item):
    """Tools that came up in the middle of a conversation."""

    type: Literal["additional_tools"]
    role: str | None = None
    tools: Tools


Item = Annotated[
    Annotated[ResponsesMessage, Tag("message")]
    | Annotated[ResponsesCall, Tag("function_call")]
    | Annotated[ResponsesCustomCall, Tag("custom_tool_call")]
    | Annotated[ResponsesResult, Tag("output")]
    | Annotated[ResponsesReasoning, Tag("reasoning")]
    | Annotated[ResponsesMoreTools, Tag("additional_tools")]
    | Annotated[ResponsesReference, Tag("reference")]
    | Annotated[ResponsesCompaction, Tag("compaction")]
    | Annotated[ResponsesHostedItem, Tag("hosted")],
    Discriminator(_item_tag, "unknown_item", "this is an item of no known type"),
]


class ResponsesChoice(Body):
    """That one tool."""

    type: Literal["function", "custom"]
    name: Name
    namespace: Name | None = None


class ResponsesAllowed(Body):
    """Only some of the tools."""

    type: Literal["allowed_tools"]
    mode: Literal["auto", "required"]
    tools: Annotated[tuple[ResponsesChoice | ResponsesHostedTool, ...], FIRST_ERROR] = Field(min_length=1, max_length=256)


class ResponsesForm(Body):
    """``text.format``."""

    type: Literal["text", "json_object", "json_schema"]
    name: str = "answer"
    description: str | None = None
    schema_: Json | None = Field(default=None, alias="schema")
    strict: bool | None = None


class ResponsesText(Body):
    """``text``."""

    format: ResponsesForm | None = None
    verbosity: Literal["low", "medium", "high"] | None = None


class Reasoning(Body):
    """``reasoning``. The steps before the answer are shown as its summary, however it is asked for."""

    effort: Effort | None = None
    summary: Literal["auto", "concise", "detailed", "none"] | None = None
    generate_summary: Literal["auto", "concise", "detailed"] | None = None
    context: str | None = None
    mode: str | None = None


Included = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.]{1,100}$")]


class ResponsesRequest(AnswerRequest):
    """``POST /v1/responses``."""

    input: str | Annotated[tuple[Item, ...], Field(fail_fast=True, max_length=MAX_TURNS)]
    instructions: str | None = None
    max_output_tokens: int | None = Field(default=None, ge=1, le=10_000_000)
    tools: Tools | None = None
    tool_choice: Literal["none", "auto", "required"] | ResponsesChoice | ResponsesAllowed | ResponsesHostedTool | None = None
    text: ResponsesText | None = None
    reasoning: Reasoning | None = None
    previous_response_id: str | None = None
    background: bool | None = None
    # Accepted because clients send them; they say nothing about the answer.
    client_metadata: dict[str, Any] | None = None
    max_tool_calls: int | None = None
    # Left out, and named in the answer's header.
    include: Annotated[tuple[Included, ...], Field(fail_fast=True, max_length=50)] | None = None
    truncation: Literal["auto", "disabled"] | None = None
    context_management: Any = None

    @property
    def ignored(self) -> tuple[str, ...]:
        """What was asked for and is left out, the tools and items of others not counted."""
        reasoning = self.reasoning or Reasoning()
        left = {
            "service_tier": self.service_tier not in (None, "auto", "default"),
            "truncation": self.truncation == "auto",
            "context_management": self.context_management is not None,
            "text.verbosity": self.text is not None and self.text.verbosity is not None,
            "reasoning.context": reasoning.context not in (None, "auto"),
            "reasoning.mode": reasoning.mode not in (None, "standard"),
        }
        return (*(name for name, is_left in left.items() if is_left), *(f"include.{name}" for name in self.include or ()))


class CompactRequest(ResponsesRequest):
    """``POST /v1/responses/compact``: a conversation, to be cut down."""

    input: str | Annotated[tuple[Item, ...], Field(fail_fast=True, max_length=MAX_TURNS)] = ()
