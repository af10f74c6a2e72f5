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


def is_broken(text: str) -> bool:
    """Whether no UTF-8 can carry ``text``."""
    if text.isascii():
        return False
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False
