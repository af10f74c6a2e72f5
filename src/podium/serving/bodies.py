"""What all requests are made of, besides :class:`podium.body.Body`: text in parts, JSON that is not nested without end."""

import json
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Discriminator, Field, StringConstraints, Tag, model_validator
from pydantic_core import PydanticCustomError

from podium.body import Body

ToolName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
MAX_CHOICES = 8
MAX_TURNS = 2000
MAX_DEPTH = 100
"""Of JSON inside JSON. Those who read it further on, provider's libraries too, do so by recursion, some four calls a level."""
FIRST_ERROR = Field(fail_fast=True)
"""A list is read up to its first mistake: an error for each of a million elements would cost gigabytes."""
_NOT_SERVED = {"input_audio": "sound", "video_url": "videos"}


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
            message = "{what} is not served: this server takes text, pictures and files"
            raise PydanticCustomError("not_served", message, {"what": what})
        return given


class PictureAddress(Body):
    """Where a picture is: in the address itself (``data:``), or elsewhere."""

    url: str
    detail: Literal["auto", "low", "high", "original"] | None = None


class PicturePart(Body):
    """A picture in a message."""

    type: Literal["image_url"]
    image_url: PictureAddress
    cache_control: Any = None


class InputPicturePart(Body):
    """A picture in an item of a response's input."""

    type: Literal["input_image"]
    image_url: str | None = None
    file_id: None = None
    detail: Literal["auto", "low", "high", "original"] | None = None
    prompt_cache_breakpoint: Any = None


class FileData(Body):
    """A file that comes along; none is kept here, so that there is no id."""

    file_data: str | None = None
    filename: Annotated[str, StringConstraints(max_length=200)] | None = None
    file_id: None = None


class FilePart(Body):
    """A file in a message."""

    type: Literal["file"]
    file: FileData
    cache_control: Any = None


class InputFilePart(FileData):
    """A file in an item of a response's input."""

    type: Literal["input_file"]
    file_url: None = None
    detail: Any = None
    prompt_cache_breakpoint: Any = None


def _part_tag(given: Any) -> str:
    kind = given.get("type") if isinstance(given, dict) else getattr(given, "type", None)
    return kind if kind in ("image_url", "input_image", "file", "input_file") else "text"


Part = Annotated[
    Annotated[TextPart, Tag("text")]
    | Annotated[PicturePart, Tag("image_url")]
    | Annotated[InputPicturePart, Tag("input_image")]
    | Annotated[FilePart, Tag("file")]
    | Annotated[InputFilePart, Tag("input_file")],
    Discriminator(_part_tag),
]
Content = str | Annotated[tuple[Part, ...], FIRST_ERROR]
"""A message's content."""


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
