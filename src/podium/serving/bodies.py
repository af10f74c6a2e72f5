"""What all requests are made of: bodies with known fields only, text in parts, JSON that is not nested without end."""

import json
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
ToolName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
MAX_CHOICES = 8
MAX_TURNS = 2000
MAX_FIELDS = 100
MAX_DEPTH = 100
"""Of JSON inside JSON. Those who read it further on, provider's libraries too, do so by recursion, some four calls a level."""
FIRST_ERROR = Field(fail_fast=True)
"""A list is read up to its first mistake: an error for each of a million elements would cost gigabytes."""
_NOT_SERVED = {
    "image_url": "pictures",
    "input_image": "pictures",
    "input_audio": "sound",
    "video_url": "videos",
    "file": "files",
    "input_file": "files",
}


class Body(BaseModel):
    """An object of a request."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _readable(cls, given: Any) -> Any:
        """No more fields than there can be: an error per unknown one of a hostile body would cost far more than the body. And
        whole characters: JSON can name half of one, which no UTF-8 carries on to a worker.
        """
        if not isinstance(given, dict):
            return given
        if len(given) > MAX_FIELDS:
            raise PydanticCustomError("too_many_fields", f"an object of a request has {MAX_FIELDS} fields at most")
        for value in given.values():
            if isinstance(value, str) and is_broken(value):
                raise PydanticCustomError("half_character", "a text holds half of a surrogate pair; send whole characters")
        return given


class TextPart(Body):
    """A piece of a message."""

    type: Literal["text", "input_text", "output_text", "refusal"]
    text: str = ""
    refusal: str = ""
    annotations: tuple[Any, ...] | None = None
    logprobs: tuple[Any, ...] | None = None
    # Where a provider's cache may begin anew: nothing about the answer.
    cache_control: Any = None
    prompt_cache_breakpoint: Any = None

    @model_validator(mode="before")
    @classmethod
    def _text(cls, given: Any) -> Any:
        kind = given.get("type") if isinstance(given, dict) else None
        what = _NOT_SERVED.get(kind) if isinstance(kind, str) else None
        if what is not None:
            raise PydanticCustomError("not_served", "{what} are not served yet: this server takes text only", {"what": what})
        return given


Text = str | Annotated[tuple[TextPart, ...], FIRST_ERROR]
"""A message's content."""


def is_broken(text: str) -> bool:
    """Whether no UTF-8 can carry ``text``."""
    if text.isascii():
        return False
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def is_shallow(value: Any) -> bool:
    """Whether JSON is nested :data:`MAX_DEPTH` levels deep at most. Example: ``is_shallow([[]])``."""
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        inside: list[Any] = []
        for each in level:
            if isinstance(each, dict):
                inside += each.values()
            elif isinstance(each, list):
                inside += each
        if not inside:
            return True
        level = inside
    return False


def _shallow(value: dict[str, Any]) -> dict[str, Any]:
    if not is_shallow(value):
        raise _too_deep()
    return value


def _shallow_text(text: str) -> str:
    try:
        value = json.loads(text)
    except ValueError:
        return text  # models write broken JSON, and clients send it back as it was
    except RecursionError:
        raise _too_deep() from None
    if not is_shallow(value):
        raise _too_deep()
    return text


def _too_deep() -> PydanticCustomError:
    return PydanticCustomError("too_deep", f"JSON is nested more than {MAX_DEPTH} levels deep here")


Json = Annotated[dict[str, Any], AfterValidator(_shallow)]
"""A JSON object, a schema mostly."""
Arguments = Annotated[str, AfterValidator(_shallow_text)]
"""Of a tool call: JSON as text, or what a model took for it."""
