"""A tuned policy that follows its folder: tuned anew, it is used from the next question on, in a running server too.

A folder that can not be used, because it is half copied or was made for other workers, changes nothing: the policy that was
loaded last goes on, and the log says why.
"""

import asyncio
import logging
from collections.abc import Collection, Iterator
from pathlib import Path

from podium.errors import PodiumError
from podium.policies.tuned_policy import TunedPolicy
from podium.types import Brief, Generation

_LOG = logging.getLogger("podium")
_Stamp = tuple[int, int, int]


class FollowedPolicy:
    """The policy in ``folder``, as it is now. Example: ``FollowedPolicy(Path("runs/mine"), pool.names)``."""

    def __init__(self, folder: Path, names: tuple[str, ...], *, allow_missing: bool = False) -> None:
        """Raises :class:`ConfigError`, :class:`CheckpointError`, as :meth:`TunedPolicy.load`."""
        self._folder = folder
        self._names = names
        self._allow_missing = allow_missing
        self._seen = self._stamp()
        self._policy = self._load()

    @property
    def max_steps(self) -> int:
        """Steps of the longest workflow that it has now."""
        return self._policy.max_steps

    @property
    def answering(self) -> Collection[int]:
        """Positions of the workers that may give the answer; it changes with the folder."""
        return _Answering(self)

    @property
    def current(self) -> TunedPolicy:
        """The policy that was loaded last."""
        return self._policy

    async def write(self, brief: Brief, n: int = 1) -> list[Generation]:
        """As :meth:`TunedPolicy.write`, by what is in the folder."""
        if (stamp := self._stamp()) not in (None, self._seen):
            self._seen = stamp  # before it is loaded, so that other questions meanwhile go on with the old one
            try:
                self._policy = await asyncio.to_thread(self._load)
                _LOG.info("%s was tuned anew and is used from now on", self._folder)
            except PodiumError as error:
                _LOG.warning("%s has changed and can not be used, so that the policy before goes on: %s", self._folder, error)
        return await self._policy.write(brief, n)

    def _load(self) -> TunedPolicy:
        return TunedPolicy.load(self._folder, self._names, allow_missing=self._allow_missing)

    def _stamp(self) -> _Stamp | None:
        """What changes when ``policy.json``, which is written last, is replaced; None while it is not there."""
        try:
            found = (self._folder / "policy.json").stat()
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size


class _Answering(Collection[int]):
    """Who may give the answer by the policy that is current, whenever one looks."""

    def __init__(self, followed: FollowedPolicy) -> None:
        self._followed = followed

    def __contains__(self, worker: object) -> bool:
        return worker in self._followed.current.answering

    def __iter__(self) -> Iterator[int]:
        return iter(self._followed.current.answering)

    def __len__(self) -> int:
        return len(self._followed.current.answering)
