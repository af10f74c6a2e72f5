"""What a conversation is made of besides words: tools and their calls, pictures and files, marks for a cache, and how to answer.

They are nouns as those in :mod:`podium.types`, which has them by the same names.
"""

from dataclasses import dataclass
from typing import Literal

Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
"""How much a model thinks before it answers, in OpenAI's words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A worker asks the client to run one of its tools. Example: ``ToolCall(id="call_1", name="now", arguments="{}")``."""

    id: str
    name: str
    arguments: str
    """JSON, as the model wrote it; not checked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thought:
    """A piece of what a model thought before it spoke. Example: ``Thought(text="Hm.", signature="EqQB")``."""

    text: str
    signature: str
    """The provider's, which refuses a thought that was changed."""
    at: int = 0
    """Before which character of the turn's content it stands."""
    is_hidden: bool = False
    """Whether the provider shows nothing of it; ``signature`` is then all there is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thoughts:
    """Who made a turn that called tools, and the signed thoughts before it: only that model of that provider takes them back."""

    by: str
    """Model and address."""
    thoughts: tuple[Thought, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A picture or a PDF in a turn. Example: ``Attachment(media_type="image/png", data="iVBORw0...", at=0)``."""

    media_type: str
    """As ``image/png``; of a picture that has only an address, ``image/*``."""
    data: str = ""
    """Base64; empty where there is an address."""
    url: str = ""
    """http or https. It is given to the provider as it is and never opened here."""
    at: int = 0
    """Before which character of the turn's content it stands."""
    detail: str = ""
    """How closely a picture is looked at, in OpenAI's words; empty: as the provider likes."""

    @property
    def is_picture(self) -> bool:
        """Else it is a document."""
        return self.media_type.startswith("image/")


@dataclass(frozen=True, slots=True, kw_only=True)
class CachePoint:
    """Up to here a provider should keep the prompt, where it takes such marks. Example: ``CachePoint(at=1200)``."""

    at: int
    """Before which character of the turn's content it stands; attachments at the same place come first."""
    ttl: Literal["5m", "1h"] = "5m"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A function of the client's that a worker may ask for. Example: ``Tool(name="now", parameters='{"type": "object"}')``."""

    name: str
    description: str = ""
    parameters: str = '{"type": "object", "properties": {}}'
    """JSON schema, as text."""
    strict: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How a worker should decode; None leaves a field to the worker's own setting.

    Example: ``Sampling(temperature=0.2, max_tokens=4096)``, the constrained setting of the paper (section 4.1).
    """

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    """Upper bound on completion tokens, thinking included where the provider counts it so."""
    thinking_tokens: int | None = None
    """Thinking budget in tokens; 0 asks for the least the provider allows."""
    seed: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseOptions:
    """What the client wants of the answer besides its text: it reaches the last step of a workflow and no other.

    Example: ``ResponseOptions(stop=("\\n",))``. A worker that can not honour tools or a format raises :class:`ConfigError`.
    """

    sampling: Sampling = Sampling()
    """Overrides the call's own, field by field."""
    stop: tuple[str, ...] = ()
    """Texts before which the answer ends."""
    tools: tuple[Tool, ...] = ()
    tool_choice: str = "auto"
    """``auto``, ``none``, ``required``, or the name of the one tool to be called."""
    one_tool_call: bool = False
    """Whether no more than one tool may be called at once."""
    response_format: str | None = None
    """JSON schema, as text, that the answer has to follow; ``{}`` is any JSON object."""
    cache_tools: Literal["", "5m", "1h"] = ""
    """How long a provider should keep the tools in its cache, where it takes such marks; empty: as it likes."""
    effort: Effort | None = None
    """Replaces a thinking budget in tokens; a model that does not think is asked as ever."""

    @property
    def needs_a_chat_model(self) -> bool:
        """Whether more is wanted than any worker can do."""
        return bool(self.tools) or self.response_format is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse:
    """A tool that a worker called by itself on the way to its answer, and what came of it.

    Example: ``ToolUse(tool="add", arguments='{"a": 1, "b": 2}', result="3", seconds=0.01)``.
    """

    tool: str
    arguments: str
    """JSON, as the model wrote it; not checked."""
    result: str
    """What the tool said, or why it could not be called."""
    failed: bool = False
    start_seconds: float = 0.0
    """When it was called, counted from the start of its step."""
    seconds: float = 0.0
