"""A program and the examples of its question: which of them pass, in the sandbox, judged outside of it as a verifier judges.

A program can not write its own verdict: calls and their values are compared on the host, or in a second sandbox in which the
program is not (:mod:`podium.tasks.programming`).
"""

import sys
from dataclasses import dataclass

from podium.acting.examples import Examples
from podium.errors import SandboxError, VerifierError
from podium.tasks.programming.assertions import Assertion, read_assertions
from podium.tasks.programming.code import with_prelude
from podium.tasks.programming.expressions import NotReadHere
from podium.tasks.programming.outputs import output_mismatch
from podium.tasks.programming.relayed import CanNotRelay, relayed_mismatch
from podium.tasks.programming.runs import OutputOf, ProgramFailed, ProgramRuns, ValueOf
from podium.tasks.programming.target import AssertTests, StdinCase
from podium.tasks.sandbox import Sandbox

_STOPPED = ("timeout", "memory", "killed")
"""How a run ends that the next one would end as well, each after the same wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """One example and what came of it. Example: ``Tried(example="add(1, 2) == 3", why="add(1, 2) is 4")``."""

    example: str
    why: str | None = None
    """Why it does not hold; None where it passes, or was not tried."""
    is_tried: bool = True

    @property
    def passed(self) -> bool:
        """Whether it was tried, and holds."""
        return self.is_tried and self.why is None


async def tried(sandbox: Sandbox, program: str, examples: Examples) -> list[Tried]:
    """Try ``program`` on every example; after one that had to be stopped the others are not tried.

    Raises :class:`SandboxError` where the sandbox failed, which says nothing of the program.
    """
    runs = ProgramRuns(sandbox, with_prelude(examples.prelude, program), None)
    found: list[Tried] = []
    if examples.asserts:
        async with runs.calls() as call:  # one sandbox for all calls; it is closed before a second one is opened
            readable = {text: (read_assertions(AssertTests(asserts=(text,))) or (None,))[0] for text in examples.asserts}
            for text, assertion in readable.items():
                if assertion is not None:
                    found.append(await _on_the_host(call, text, assertion, is_stopped=_is_stopped(found)))
        done = {each.example for each in found}
        for text in readable:
            if _shown(text) not in done:
                found.append(await _relayed(runs, text, is_stopped=_is_stopped(found)))
    if examples.cases:
        async with runs.outputs() as output:
            for case in examples.cases:
                found.append(await _printed(output, case, is_stopped=_is_stopped(found)))
    return found


async def _on_the_host(call: ValueOf, text: str, assertion: Assertion, *, is_stopped: bool) -> Tried:
    if is_stopped:
        return Tried(example=_shown(text), is_tried=False)
    try:
        return Tried(example=_shown(text), why=await assertion.mismatch(call))
    except NotReadHere:  # more work than the host takes on
        return Tried(example=_shown(text), is_tried=False)
    except ProgramFailed as failed:
        return Tried(example=_shown(text), why=str(failed))


async def _relayed(runs: ProgramRuns, text: str, *, is_stopped: bool) -> Tried:
    if is_stopped:
        return Tried(example=_shown(text), is_tried=False)
    try:
        return Tried(example=_shown(text), why=await relayed_mismatch(runs, AssertTests(asserts=(text,))))
    except ProgramFailed as failed:
        return Tried(example=_shown(text), why=str(failed))
    except SandboxError:
        raise
    except (CanNotRelay, VerifierError):  # it can not be judged apart from the program: no test
        return Tried(example=_shown(text), is_tried=False)


async def _printed(output: OutputOf, case: StdinCase, *, is_stopped: bool) -> Tried:
    shown = f"input {case.stdin.strip()!r:.200}, output {case.stdout.strip()!r:.200}"
    if is_stopped:
        return Tried(example=shown, is_tried=False)
    try:
        return Tried(example=shown, why=output_mismatch(case.stdout, await output(case.stdin)))
    except ProgramFailed as failed:
        return Tried(example=shown, why=str(failed))


def _shown(text: str) -> str:
    return text.removeprefix("assert ")


def _is_stopped(found: list[Tried]) -> bool:
    return bool(found) and found[-1].why is not None and found[-1].why.startswith(_STOPPED)


def python_version() -> str:
    """The Python that programs are run with, which is part of what decides a result."""
    return sys.version.split()[0]
