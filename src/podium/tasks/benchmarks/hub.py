"""Rows from the public hub, at a pinned commit, through the ``datasets`` library (``pip install podium[data]``).

The library is large and wanted by few, so it is looked up when rows are asked for and not when this file is imported:
everything else about a set (its name, its licence, its parser, a local copy) works without it. Loading scripts of a data
set are programs of strangers and never run; sets that have one are read file by file.
"""

import importlib
import logging
from collections.abc import Iterator

from podium.errors import ConfigError
from podium.extras import need
from podium.tasks.benchmarks.benchmark import HubSource, SourceRow


def hub_rows(source: HubSource, split: str, revision: str | None = None) -> Iterator[SourceRow]:
    """The rows of our ``split`` of ``source``; ``revision`` overrides the pinned commit.

    Example: ``hub_rows(benchmark("gsm8k").hub, "test")``. The library's cache is used, so a second call is offline.

    Raises :class:`ConfigError` where the library is not installed, no commit is known, the split does not exist, or the
    hub does not give the rows.
    """
    commit = revision or source.revision
    if commit is None:
        raise ConfigError(
            f"no commit of {source.dataset} is pinned; look at its history on the hub and name one (revision=...), "
            "or load the set from a local folder"
        )
    if (source.splits or source.files) and split not in source.splits and split not in source.files:
        raise ConfigError(f"{source.dataset} on the hub has no split {split!r}; load it from a local folder")
    need("data")
    library = importlib.import_module("datasets")
    # It says of every attempt that it failed; what came of them in the end is in the error.
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
    try:
        if split in source.files:
            names = [f"hf://datasets/{source.dataset}@{commit}/{file}" for file in source.files[split]]
            yield from library.load_dataset("json", data_files=names, split="train")
            return
        for config in source.configs:
            for theirs in source.splits.get(split, (split,)):
                yield from library.load_dataset(source.dataset, config or None, split=theirs, revision=commit)
    except (OSError, ValueError, RuntimeError) as error:
        # What the library raises for no network, no such commit, a gated set and a damaged cache are all of these.
        asked = "; accept its terms on the hub and log in" if source.gated else ""
        raise ConfigError(f"the hub does not give {source.dataset} at {commit}{asked}: {error}") from error
