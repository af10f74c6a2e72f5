"""The messages between the judge and the fork server: a JSON header and a few byte strings, all lengths up front.

    4 bytes   length of the header, big-endian
    header    a JSON object; its "parts" lists the lengths of the byte strings that follow
    parts     the byte strings

Nothing here reads from anywhere: the server reads with blocking calls, the judge with asyncio.
"""

import json
from collections.abc import Sequence
from typing import Any

PREFIX = 4
MAX_HEADER = 64 * 1024


def encode(header: dict[str, Any], parts: Sequence[bytes] = ()) -> bytes:
    """One message. Example: ``encode({"kind": "script"}, [b"1 2\\n"])``."""
    line = json.dumps({**header, "parts": [len(part) for part in parts]}).encode()
    if len(line) > MAX_HEADER:
        raise ValueError(f"a header of {len(line)} bytes: put long values into parts")
    return b"".join((len(line).to_bytes(PREFIX, "big"), line, *parts))


def header_length(prefix: bytes) -> int:
    """The length of the header that follows. Raises ValueError where it is too long to be one of ours."""
    length = int.from_bytes(prefix, "big")
    if length > MAX_HEADER:
        raise ValueError(f"a header of {length} bytes")
    return length


def decode_header(line: bytes, most: int | None = None) -> tuple[dict[str, Any], list[int]]:
    """The header and the lengths of the parts that follow it, which together are at most ``most`` bytes.

    Raises ValueError (RecursionError for a deep one) where it is not a header.
    """
    header = json.loads(line)
    if not isinstance(header, dict):
        raise ValueError("the header is no object")  # noqa: TRY004 - one error for every way of being no header
    lengths = header.pop("parts", None)
    if not isinstance(lengths, list) or not all(type(length) is int and length >= 0 for length in lengths):
        raise ValueError("the header does not say what follows")
    if most is not None and sum(lengths) > most:
        raise ValueError(f"{sum(lengths)} bytes follow, at most {most} are allowed")
    return header, lengths
