"""A small TOML file, or a plain sentence about why it is none: missing, a directory, a pipe, binary, too large, broken."""

import stat
import tomllib
from pathlib import Path
from typing import Any

from podium.errors import ConfigError

MAX_BYTES = 1_000_000


def read_toml(path: Path, what: str = "pool file") -> dict[str, Any]:
    """The tables of ``path``; :class:`ConfigError` that names the file and the way out.

    Example: ``read_toml(path, "study")``; messages call the file so.
    """
    try:
        kind = path.stat().st_mode
        if not stat.S_ISREG(kind):
            instead = "is a directory" if stat.S_ISDIR(kind) else "is not a regular file"
            raise ConfigError(f"{path} {instead}; name a {what}, a file that ends in .toml")
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError as error:
        raise ConfigError(f"{path}: there is no such file; write one or name another") from error
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} can not be read: {error}") from error
    if len(data) > MAX_BYTES:
        raise ConfigError(f"{path} is larger than {MAX_BYTES} bytes, which no {what} is; name another file")
    try:
        # utf-8-sig: some editors begin a file with a byte order mark.
        return tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8 text (byte {error.start}); save it as UTF-8 or name another file") from error
    except (tomllib.TOMLDecodeError, ValueError) as error:
        raise ConfigError(f"{path} is not TOML: {error}") from error
    except RecursionError as error:
        raise ConfigError(f"{path} is not a {what}: its values are nested too deeply") from error
