"""One ``[[worker]]`` table of a pool file: the keys that every kind of worker has, and how a table is read and refused.

A kind of worker adds its own keys in a subclass of :class:`WorkerConfig` (:mod:`podium.workers.kinds`). An unknown key is an
error, and no message repeats a value, because a value can be a secret.
"""

import difflib
import json
import re
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails

from podium.errors import ConfigError
from podium.workers.prices import PER_MILLION, Price
from podium.workers.secrets import KEY_SHAPE, KEYS_STAY_OUT, refuse_secrets

DEFAULT_KIND = "chat"
DEFAULT_MAX_TOKENS = 8192
DEFAULT_SECONDS = 600.0


def checked(check: Callable[[Any], Any]) -> AfterValidator:
    """A check that raises :class:`ConfigError`, for pydantic, which collects ValueErrors."""

    def run(value: Any) -> Any:
        try:
            check(value)
        except ConfigError as error:
            raise ValueError(str(error)) from error
        return value

    return AfterValidator(run)


def _checked_name(name: str) -> str:
    if not name.strip() or name != name.strip() or not name.isprintable() or len(name) > 64:
        raise ConfigError("a name is 1 to 64 printable characters without spaces around them")
    return name


def _checked_variable(name: str) -> str:
    if not re.fullmatch(r"[A-Z_][A-Z0-9_]{0,63}", name):
        raise ConfigError(f"this is not the name of a variable in capitals, like OPENAI_API_KEY; {KEYS_STAY_OUT}")
    return name


Name = Annotated[str, checked(_checked_name)]
VariableName = Annotated[str, checked(_checked_variable)]
"""The name of an environment variable that holds a key."""
Positive = Annotated[int, Field(gt=0)]
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Dollars = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Table(BaseModel):
    """A table of a pool file. Values keep their types: no "5" for 5."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class WorkerConfig(Table):
    """What the table of any worker may say; a kind of worker adds its own keys."""

    name: Name
    kind: str = DEFAULT_KIND
    """A registered kind of worker (:mod:`podium.workers.kinds`)."""
    max_tokens: Positive = DEFAULT_MAX_TOKENS
    """Completion tokens at most, thinking included where the provider counts it so. Budgets are reserved by it."""
    timeout_seconds: Seconds = DEFAULT_SECONDS
    """For one attempt, streaming included."""
    retries: Annotated[int, Field(ge=0, le=100)] = 3
    """Further attempts after a passing fault."""
    concurrency: Positive | None = None
    """Calls in flight at once; None = not limited."""
    requests_per_minute: Positive | None = None
    tokens_per_minute: Positive | None = None
    fallback: str | None = None
    """The worker that answers where this one can not."""
    fallback_stays: bool = False
    """Whether that one goes on to the end of a loop of tool calls which it took over; else this one is asked again each time."""
    hedge_after_seconds: Seconds | None = None
    """Ask a second time when no answer has come by then, and take the first of the two; outside ``concurrency``."""
    prompt_usd_per_million: Dollars | None = None
    """Dollars per million prompt tokens; 0 where it is free. Default: what the worker knows; a chat worker, the price list."""
    completion_usd_per_million: Dollars | None = None
    cached_usd_per_million: Dollars | None = None
    """Dollars per million prompt tokens that the provider reads from its cache. Default: as any other prompt token, or what
    the price list says where the file declares no prices."""
    context_tokens: Positive | None = None
    """Tokens that it can read in one call. Default: what the price list says."""
    sees: bool | None = None
    """Whether it can be shown pictures and PDF files. Default: where the price list has a price for pictures."""
    about: str = ""
    """One line for the policy."""
    skills: dict[str, Annotated[float, Field(ge=0, le=1)]] = Field(default_factory=dict)
    """Measured success rates by skill."""

    @model_validator(mode="after")
    def _agree_with_each_other(self) -> Self:
        if (self.prompt_usd_per_million is None) != (self.completion_usd_per_million is None):
            raise ValueError("set both prompt_usd_per_million and completion_usd_per_million, or neither")
        if self.cached_usd_per_million is not None and self.prompt_usd_per_million is None:
            raise ValueError("cached_usd_per_million belongs to prompt_usd_per_million; set that too")
        if self.fallback == self.name:
            raise ValueError("a worker can not be its own fallback; name another one")
        if self.fallback_stays and self.fallback is None:
            raise ValueError("fallback_stays belongs to fallback; name a worker there")
        return self

    @property
    def price(self) -> Price | None:
        """The price the file declares; None where it declares none."""
        if self.prompt_usd_per_million is None or self.completion_usd_per_million is None:
            return None
        return Price(
            prompt_usd=self.prompt_usd_per_million * PER_MILLION,
            completion_usd=self.completion_usd_per_million * PER_MILLION,
            cached_usd=None if self.cached_usd_per_million is None else self.cached_usd_per_million * PER_MILLION,
        )

    def answering(self) -> dict[str, Any]:
        """The settings that decide what comes back; not the name, the card, the price, and how a call is made."""
        return self.model_dump(mode="json", exclude={*_NOT_IN_THE_ANSWER, "api_key_env"})

    @property
    def identity(self) -> str:
        """:meth:`answering` as canonical JSON, for cache keys."""
        return json.dumps(self.answering(), sort_keys=True, separators=(",", ":"))


_NOT_IN_THE_ANSWER = WorkerConfig.model_fields.keys() - {"kind", "max_tokens"}

TableT = TypeVar("TableT", bound=Table)


def read_table(kind: type[TableT], table: dict[str, Any], place: str) -> TableT:
    """``table`` as a ``kind``. Raises :class:`ConfigError` that names the ``place`` and the key, and repeats no value."""
    refuse_secrets(table, place)
    try:
        return kind.model_validate(table)
    except ValidationError as error:
        # "from None": pydantic's own text repeats the values it was given.
        raise ConfigError(f"{place}: {_explained(error.errors(include_url=False)[0], tuple(kind.model_fields))}") from None


def _explained(problem: ErrorDetails, known: tuple[str, ...]) -> str:
    field = ".".join(str(part) for part in problem["loc"])
    if problem["type"] == "extra_forbidden":
        return unknown_key(field, known)
    if problem["type"] == "missing":
        return f"{field} is missing"
    message = problem["msg"].removeprefix("Value error, ").replace("Input should", "it should")
    return f"{field}: {message}" if field else message


def unknown_key(key: str, known: tuple[str, ...]) -> str:
    """The sentence about a key that does not exist."""
    return f"unknown key {key[:64]!r}{hint(key, known) or '; known are ' + ', '.join(known)}"


def hint(word: str, known: Sequence[str]) -> str:
    """What ``word`` was probably meant to be; "" where nothing is near."""
    near = difflib.get_close_matches(word, known, n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def place_of(table: dict[str, Any], number: int) -> str:
    """A worker's table for messages: by its name where that can be shown, else by its number in the file."""
    name = table.get("name")
    if isinstance(name, str) and name.isprintable() and 0 < len(name) <= 64 and not KEY_SHAPE.search(name):
        return f"worker {name!r}"
    return f"worker number {number}"
