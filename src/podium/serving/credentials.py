"""The key in a request's headers: OpenAI's clients send ``Authorization: Bearer``, Anthropic's ``x-api-key`` as well."""

from collections.abc import Mapping


def authorization(headers: Mapping[str, str]) -> str | None:
    """What stands for ``Authorization``; that header itself counts first. ``headers`` are read without regard to case."""
    given = headers.get("authorization")
    if given is None and (key := headers.get("x-api-key")) is not None:
        return f"Bearer {key}"
    return given
