"""One candidate program in its own sandbox: tests go in one after the other, outcomes come out.

Left out: tests of one submission side by side; submissions run side by side, each in its slot.
"""

import asyncio
import dataclasses
import json
from typing import Any, get_args

from podium.errors import SandboxError
from podium.tasks.sandbox.inside.trial import STDERR_TAIL
from podium.tasks.sandbox.job import Job, Outcome, Status
from podium.tasks.sandbox.limits import SandboxLimits
from podium.tasks.sandbox.slot import Slot

GRACE_SECONDS = 15.0
"""How much later than a test's own deadline its outcome may come on a busy machine."""
ROOM = 4096
"""Bytes for our own words at the end of standard error."""


class Submission:
    """A source that was handed to a sandbox. Made by :meth:`Sandbox.submission`, for use inside its ``async with`` only.

    Example: ``outcome = await submission.run(Job(kind="script", stdin=b"1 2\n"))``.
    """

    def __init__(self, slot: Slot, limits: SandboxLimits) -> None:
        self._slot = slot
        self._limits = limits
        # A fork server knows one test at a time: the lock keeps a message and its reply together.
        self._one_at_a_time = asyncio.Lock()
        self._under_way = False

    async def load(self, source: str) -> None:
        """Hands the source to the fork server; once, before the first test. Raises :class:`SandboxError` where it is gone."""
        limits = dataclasses.asdict(self._limits)
        # The fork server counts too. On the host all of the user's processes would.
        limits["processes"] = self._limits.processes + 1 if self._slot.isolated else None
        await self._slot.send(limits, [encoded(source)])

    async def run(self, job: Job) -> Outcome:
        """One test, in a fork of its own that knows nothing of earlier ones.

        Raises :class:`SandboxError` where the sandbox, not the program, failed; ValueError where ``args`` are not JSON.
        """
        seconds = self._limits.wall_seconds if job.wall_seconds is None else min(job.wall_seconds, self._limits.wall_seconds)
        header = {"kind": job.kind, "entry": job.entry, "wall_seconds": seconds}
        arguments = json.dumps({"args": list(job.args), "kwargs": dict(job.kwargs)}, allow_nan=False)
        async with self._one_at_a_time:
            if self._under_way and self._slot.alive:
                raise SandboxError("an earlier test of this submission was given up and still runs; open a new submission")
            self._under_way = True
            await self._slot.send(header, [job.stdin, encoded(job.extra), arguments.encode()])
            most = 2 * self._limits.output_bytes + STDERR_TAIL + ROOM
            reply, parts = await self._slot.receive(most, seconds + GRACE_SECONDS)
            self._under_way = False
        if "fault" in reply:
            raise SandboxError(f"the sandbox could not run the test: {reply['fault']}")
        return read_outcome(job, reply, parts, isolated=self._slot.isolated)


def encoded(source: str) -> bytes:
    """The text as bytes. Half a surrogate pair, which models do write, is for Python inside to refuse."""
    return source.encode("utf-8", "surrogatepass")


def read_outcome(job: Job, reply: dict[str, Any], parts: list[bytes], *, isolated: bool) -> Outcome:
    """Checks each field of a reply. Raises :class:`SandboxError` where it is not what the fork server sends."""
    status: Any = reply.get("status")
    seconds = reply.get("seconds")
    codes = (reply.get("exit_code"), reply.get("signal"))
    if (
        status not in get_args(Status)
        or not isinstance(seconds, float)
        or not all(code is None or (type(code) is int and 0 <= code < 256) for code in codes)
        or len(parts) != 2 + (job.kind == "call" and status == "ok")
    ):
        raise SandboxError(f"the sandbox sent what is no outcome: {str(reply)[:200]}")
    stdout, stderr, *rest = parts
    value = None
    if rest:
        value, problem = read_value(rest[0])
        if value is None:
            status, stderr = "error", stderr + f"\npodium: the returned value is not JSON: {problem}\n".encode()
    return Outcome(
        status=status, stdout=stdout, stderr=stderr, value=value, exit_code=codes[0], signal=codes[1], seconds=seconds,
        isolated=isolated,
    )  # fmt: skip


def read_value(raw: bytes) -> tuple[str | None, str]:
    """(the text, "") where parsing it can not fail, else (None, why): a program can write what it likes as its value."""

    def refuse(constant: str) -> None:
        raise ValueError(constant)

    try:
        text = raw.decode()
        json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        return None, f"{type(error).__name__}: {error}"[:200]
    return text, ""
