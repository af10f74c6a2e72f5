"""What a person types for tuning, read: shares by worker, words by kind."""

from podium.errors import ConfigError


def named_share(text: str) -> tuple[str, float]:
    """A worker and its share, from ``NAME=SHARE``. Raises :class:`ConfigError`."""
    name, _, share = text.rpartition("=")
    try:
        return name, float(share)
    except ValueError:
        raise ConfigError(f"--sparing takes NAME=SHARE, as in strong=0.4, and not {text[:60]!r}") from None


def named_kinds(about: list[str]) -> dict[str, str]:
    """Kind -> what it is about, from ``KIND=WORDS``. Raises :class:`ConfigError`."""
    found = {}
    for one in about:
        kind, sign, words = one.partition("=")
        if not (sign and kind.strip() and words.strip()):
            raise ConfigError(f"--about takes KIND=WORDS, not {one!r}")
        found[kind.strip()] = words.strip()
    return found
