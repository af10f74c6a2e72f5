"""What every object of a request is, with its own fields only: the base of what a client may send."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
MAX_FIELDS = 100


class Body(BaseModel):
    """An object of a request."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _few(cls, given: Any) -> Any:
        """An error per unknown field of a hostile body would cost far more than the body."""
        if isinstance(given, dict) and len(given) > MAX_FIELDS:
            raise PydanticCustomError("too_many_fields", f"an object of a request has {MAX_FIELDS} fields at most")
        return given

    @model_validator(mode="before")
    @classmethod
    def _whole(cls, given: Any) -> Any:
        """JSON can name half a character, which no UTF-8 carries on to a worker."""
        texts = (value for value in given.values() if isinstance(value, str)) if isinstance(given, dict) else ()
        if any(is_broken(text) for text in texts):
            raise PydanticCustomError("half_character", "a text holds half of a surrogate pair; send whole characters")
        return given


def is_broken(text: str) -> bool:
    """Whether no UTF-8 can carry ``text``."""
    if text.isascii():
        return False
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False
