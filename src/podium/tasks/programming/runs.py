"""The judge's side of the sandbox: one program, its calls and tests, and what went wrong in words.

:class:`ProgramFailed` is the program's own doing and ends up in a verdict. What the sandbox does wrong is a
:class:`podium.errors.SandboxError` and passes through.
"""

import json
import secrets
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from podium.errors import VerifierError
from podium.tasks.inside.plain import encode
from podium.tasks.programming.inside_texts import BRIDGE_ENTRY, CHECKER, JUDGE, with_bridge
from podium.tasks.programming.values import UnreadableValue, decoded, read_reply
from podium.tasks.sandbox import Job, Outcome, Sandbox, Submission

NOT_ISOLATED = "not isolated: the program ran on the host"


class ProgramFailed(Exception):
    """The program did not do what was asked of it; the message says what it did. Never leaves this folder."""


class ProgramRuns:
    """Runs one program. ``seconds`` bounds each single run (None: the sandbox's own limit, which it can not pass).

    Example: ``async with ProgramRuns(sandbox, code, None).calls() as call: await call("add", [3, 4], {})``.
    """

    def __init__(self, sandbox: Sandbox, code: str, seconds: float | None) -> None:
        self._sandbox, self._code = sandbox, code
        self._seconds = seconds
        self.isolated = True
        """False as soon as one run was not."""

    @asynccontextmanager
    async def outputs(self) -> AsyncIterator["OutputOf"]:
        """The program as one that reads stdin and writes stdout."""
        async with self._sandbox.submission(self._code) as submission:
            yield OutputOf(self, submission)

    @asynccontextmanager
    async def calls(self) -> AsyncIterator["ValueOf"]:
        """The program as functions to be called."""
        async with self._sandbox.submission(with_bridge(self._code)) as submission:
            yield ValueOf(self, submission)

    async def check(self, job: dict[str, Any]) -> dict[str, Any]:
        """What the checker says of ``job``, in a sandbox without the program. Raises :class:`ProgramFailed`."""
        async with self._sandbox.submission(CHECKER) as submission:
            outcome = self.noted(await submission.run(self.job("script", stdin=json.dumps(job).encode())))
        if outcome.status in ("timeout", "memory", "output_limit", "killed"):
            # All that differs from answer to answer is what the program returned.
            raise ProgramFailed(f"the tests could not be finished on what the program returned ({outcome.status})")
        return _reply_of(outcome, "the checker of the tests")

    async def judge(self, job: dict[str, Any]) -> str | None:
        """Run the tests beside the program, in a process of their own; in words why they fail, or None."""
        nonce = secrets.token_hex(16)
        stdin = json.dumps({**job, "code": self._code, "nonce": nonce}).encode()
        async with self._sandbox.submission(JUDGE) as submission:
            outcome = self.noted(await submission.run(self.job("script", stdin=stdin)))
        if outcome.status != "ok" and outcome.status != "error":
            return fault(outcome)
        reply = _reply_of(outcome, "the judge")
        if reply.get("nonce") != nonce:
            return "refused: the program wrote a verdict of its own"
        return None if reply.get("passed") is True else str(reply.get("why", ""))[:400] or "failed"

    def job(self, kind: Any, **fields: Any) -> Job:
        """A job with this program's time limit."""
        return Job(kind=kind, wall_seconds=self._seconds, **fields)

    def noted(self, outcome: Outcome) -> Outcome:
        """``outcome``, after a look at whether it was isolated."""
        self.isolated = self.isolated and outcome.isolated
        return outcome


class OutputOf:
    """``await output(stdin)`` is what the program writes to stdout. Raises :class:`ProgramFailed`."""

    def __init__(self, runs: ProgramRuns, submission: Submission) -> None:
        self._runs, self._submission = runs, submission

    async def __call__(self, stdin: str) -> bytes:
        """One run."""
        job = self._runs.job("script", stdin=stdin.encode("utf-8", "surrogatepass"))
        outcome = self._runs.noted(await self._submission.run(job))
        if outcome.status != "ok":
            raise ProgramFailed(fault(outcome))
        return outcome.stdout


class ValueOf:
    """``await call("add", [3, 4], {})`` is what the program returns. Raises :class:`ProgramFailed`."""

    def __init__(self, runs: ProgramRuns, submission: Submission) -> None:
        self._runs, self._submission = runs, submission

    async def __call__(self, entry: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """One call with plain values."""
        named = {key: encode(value) for key, value in kwargs.items()}
        reply = await self._reply([entry, [encode(value) for value in args], named], {})
        try:
            return decoded(reply)
        except UnreadableValue as error:
            raise ProgramFailed(str(error)) from error

    async def whole(self, wanted: list[Any]) -> dict[str, Any]:
        """The reply to an encoded call as the checker wants it: value, exception, or ``dead``, and arguments afterwards."""
        try:
            reply = await self._reply(wanted, {"whole": True})
            if isinstance(reply, dict) and set(reply) == {"raised", "message"}:
                return {"raised": str(reply["raised"])[:100], "message": str(reply["message"])[:500]}
            _check_whole(reply, wanted)
        except (ProgramFailed, UnreadableValue) as error:
            return {"dead": str(error)}
        return dict(reply)

    async def _reply(self, args: list[Any], kwargs: dict[str, Any]) -> Any:
        job = self._runs.job("call", entry=BRIDGE_ENTRY, args=args, kwargs=kwargs)
        outcome = self._runs.noted(await self._submission.run(job))
        if outcome.status != "ok" or outcome.value is None:
            raise ProgramFailed(fault(outcome))
        try:
            return read_reply(outcome.value)
        except UnreadableValue as error:
            raise ProgramFailed(str(error)) from error


async def missing_packages(sandbox: Sandbox, names: set[str]) -> set[str]:
    """Those of the top-level modules ``names`` that can not be imported in the sandbox.

    Raises :class:`VerifierError` where that could not be found out.
    """
    foreign = sorted(name for name in names if name not in sys.stdlib_module_names)
    if not foreign:
        return set()
    find = "import importlib.util, json; print(json.dumps([n for n in {} if importlib.util.find_spec(n) is None]))"
    async with sandbox.submission(find.format(foreign)) as submission:
        outcome = await submission.run(Job(kind="script"))
    if outcome.status != "ok":
        raise VerifierError(f"can not find out which packages the sandbox has: {fault(outcome)}; ask again")
    return set(read_reply(outcome.stdout.decode()))


def fault(outcome: Outcome) -> str:
    """What went wrong, in one bounded line. Example: ``"error: ZeroDivisionError: division by zero"``."""
    lines = outcome.stderr[-4000:].decode("utf-8", "replace").strip().splitlines()
    last = lines[-1].strip()[:200] if lines else ""
    how = f"signal {outcome.signal}" if outcome.signal else f"exit code {outcome.exit_code}" if not last else ""
    return f"{outcome.status}: {last or how}" if outcome.status != "ok" else "ended without a value"


def _check_whole(reply: Any, wanted: list[Any]) -> None:
    """Raises :class:`ProgramFailed` or :class:`UnreadableValue` where ``reply`` is not what the bridge writes."""
    _, args, kwargs = wanted
    is_whole = isinstance(reply, dict) and set(reply) == {"value", "args", "kwargs"}
    is_whole = is_whole and isinstance(reply["args"], list) and isinstance(reply["kwargs"], dict)
    if not is_whole or len(reply["args"]) != len(args) or set(reply["kwargs"]) != set(kwargs):
        raise ProgramFailed("the program forged the reply to a call")
    for data in (reply["value"], *reply["args"], *reply["kwargs"].values()):
        decoded(data)


def _reply_of(outcome: Outcome, who: str) -> dict[str, Any]:
    try:
        reply = read_reply(outcome.stdout.decode("utf-8", "replace"))
    except UnreadableValue:
        reply = None
    if outcome.status != "ok" or not isinstance(reply, dict):
        raise VerifierError(f"{who} broke: {fault(outcome)}; this is a fault of ours, please report it")
    return reply
