"""What looks like a provider's key, so that a pool file that holds one is refused before anything can print it.

By shape (how vendors' keys begin; long unbroken letters and digits) and by name (``api_key``, ``token``, ...). It errs
towards refusing; a key of an unusual shape under an innocent name gets through.
"""

import re
from typing import Any

from podium.errors import ConfigError

_KEY_NAMES = frozenset({"api_key", "apikey", "api-key", "key", "token", "api_token", "secret", "password", "authorization"})
KEY_SHAPE = re.compile(
    # How the vendors' keys begin; at the start of a word, and with a digit, so that "risk-taking-and-planning" is none.
    r"(?<![A-Za-z0-9])(?:(?:sk|gsk|csk|xai|hf|r8|nvapi|ghp)[-_]|AIza)(?=[A-Za-z_\-]*[0-9])[A-Za-z0-9_\-]{16,}"
    r"|(?=[A-Za-z0-9]*[0-9])(?=[A-Za-z0-9]*[A-Za-z])[A-Za-z0-9]{32,}"  # hexadecimal and the like
)
KEYS_STAY_OUT = "keys never stand in the file: put it into an environment variable and write the variable's name into api_key_env"


def refuse_secrets(value: Any, place: str) -> None:
    """Raise :class:`ConfigError` where a name or a string anywhere in ``value`` is, or says it is, a key.

    The message names the place and never the secret. Example: ``refuse_secrets(table, "worker 'small'")``.
    """
    if isinstance(value, str) and KEY_SHAPE.search(value):
        raise ConfigError(f"{place}: this looks like a key; {KEYS_STAY_OUT}")
    if isinstance(value, list):
        for number, inner in enumerate(value, start=1):
            refuse_secrets(inner, f"{place}: entry {number}")
    if isinstance(value, dict):
        for name, inner in value.items():
            if KEY_SHAPE.search(name):
                raise ConfigError(f"{place}: the name of an entry looks like a key; {KEYS_STAY_OUT}")
            if name.lower() in _KEY_NAMES:
                raise ConfigError(f"{place}: {name}: {KEYS_STAY_OUT}")
            refuse_secrets(inner, f"{place}: {name}")
