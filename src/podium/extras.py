"""Checks for libraries that are not installed with the core; the error says how to install them."""

import importlib.util

from podium.errors import ConfigError


def missing_for_training() -> list[str]:
    """Which of torch and the libraries used with it are not installed."""
    return [name for name in ("torch", "tokenizers", "safetensors") if importlib.util.find_spec(name) is None]


def need_train() -> None:
    """Raises :class:`ConfigError` where :func:`missing_for_training` names anything."""
    missing = missing_for_training()
    if missing:
        raise ConfigError(f"this needs {', '.join(missing)}: pip install 'podium[train]'")


def need_stats() -> None:
    """Raises :class:`ConfigError` where scipy, scikit-learn or Jinja are not installed."""
    missing = [name for name in ("numpy", "scipy", "sklearn", "jinja2") if importlib.util.find_spec(name) is None]
    if missing:
        raise ConfigError(f"this needs {', '.join(missing)}: pip install 'podium[stats]'")


def need_ray() -> None:
    """Raises :class:`ConfigError` where Ray is not installed."""
    if importlib.util.find_spec("ray") is None:
        raise ConfigError("a cluster needs Ray, which is not installed: pip install 'podium[ray]'")


def need_serve() -> None:
    """Raises :class:`ConfigError` where the server's libraries are not installed."""
    needed = ("fastapi", "uvicorn", "sqlalchemy", "alembic", "nicegui", "prometheus_client", "cryptography")
    missing = [name for name in needed if importlib.util.find_spec(name) is None]
    if missing:
        raise ConfigError(f"the server needs {', '.join(missing)}: pip install 'podium[serve]'")


def need_mcp() -> None:
    """Raises :class:`ConfigError` where the Model Context Protocol's library is not installed."""
    if importlib.util.find_spec("mcp") is None:
        raise ConfigError("tools of the Model Context Protocol need mcp, which is not installed: pip install 'podium[mcp]'")


def need_inspect() -> None:
    """Raises :class:`ConfigError` where Inspect is not installed."""
    if importlib.util.find_spec("inspect_ai") is None:
        raise ConfigError("logs of Inspect need inspect-ai, which is not installed: pip install 'podium[inspect]'")


def need_trl() -> None:
    """Raises :class:`ConfigError` where TRL is not installed."""
    need_train()
    if importlib.util.find_spec("trl") is None:
        raise ConfigError("a pretrained model learns with TRL, which is not installed: pip install 'podium[trl]'")
