"""Checks for libraries that are not installed with the core; the error says how to install them."""

import importlib.util

from podium.errors import ConfigError

_TRAIN = ("torch", "tokenizers", "safetensors")
_LIBRARIES = {
    "anthropic": ("anthropic",),
    "data": ("datasets",),
    "gepa": ("gepa",),
    "google": ("google.genai",),
    "inspect": ("inspect_ai",),
    "mcp": ("mcp",),
    "otel": ("opentelemetry.sdk",),
    "postgres": ("psycopg",),
    "ray": ("ray",),
    "serve": ("fastapi", "uvicorn", "sqlalchemy", "alembic", "nicegui", "prometheus_client", "cryptography"),
    "stats": ("numpy", "scipy", "sklearn", "jinja2"),
    "train": _TRAIN,
    "trl": (*_TRAIN, "trl"),
}
"""The libraries of each extra that are looked for."""
EXTRAS = tuple(_LIBRARIES)


def missing(extra: str) -> list[str]:
    """The libraries of ``extra`` that are not installed. Example: ``missing("train")  # [] where torch and its company are``."""
    return [name for name in _LIBRARIES[extra] if not _is_there(name)]


def _is_there(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # the package around it is not there
        return False


def need(*extras: str) -> None:
    """Raises :class:`ConfigError` where a library of one of ``extras`` is not installed."""
    for extra in extras:
        if absent := missing(extra):
            raise ConfigError(f"this needs {', '.join(absent)}, which is not installed: pip install 'podium[{extra}]'")
