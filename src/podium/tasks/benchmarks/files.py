"""Rows out of local files: JSON, JSON lines, CSV, and CSV in a zip, compressed or not.

Numbers stay as they are spelled (``"1.10"``, never 1.1): a gold answer's precision is part of it. Every fault is a
:class:`ConfigError` that names the file, and the line or record where there is one.
"""

import csv
import gzip
import io
import json
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from podium.errors import ConfigError
from podium.tasks.benchmarks.benchmark import SourceRow

# Test inputs of programming problems are long single cells.
csv.field_size_limit(2**31 - 1)


def json_rows(path: Path) -> Iterator[SourceRow]:
    """The objects of a JSON file that holds a list of them, or an object of them.

    Example: ``json_rows(Path("data/scibench/atkins.json"))``. Raises :class:`ConfigError`.
    """
    whole = _json(path, str(path), _bytes(path))
    rows = list(whole.values()) if isinstance(whole, dict) else whole
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ConfigError(f"{path} holds no list of JSON objects")
    yield from rows


def jsonl_rows(path: Path) -> Iterator[SourceRow]:
    """The objects of a file of JSON lines. Example: ``jsonl_rows(Path("data/math500/test.jsonl"))``.

    Raises :class:`ConfigError`.
    """
    for number, line in enumerate(_bytes(path).split(b"\n"), start=1):
        if not line.strip():
            continue
        row = _json(path, f"{path}, line {number}", line)
        if not isinstance(row, dict):
            raise ConfigError(f"{path}, line {number}: no JSON object")
        yield row


def csv_rows(path: Path) -> Iterator[SourceRow]:
    """The rows of a CSV file with a line of names. Example: ``csv_rows(Path("data/gpqa/gpqa_diamond.csv"))``."""
    yield from csv.DictReader(io.StringIO(_text(str(path), _bytes(path)), newline=""))


def zipped_tables(path: Path, folder: str) -> Iterator[tuple[str, list[list[str]]]]:
    """(name without ending, rows) of every CSV file in ``folder`` of a zip, by name.

    Example: ``zipped_tables(Path("data/mmlu/mmlu.zip"), "data/test")``. Raises :class:`ConfigError`.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            for name in sorted(archive.namelist()):
                if name.startswith(f"{folder}/") and name.endswith(".csv"):
                    text = _text(f"{path}, {name}", archive.read(name))
                    yield name.rpartition("/")[2].removesuffix(".csv"), list(csv.reader(io.StringIO(text, newline="")))
    except OSError as error:
        raise _missing(path, error) from error
    except (zipfile.BadZipFile, zlib.error, csv.Error) as error:
        raise ConfigError(f"{path} is damaged: {error}") from error


def in_files(*names: str) -> Callable[[Path, str], Iterable[SourceRow]]:
    """A reader of the first of these files that is there, ``.gz`` added or not; its ending says how it is read.

    Example: ``in_files("gsm8k/{split}.jsonl")(Path("data"), "test")`` reads ``data/gsm8k/test.jsonl`` or ``test.jsonl.gz``. The
    reader raises :class:`ConfigError` that names all files where none is there.
    """

    def read(folder: Path, split: str) -> Iterable[SourceRow]:
        paths = [folder / f"{name.format(split=split)}{packed}" for name in names for packed in ("", ".gz")]
        path = next((path for path in paths if path.is_file()), None)
        if path is None:
            raise ConfigError(
                f"none of these files is there: {', '.join(map(str, paths))}; fetch the set or load it from the hub"
            )
        readers = {".jsonl": jsonl_rows, ".json": json_rows, ".csv": csv_rows}
        return readers[Path(path.name.removesuffix(".gz")).suffix](path)

    return read


def in_hub_columns(name: str) -> Callable[[Path, str], Iterable[SourceRow]]:
    """A reader of ``<folder>/<name>/<split>.jsonl`` (or ``.json``) for sets that have only the hub's columns."""
    return in_files(f"{name}/{{split}}.jsonl", f"{name}/{{split}}.json")


def _bytes(path: Path) -> bytes:
    try:
        return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ConfigError(f"{path} is damaged: {error}") from error
    except OSError as error:
        raise _missing(path, error) from error


def _missing(path: Path, error: OSError) -> ConfigError:
    return ConfigError(f"can not read {path}: {error.strerror}; fetch the set or load it from the hub")


def _text(where: str, data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{where}: not UTF-8 text: {error.reason}") from error


def _json(path: Path, where: str, data: bytes) -> Any:
    try:
        return json.loads(_text(where, data), parse_float=str, parse_int=str)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{where}: not JSON: {error}") from error
