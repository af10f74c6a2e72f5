"""What a command needs beyond the core, and how to get it."""

import importlib.util

from podium.errors import ConfigError


def need_train() -> None:
    """Raises :class:`ConfigError` where torch and its company are not installed."""
    missing = [name for name in ("torch", "tokenizers", "safetensors") if importlib.util.find_spec(name) is None]
    if missing:
        raise ConfigError(f"this needs {', '.join(missing)}: pip install 'podium[train]'")
