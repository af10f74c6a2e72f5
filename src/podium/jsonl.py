"""Records on disk: one frozen record of ``podium.types`` (or a record made of them) is one line of JSON.

What is written comes back equal, lone surrogates and NUL characters in the text of a hostile worker included: lines are
pure ASCII, everything else is escaped. Two exceptions: a high surrogate followed by a low one comes back as the one
character that they encode, and NaN, which equals nothing, comes back as NaN.

A file is only ever appended to, a line at a time and in one write, so that a process killed at any moment leaves at most
one torn line, the last. Readers leave that line out and :func:`mend` cuts it off; every other unreadable line is an
error, because a file with a hole is no longer evidence.

Left out on purpose: ``fsync`` (a power cut may lose the last lines; a killed process loses none), locks (one process
writes one file) and compression.
"""

import errno
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from podium.errors import ConfigError

Record = TypeVar("Record")

_JSON = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"))
_ADAPTERS: dict[type, TypeAdapter[Any]] = {}  # building one takes milliseconds, so each is built once


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """The whole lines of a file, without their line ends, and what followed them.

    Example: of the bytes ``b'{"a":1}\\n{"a":'`` the ``lines`` are ``('{"a":1}',)``, ``whole_bytes`` is 8, ``torn`` is 5.
    """

    lines: tuple[str, ...]
    whole_bytes: int
    """Where the next line has to start, counted from the start of the file."""
    torn: int
    """Bytes after that: the length of a line that a killed process left unfinished; mostly 0."""


def dumps(record: object) -> str:
    """``record`` as one line of JSON, without a line end.

    Example: ``dumps(Message(role="user", content="Hi"))`` is ``'{"role":"user","content":"Hi"}'``. Infinities and NaN
    are written as Python's ``json`` writes them. A field that holds another type than it declares is a bug, and pydantic
    raises for it.
    """
    plain = _adapter(type(record)).dump_python(record, mode="json", warnings="error")
    return _JSON.encode(plain)


def loads(kind: type[Record], line: str) -> Record:
    """The record of type ``kind`` that ``line`` holds: the inverse of :func:`dumps`.

    Example: ``loads(Problem, line)``. Raises :class:`ConfigError` where the line is not one JSON object, misses a field,
    or has a field that ``kind`` does not have (nested records included).
    """
    plain = _object(line)
    try:
        return _adapter(kind).validate_python(plain, extra="forbid")
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the line"
        raise ConfigError(f"no {kind.__name__}: {place}: {first['msg']}") from error


def append(path: Path, line: str) -> None:
    """Add ``line`` to the file at ``path``, which is made where it is missing.

    One system call writes the line and its end. Raises ValueError for a line that holds a line end, and OSError where the
    disk took only a part of it; that part is a torn line, see :func:`mend`.
    """
    if "\n" in line:
        raise ValueError("a line of a JSON lines file holds no line end")
    data = line.encode("ascii") + b"\n"
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        written = os.write(descriptor, data)
    finally:
        os.close(descriptor)
    if written != len(data):
        raise OSError(errno.ENOSPC, f"only {written} of {len(data)} bytes could be written", str(path))


def read_records(kind: type[Record], path: Path) -> list[Record]:
    """Every record of the file at ``path``, in order, without a torn last line.

    A last line counts as torn where it has no line end, begins as our lines do (``{"``) and is no whole JSON object.
    Example: ``read_records(Transcript, Path("runs/ask.jsonl"))``. Raises :class:`ConfigError` with file and line number
    for a line that is not of type ``kind``, and OSError where the file can not be read.
    """
    records = []
    for number, line in enumerate(_split(path).lines, start=1):
        try:
            records.append(loads(kind, line))
        except ConfigError as error:
            raise ConfigError(f"{path}, line {number}: {error}") from error
    return records


def mend(path: Path) -> int:
    """Make the file at ``path`` ready for :func:`append`: cut off a torn last line, end a whole one that has no end.

    Returns the number of bytes cut off. Raises :class:`ConfigError` where the end of the file is neither, so that a file
    of something else is never shortened.
    """
    found = _split(path)
    if found.torn:
        os.truncate(path, found.whole_bytes)
    elif found.whole_bytes > path.stat().st_size:
        with path.open("ab") as file:
            file.write(b"\n")
    return found.torn


def _adapter(kind: type[Record]) -> TypeAdapter[Record]:
    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = TypeAdapter(kind)
    return _ADAPTERS[kind]


def _object(line: str) -> dict[str, Any]:
    try:
        plain = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"not JSON: {error}") from error
    if not isinstance(plain, dict):
        raise ConfigError(f"a JSON object is expected, not {type(plain).__name__}")
    return plain


def _split(path: Path) -> Lines:
    data = path.read_bytes()
    # Only b"\n" ends a line: str.splitlines would also cut at U+2028 and others in lines that another program wrote.
    *whole, rest = data.split(b"\n")
    whole_bytes = len(data) - len(rest)
    lines = [_text(path, number, line) for number, line in enumerate(whole, start=1)]
    torn = 0
    if rest:
        number = len(lines) + 1
        try:
            text = _text(path, number, rest)
            _object(text)
        except ConfigError as error:
            # The start of an object is never an object, so a last line is whole, torn, or not ours.
            if not (rest.startswith(b'{"') or rest == b"{"):
                raise ConfigError(f"{path}, line {number}: {error}") from error
            torn = len(rest)
        else:
            lines.append(text)
            whole_bytes += len(rest) + 1
    return Lines(lines=tuple(lines), whole_bytes=whole_bytes, torn=torn)


def _text(path: Path, number: int, line: bytes) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}, line {number}: not UTF-8 text: {error.reason}") from error
