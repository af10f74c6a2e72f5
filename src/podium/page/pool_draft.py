"""What the form for one's own models says -> the text of a pool file, checked. Pure; asks nobody and reads no key.

The form is stricter than a pool file: a model, the *name* of the variable that holds its key, a price. An address of one's own
gets no key, so that nobody can have a provider's key sent elsewhere through the page.
"""

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from podium.errors import ConfigError
from podium.page.shown import line
from podium.workers.providers import PROVIDERS, checked_url
from podium.workers.secrets import KEY_SHAPE

MOST_MODELS = 12
_MODEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,119}", re.ASCII)
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]{0,60}_API_KEY", re.ASCII)
_FILE = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}\.toml", re.ASCII)
_WORD = re.compile(r"[^a-z0-9]+")
_DEAREST = 10_000.0
"""Dollars per million tokens; nothing costs more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelDraft:
    """One row of the form, as it was written. Example: ``ModelDraft(provider="openai", model="gpt-5-mini")``."""

    provider: str
    model: str
    key_env: str = ""
    """Name of the variable that holds the key; "" is the provider's usual one."""
    base_url: str = ""
    prompt_usd: str = ""
    """Per million tokens; "" is what the price list says."""
    completion_usd: str = ""


def pool_text(models: Sequence[ModelDraft]) -> str:
    """The pool file; the first model writes the workflows. Raises :class:`ConfigError`, in words for the visitor.

    Example: ``pool_text([ModelDraft(provider="openai", model="gpt-5-mini")])``.
    """
    if not models:
        raise ConfigError("Name at least one model.")
    if len(models) > MOST_MODELS:
        raise ConfigError(f"The form takes {MOST_MODELS} models; write further ones into the file.")
    names: list[str] = []
    tables = []
    for number, model in enumerate(models, 1):
        names.append(_name(model, names))
        try:
            tables.append(_table(names[-1], model))
        except ConfigError as error:
            raise ConfigError(f"Model {number}: {error}") from error
    return "\n\n".join([*tables, f'[conductor]\nworker = "{names[0]}"\ncards = true']) + "\n"


def file_name(written: str) -> str:
    """The name of the file to write, which lies where the server was started. Raises :class:`ConfigError`."""
    name = written.strip()
    if not _FILE.fullmatch(name):
        raise ConfigError("The file's name is small letters, digits, - and _, and ends in .toml: pool.toml, for example.")
    return name


def _table(name: str, model: ModelDraft) -> str:
    provider = PROVIDERS.get(model.provider)
    if provider is None:
        raise ConfigError("choose one of the providers")
    if KEY_SHAPE.search(model.key_env) or KEY_SHAPE.search(model.model):
        raise ConfigError("this looks like a key. A key never goes into the form: write the name of the variable that holds it.")
    if not _MODEL.fullmatch(model.model):
        raise ConfigError("the model's name is what the provider calls it, like gpt-5-mini or qwen3:8b")
    lines = ["[[worker]]", f'name = "{name}"', f"model = {json.dumps(f'{model.provider}:{model.model}')}"]
    if model.base_url:
        if model.key_env:
            raise ConfigError("an address of your own gets no key through this form; write api_key_env into the file by hand")
        if len(model.base_url) > 300 or not model.base_url.isascii() or not model.base_url.isprintable():
            raise ConfigError("the address is one like http://127.0.0.1:8000/v1")
        lines.append(f"base_url = {json.dumps(checked_url(model.base_url) or model.base_url)}")
    elif model.key_env:
        if not _VARIABLE.fullmatch(model.key_env):
            raise ConfigError("the name of the variable that holds the key ends in _API_KEY, in capitals, like OPENAI_API_KEY")
        lines.append(f'api_key_env = "{model.key_env}"')
    if bool(model.prompt_usd.strip()) != bool(model.completion_usd.strip()):
        raise ConfigError("a price has two parts, what is read and what is written; leave both empty where the price list knows")
    for key, written in (("prompt", model.prompt_usd), ("completion", model.completion_usd)):
        if written.strip():
            lines.append(f"{key}_usd_per_million = {_dollars(written)}")
    return "\n".join(lines)


def _dollars(written: str) -> str:
    try:
        dollars = float(written)
    except ValueError:
        dollars = math.nan
    if not 0 <= dollars <= _DEAREST:
        raise ConfigError(f'a price is dollars per million tokens, like 0.25, not "{line(written, 20)}"')
    return f"{dollars:.6f}".rstrip("0").rstrip(".")


def _name(model: ModelDraft, taken: Sequence[str]) -> str:
    """What the model is called in tables and drawings. Example: ``"gpt-5-mini"``, the second one ``"gpt-5-mini-2"``."""
    word = _WORD.sub("-", model.model.lower().rpartition("/")[2])[:40].strip("-") or "model"
    word = f"{word}-model" if word.startswith("podium") else word
    number = 1
    while (name := word if number == 1 else f"{word}-{number}") in taken:
        number += 1
    return name
