"""The table of a worker that is a command: what is started, what it may see, and how much it may use."""

import os
import shutil
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from podium.errors import ConfigError
from podium.workers.identity import content_hash
from podium.workers.table import Dollars, Positive, VariableName, WorkerConfig

TEXT = "{text}"
"""Stands in an argument for the text; where it stands in none, the command reads the text from standard input."""
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
SEEN = ("/usr", "/bin", "/sbin", "/lib", "/lib64")
"""What an isolated command sees besides what its table names."""


class CommandWorkerConfig(WorkerConfig):
    """Example: ``CommandWorkerConfig(name="agent", kind="command", command=["agent", "--quiet"])``."""

    command: Annotated[list[str], Field(min_length=1)]
    """The program and its arguments, never a line for a shell. ``{text}`` in an argument is replaced by the text."""
    retries: Annotated[int, Field(ge=0, le=100)] = 0
    """Further attempts after a time-out, or where the command says with exit code 75 that it may work later."""
    concurrency: Positive | None = 4
    isolated: bool = True
    """Whether it runs under bubblewrap: its own processes, its own folder, and of the machine's files only system programs."""
    network: bool = False
    """Whether an isolated command may use the network."""
    reads: list[str] = Field(default_factory=list)
    """Files and folders that an isolated command sees besides, read-only."""
    writes: list[str] = Field(default_factory=list)
    """Folders that an isolated command may change: what it does there stays."""
    environment: list[VariableName] = Field(default_factory=list)
    """Names of variables that it is given; it sees no others of this process."""
    output_kib: Positive = 1024
    """What it may write to standard output."""
    memory_mib: Positive = 2048
    """Resident memory of all its processes."""
    files_mib: Positive = 256
    """Its folder; not isolated, each single file."""
    processes: Positive = 128
    """Processes at once."""
    usd_per_call: Dollars | None = None
    """What a call costs, 0 where that is nothing; without it the cost is unknown."""
    check: bool = False
    """Whether it checks what it is shown: exit code 0 says that it passes, 1 that it fails."""

    def answering(self) -> dict[str, Any]:
        """As for any worker, and what the files hold that the command names: a script that was edited answers otherwise."""
        paths = [Path(word) for word in self.command if word.startswith("/")]
        files = [path for path in paths if path.is_file() and os.access(path, os.R_OK)]
        return {**super().answering(), **({"holds": content_hash(*files)} if files else {})}

    @model_validator(mode="after")
    def _can_be_started(self) -> Self:
        if not self.isolated and (self.reads or self.writes or self.network):
            raise ValueError("reads, writes and network are for an isolated command; without isolation it sees all that you see")
        if any("\0" in word for word in self.command) or not self.command[0]:
            raise ValueError("command: its words hold no NUL, and the first one names a program")
        if TEXT in self.command[0]:
            raise ValueError("command: the program itself can not be chosen by the text")
        for path in (*self.reads, *self.writes):
            if not Path(path).is_absolute():
                raise ValueError("reads, writes: name them from the root on, as in /opt/agent")
        if self.prompt_usd_per_million is not None:
            raise ValueError("a command has no price per token; set usd_per_call")
        return self


def executable(table: CommandWorkerConfig) -> str:
    """The program's path. Raises :class:`ConfigError` where there is none, or where an isolated command would not see it."""
    found = shutil.which(table.command[0], path=PATH)
    if found is None:
        raise ConfigError(
            f"command: there is no program {table.command[0]!r} in {PATH}; install it, or name it by its whole path"
        )
    if table.isolated:
        seen = [Path(place) for place in (*SEEN, *table.reads, *table.writes)]
        real = Path(found).resolve()
        if not any(Path(found).is_relative_to(place) for place in seen) or not any(real.is_relative_to(place) for place in seen):
            raise ConfigError(f"command: an isolated command would not see {real}; name it, or its folder, in reads")
    return found
