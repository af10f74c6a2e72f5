"""A pool file out of a few answers: which models there are to choose from, and the text of the file.

A key is never asked for and never written: the file names the variable that holds it, and only whether that is set is looked at.
"""

import os
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from podium.acting.pool_file import read_pool
from podium.errors import ConfigError
from podium.workers.local_servers import LocalModel
from podium.workers.price_list import price_of
from podium.workers.providers import PROVIDERS, split_model
from podium.workers.secrets import KEY_SHAPE

USUAL: Mapping[str, str] = {
    "openai": "gpt-5-mini",
    "anthropic": "claude-haiku-4-5",
    "google": "gemini-2.5-flash",
    "openrouter": "openai/gpt-5-mini",
    "deepseek": "deepseek-chat",
    "fireworks": "accounts/fireworks/models/gpt-oss-120b",
    "groq": "openai/gpt-oss-120b",
    "mistral": "mistral-small-latest",
    "together": "openai/gpt-oss-120b",
    "xai": "grok-4-fast",
}
"""Provider -> a small model of it whose price is in the list, for those who name none."""

_T = TypeVar("_T")
Ask = Callable[[str, str], str]
"""(question, what counts where nothing is answered) -> the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A worker of the file to be. Example: ``Choice(model="openai:gpt-5-mini")``."""

    model: str
    """``provider:name``."""
    base_url: str | None = None
    note: str = ""
    """Said of it where it is offered: whether its key is set, where it was found."""
    is_ready: bool = True
    """Whether it could be asked as things are."""

    @property
    def is_local(self) -> bool:
        """Whether it runs on this machine, and so costs nothing."""
        provider, _ = split_model(self.model)
        return self.base_url is not None or PROVIDERS[provider].key_env is None


def of_provider(provider: str, environ: Mapping[str, str]) -> Choice:
    """The usual model of ``provider``. Raises :class:`ConfigError` where it is unknown, or has no usual one."""
    split_model(f"{provider}:x")
    key = PROVIDERS[provider].key_env
    if provider not in USUAL or key is None:
        raise ConfigError(f"{provider} runs on your own machine: name its model, as in --model {provider}:NAME")
    is_set = bool(environ.get(key, "").strip())
    return Choice(model=f"{provider}:{USUAL[provider]}", note=f"{key} is {'set' if is_set else 'not set'}", is_ready=is_set)


def of_model(model: str) -> Choice:
    """``provider:name`` as a choice. Raises :class:`ConfigError` where it names no provider, or is a key."""
    if KEY_SHAPE.search(model):
        raise ConfigError("this looks like a key, not like a model. A key stands in its variable and in no file")
    split_model(model)
    return Choice(model=model)


def of_local(found: LocalModel) -> Choice:
    """A model that a server on this machine names."""
    note = f"found at 127.0.0.1:{found.port} ({found.server}?)"
    if found.port == 11434:
        return Choice(model=f"ollama:{found.name}", note=note)
    return Choice(model=f"openai:{found.name}", base_url=found.base_url, note=note)


def offered(local: Sequence[LocalModel], environ: Mapping[str, str] = os.environ) -> list[Choice]:
    """Everything there is to choose from: what could be asked now first."""
    choices = [*(of_provider(provider, environ) for provider in USUAL), *map(of_local, local)]
    return sorted(choices, key=lambda choice: not choice.is_ready)


def interviewed(choices: Sequence[Choice], say: Callable[[str], None], ask: Ask) -> list[Choice]:
    """What a person chooses out of ``choices``; a wrong answer is asked for again.

    Raises :class:`ConfigError` for the third wrong answer to one question.
    """
    for number, choice in enumerate(choices, 1):
        say(f"{number:3}  {choice.model:45} {choice.note}")
    ready = " ".join(str(number) for number, choice in enumerate(choices, 1) if choice.is_ready)
    chosen = []
    for choice in _again(say, lambda: _numbered(choices, ask("Which ones? Numbers, with spaces between", ready))):
        if choice.base_url is None and choice.model.partition(":")[0] in USUAL:
            provider, name = split_model(choice.model)
            question = f"Which model of {provider}?"
            choice = _again(say, lambda: of_model(f"{provider}:{ask(question, name)}"))  # noqa: B023 - called at once
        chosen.append(choice)
    return chosen


def _numbered(choices: Sequence[Choice], written: str) -> list[Choice]:
    words = written.replace(",", " ").split()
    for word in words:
        if not (word.isascii() and word.isdecimal() and 1 <= int(word[:6]) <= len(choices)):
            raise ConfigError(f"{word[:20]!r} is none of the numbers 1 to {len(choices)}")
    return [choices[int(word) - 1] for word in words]


def _again(say: Callable[[str], None], asked: Callable[[], _T]) -> _T:
    for _ in range(2):
        try:
            return asked()
        except ConfigError as error:
            say(str(error))
    return asked()


def pool_text(choices: Sequence[Choice]) -> str:
    """The file for ``choices``. Raises :class:`ConfigError` where there are none."""
    if not choices:
        raise ConfigError(
            "nothing to put into a pool file: set a provider's key variable, start a local model server, or name a --provider or "
            "a --model"
        )
    lines = ["# Keys never stand here: they are read from environment variables. All settings: podium's docs, Pool file.", ""]
    taken: set[str] = set()
    first = ""
    for choice in choices:
        provider, model = split_model(choice.model)
        name = _name(model, taken)
        first = first or name
        key = PROVIDERS[provider].key_env if choice.base_url is None else None
        lines += ["[[worker]]", f"name = {_quoted(name)}", f"model = {_quoted(choice.model)}"]
        lines[-1] += "" if key is None else f"  # its key: the variable {key}"
        if choice.base_url is not None:
            lines.append(f"base_url = {_quoted(choice.base_url)}")
        if choice.is_local:
            lines += ["prompt_usd_per_million = 0  # your own machine", "completion_usd_per_million = 0"]
        elif price_of(provider, model) is None:
            lines.append("# Its price is not known: say it, or no budget in dollars can be kept.")
            lines += ["# prompt_usd_per_million = ", "# completion_usd_per_million = "]
        lines.append("")
    lines += ["[conductor]  # who writes the workflows", f"worker = {_quoted(first)}", "cards = true"]
    return "\n".join(lines) + "\n"


def write_pool(path: Path, text: str, *, replace: bool = False) -> None:
    """Write ``text`` to ``path`` if it is a pool file; nothing that is there is replaced unless ``replace``.

    Raises :class:`ConfigError` for what is no pool file or holds a key, and where the file is there or can not be written.
    """
    try:
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".podium-new-") as folder:
            draft = Path(folder) / "pool.toml"
            draft.write_text(text, encoding="utf-8")
            try:
                read_pool(draft)
            except ConfigError as error:
                raise ConfigError(str(error).removeprefix(f"{draft}: ")) from error
            if replace:
                draft.replace(path)
            else:
                os.link(draft, path)  # unlike a move it never takes the place of a file that came meanwhile
    except FileExistsError:
        raise ConfigError(f"{path} is there already; name another file, or take it away") from None
    except OSError as error:
        raise ConfigError(f"can not write {path}: {error.strerror}") from error


def _name(model: str, taken: set[str]) -> str:
    """A short name for ``model`` that is not ``taken`` yet."""
    short = re.sub(r"[^A-Za-z0-9._-]+", "-", model.rpartition("/")[2]).strip("-.")[:40] or "worker"
    name = next(one for one in (short, *(f"{short}-{n}" for n in range(2, 1000))) if one not in taken)
    taken.add(name)
    return name


def _quoted(text: str) -> str:
    """``text`` as TOML. Control characters are no part of a model's name."""
    if any(ord(character) < 32 or ord(character) == 127 for character in text):
        raise ConfigError(f"{text[:60]!r} holds a control character")
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
