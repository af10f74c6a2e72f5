"""What may stand in a request of Anthropic's Messages API, as its clients send it.

Tools that Anthropic runs itself, or that its models know without being told, are left out, and so is what they once returned: the
answer's header ``X-Podium-Ignored`` names them. A block or tool of a kind that Anthropic does not have is refused.
"""

import re
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Discriminator, Field, StringConstraints, Tag

from podium.body import Body, Name
from podium.serving.bodies import FIRST_ERROR, MAX_TURNS, Json
from podium.serving.requests import AnyRequest

_SERVER_TOOL = re.compile(
    r"(bash|browser_toolset|code_execution|computer|computer_toolset|memory|text_editor|tool_search_tool_bm25|"
    r"tool_search_tool_regex|web_fetch|web_search)_\d{8}",
    re.ASCII,  # what is left out is named in a header
)
_SERVER_BLOCKS = frozenset(
    {
        "server_tool_use", "web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result",
        "bash_code_execution_tool_result", "text_editor_code_execution_tool_result", "tool_search_tool_result",
        "container_upload", "mcp_tool_use", "mcp_tool_result", "compaction", "tool_reference", "browser_state",
    }
)  # fmt: skip
_OWN_BLOCKS = frozenset(
    {"text", "image", "document", "search_result", "thinking", "redacted_thinking", "tool_use", "tool_result"}
)


def _type_of(given: Any) -> str:
    kind = given.get("type") if isinstance(given, dict) else getattr(given, "type", None)
    return kind if isinstance(kind, str) else ""


def _block_tag(given: Any) -> str | None:
    kind = _type_of(given)
    return "server" if kind in _SERVER_BLOCKS else kind if kind in _OWN_BLOCKS else None


def _tool_tag(given: Any) -> str | None:
    kind = _type_of(given)
    return "custom" if kind in ("", "custom") else "server" if _SERVER_TOOL.fullmatch(kind) else None


class CacheControl(Body):
    """Up to here the provider should keep the prompt."""

    type: Literal["ephemeral"]
    ttl: Literal["5m", "1h"] | None = None


class _Block(Body):
    cache_control: CacheControl | None = None


class TextBlock(_Block):
    """A piece of text."""

    type: Literal["text"]
    text: str
    citations: Any = None


class MessagesSource(Body):
    """Where a picture or document is. It comes along, or, of a picture, has an address."""

    type: Literal["base64", "url", "text", "content", "file"]
    media_type: Annotated[str, StringConstraints(max_length=100)] = ""
    data: str = ""
    url: str = ""
    content: str | Annotated[tuple[TextBlock, ...], FIRST_ERROR] = ""
    file_id: str | None = None


class ImageBlock(_Block):
    """A picture."""

    type: Literal["image"]
    source: MessagesSource
    transformations: Any = None


class DocumentBlock(_Block):
    """A PDF, or a text that is kept apart."""

    type: Literal["document"]
    source: MessagesSource
    title: str | None = None
    context: str | None = None
    citations: Any = None


class SearchResultBlock(_Block):
    """What a search of the client's found."""

    type: Literal["search_result"]
    source: str
    title: str
    content: Annotated[tuple[TextBlock, ...], FIRST_ERROR]
    citations: Any = None


class ThinkingBlock(Body):
    """What this server, or another model, said before its answer; it is left out."""

    type: Literal["thinking", "redacted_thinking"]
    thinking: str = ""
    signature: str = ""
    data: str = ""


class ToolUseBlock(_Block):
    """A tool call that this server handed out."""

    type: Literal["tool_use"]
    id: Name
    name: Name
    input: Json
    caller: Any = None
    toolset_name: str | None = None


class ServerBlock(Body):
    """What a tool of another server did."""

    model_config = ConfigDict(extra="ignore")

    type: Name


ResultPart = Annotated[
    Annotated[TextBlock, Tag("text")]
    | Annotated[ImageBlock, Tag("image")]
    | Annotated[DocumentBlock, Tag("document")]
    | Annotated[SearchResultBlock, Tag("search_result")]
    | Annotated[ServerBlock, Tag("server")],
    Discriminator(_block_tag, "unknown_item", "this is a block of no known type"),
]


class ToolResultBlock(_Block):
    """What the client's tool returned."""

    type: Literal["tool_result"]
    tool_use_id: Name
    content: str | Annotated[tuple[ResultPart, ...], FIRST_ERROR] = ""
    is_error: bool | None = None
    toolset_name: str | None = None


Block = Annotated[
    Annotated[TextBlock, Tag("text")]
    | Annotated[ImageBlock, Tag("image")]
    | Annotated[DocumentBlock, Tag("document")]
    | Annotated[SearchResultBlock, Tag("search_result")]
    | Annotated[ThinkingBlock, Tag("thinking")]
    | Annotated[ThinkingBlock, Tag("redacted_thinking")]
    | Annotated[ToolUseBlock, Tag("tool_use")]
    | Annotated[ToolResultBlock, Tag("tool_result")]
    | Annotated[ServerBlock, Tag("server")],
    Discriminator(_block_tag, "unknown_item", "this is a block of no known type"),
]


class MessagesTurn(Body):
    """A turn of the conversation."""

    role: Literal["user", "assistant", "system"]
    content: str | Annotated[tuple[Block, ...], FIRST_ERROR]


class MessagesTool(_Block):
    """A tool of the client's."""

    type: Literal["custom"] | None = None
    name: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,128}$")]
    description: str | None = None
    input_schema: Json
    strict: bool | None = None
    # How a server may find and run it: this one shows it to the model and hands its calls to the client.
    allowed_callers: tuple[str, ...] | None = None
    defer_loading: bool | None = None
    eager_input_streaming: bool | None = None
    input_examples: tuple[Json, ...] | None = None


class ServerTool(Body):
    """A tool that Anthropic runs, or knows without being told."""

    model_config = ConfigDict(extra="ignore")

    type: Name


AnyMessagesTool = Annotated[
    Annotated[MessagesTool, Tag("custom")] | Annotated[ServerTool, Tag("server")],
    Discriminator(_tool_tag, "unknown_tool", "this is a tool of no known type"),
]


class MessagesChoice(Body):
    """``tool_choice``."""

    type: Literal["auto", "any", "tool", "none"]
    name: Name | None = None
    disable_parallel_tool_use: bool = False


class MessagesThinking(Body):
    """``thinking``. Where it is on, the steps before the answer are shown as such, unless they are to be left out."""

    type: Literal["enabled", "disabled", "adaptive", "between_tools"]
    budget_tokens: int | None = Field(default=None, ge=0, le=10_000_000)
    display: Literal["summarized", "omitted"] | None = None


class MessagesForm(Body):
    """``output_config.format``."""

    type: Literal["json_schema"]
    schema_: Json = Field(alias="schema")


class OutputConfig(Body):
    """``output_config``."""

    effort: Literal["low", "medium", "high", "xhigh", "max"] | None = None
    format: MessagesForm | None = None
    task_budget: Any = None


class MessagesMetadata(Body):
    """Whose request it is for the client; agents put their session's id into it."""

    user_id: Annotated[str, StringConstraints(max_length=2000)] | None = None


class CountRequest(AnyRequest):
    """``POST /v1/messages/count_tokens``, and what asking has in common with it."""

    messages: Annotated[tuple[MessagesTurn, ...], FIRST_ERROR] = Field(min_length=1, max_length=MAX_TURNS)
    system: str | Annotated[tuple[TextBlock, ...], FIRST_ERROR] | None = None
    tools: Annotated[tuple[AnyMessagesTool, ...], Field(fail_fast=True, max_length=256)] | None = None
    tool_choice: MessagesChoice | None = None
    thinking: MessagesThinking | None = None
    output_config: OutputConfig | None = None
    cache_control: CacheControl | None = None
    # Accepted because clients send them; they say nothing about the answer.
    workspace_id: str | None = None
    user_profile_id: str | None = None
    # Left out, and named in the answer's header.
    speed: Literal["standard", "fast"] | None = None
    context_management: Any = None
    mcp_servers: Any = None

    @property
    def ignored(self) -> tuple[str, ...]:
        """What was asked for and is left out, the tools and blocks of others not counted."""
        wanted = [name for name in ("context_management", "mcp_servers") if getattr(self, name)]
        return (*wanted, *(["speed"] if self.speed == "fast" else []))


class MessagesRequest(CountRequest):
    """``POST /v1/messages``."""

    max_tokens: int = Field(ge=1, le=10_000_000)
    stop_sequences: Annotated[tuple[str, ...], Field(max_length=16)] | None = None
    # Accepted because clients send them; they say nothing about the answer.
    metadata: MessagesMetadata | None = None
    service_tier: Literal["auto", "standard_only"] | None = None
    diagnostics: Any = None
    # Left out, and named in the answer's header.
    top_k: int | None = None
    container: Any = None
    inference_geo: str | None = None

    @property
    def ignored(self) -> tuple[str, ...]:
        """What was asked for and is left out."""
        own = [name for name in ("top_k", "container", "inference_geo") if getattr(self, name) is not None]
        return (*super().ignored, *own)
