"""Is the program right? Runs it in the sandbox and compares outside, where nothing that it does can reach.

How much of the judging a program could touch, by style of its tests (``target.py``):

- stdin, call: nothing. Output and return values leave the sandbox, what is expected never enters it.
- asserts: nothing, where every assert is about calls with plain data. The calls are made one by one and the asserts evaluated
  on the host (``assertions.py``), or, where the tests hold loops or functions of their own, in a second sandbox in which the
  program is not (``relayed.py``).
- unittest, and asserts about objects of the program's own classes: nothing. The tests run in a process of their own, in
  which the program's objects are references of which only values are believed (:mod:`podium.tasks.inside.judge`).

One submission per answer; the first failing test ends it. Left out: problems with several right outputs, other languages.
"""

import ast
import contextlib
import platform
import sys

from podium.errors import VerifierError
from podium.tasks.programming.assertions import Assertion, called_names, read_assertions
from podium.tasks.programming.code import extract_code, with_prelude
from podium.tasks.programming.expressions import NotReadHere
from podium.tasks.programming.outputs import output_mismatch
from podium.tasks.programming.relayed import CanNotRelay, relayed_mismatch, test_program
from podium.tasks.programming.runs import NOT_ISOLATED, ProgramFailed, ProgramRuns, missing_packages
from podium.tasks.programming.target import AssertTests, CallTests, ProgramTests, StdinTests, UnittestTests
from podium.tasks.programming.values import same_value, shown
from podium.tasks.sandbox import Sandbox
from podium.tasks.sandbox.packages import HOW
from podium.tasks.syntax import parse_module
from podium.types import Problem, Verdict

MAX_WHY = 600
PROMISED = frozenset({"numpy", "pandas", "scipy"})
"""What the public sets' own graders have besides the standard library, so that a right program may rest on it."""


class ProgramVerifier:
    """Right where the program in the answer passes all tests of the target.

    Example::

        async with Sandbox(slots=2) as sandbox:
            verdict = await ProgramVerifier(sandbox)(problem, "```python\\ndef add(a, b):\\n    return a + b\\n```")

    ``Verdict.extracted`` is the program, None where the answer holds none; ``Verdict.why`` is the first failing test. Raises
    :class:`VerifierError` where the target can not be read, where its tests need a package that the sandbox has not, or where a
    program that fails needs a ``promised`` one; and :class:`SandboxError` where the sandbox failed. Which packages a program
    needs is read from its text, never from what it raises; any other package is the program's own affair.
    """

    def __init__(self, sandbox: Sandbox, promised: frozenset[str] = PROMISED) -> None:
        self._sandbox, self._promised = sandbox, promised
        self._missing: dict[str, bool] = {}

    @property
    def identity(self) -> str:
        """What tells verifiers of this kind apart: the Python that runs programs, what it has, and how much it may use."""
        sandbox = self._sandbox
        has = [platform.python_version(), *sandbox.packages.versions]
        return f"{has}, {sorted(self._promised)}, {sandbox.limits}, isolated {not sandbox.unsafe_local}"

    async def __call__(self, problem: Problem, answer: str) -> Verdict:
        """Judge ``answer`` against ``problem.target``."""
        tests = ProgramTests.from_json(problem.target)
        code = extract_code(answer, _wanted(tests))
        if code is None:
            return Verdict(correct=False, extracted=None, why="no program; expected a fenced block of Python that parses")
        await self._require(problem, tests)
        runs = ProgramRuns(self._sandbox, with_prelude(tests.prelude, code), tests.seconds)
        try:
            if isinstance(tests, StdinTests):
                why = await _stdin(runs, tests)
            elif isinstance(tests, CallTests):
                why = await _calls(runs, tests)
            elif isinstance(tests, AssertTests):
                why = await _asserts(runs, tests)
            else:
                why = await _live(runs, tests)
        except ProgramFailed as failed:
            why = str(failed)
        if why is not None and (lacking := await self._lacking(needed(code) & self._promised)):
            raise VerifierError(
                f"the program for problem {problem.id} may use {', '.join(lacking)}, which the sandbox has not; {HOW}"
            )
        words = "; ".join([*([why] if why else []), *([] if runs.isolated else [NOT_ISOLATED])])
        return Verdict(correct=why is None, extracted=code, why=words[:MAX_WHY])

    async def _require(self, problem: Problem, tests: ProgramTests) -> None:
        """Raises :class:`VerifierError` where a package that the tests import is not in the sandbox."""
        texts = [tests.prelude]
        if isinstance(tests, AssertTests | UnittestTests):
            texts += [test_program(tests)]
        names = {name for text in texts for name in imported(text)}
        if lacking := await self._lacking(names):
            raise VerifierError(f"the tests of problem {problem.id} need {', '.join(lacking)}, which the sandbox has not; {HOW}")

    async def _lacking(self, names: set[str]) -> list[str]:
        """Those of the modules ``names`` that the sandbox's interpreter has not; it is asked once for each."""
        unknown = names - self._missing.keys()
        if unknown:
            missing = await missing_packages(self._sandbox, unknown)
            self._missing.update({name: name in missing for name in unknown})
        return sorted(name for name in names if self._missing[name])


def imported(text: str) -> set[str]:
    """Top-level names of the modules that a Python text imports. Example: ``imported("import os.path")`` is ``{"os"}``."""
    return _modules(list(ast.walk(parse_module(text) or ast.Module([], []))))


def needed(text: str) -> set[str]:
    """Those that a program can not do without: imported by a plain statement of its own, not under a condition or a ``try``."""
    found: list[ast.AST] = []
    left: list[ast.AST] = [parse_module(text) or ast.Module([], [])]
    while left:
        node = left.pop()
        if not isinstance(node, ast.Try | ast.TryStar | ast.If | ast.While | ast.Match):
            found.append(node)
            left.extend(ast.iter_child_nodes(node))
    return _modules(found)


def _modules(nodes: list[ast.AST]) -> set[str]:
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module and not node.level}
    return {name.partition(".")[0] for name in names}


def _wanted(tests: ProgramTests) -> frozenset[str]:
    if isinstance(tests, CallTests):
        return frozenset({tests.entry.partition("(")[0]})
    return frozenset(called_names(tests)) if isinstance(tests, AssertTests | UnittestTests) else frozenset()


async def _stdin(runs: ProgramRuns, tests: StdinTests) -> str | None:
    async with runs.outputs() as output:
        for number, case in enumerate(tests.cases, start=1):
            try:
                why = output_mismatch(case.stdout, await output(case.stdin))
            except ProgramFailed as failed:
                why = str(failed)
            if why:
                return f"test {number} of {len(tests.cases)}: {why}"
    return None


async def _calls(runs: ProgramRuns, tests: CallTests) -> str | None:
    async with runs.calls() as call:
        for number, case in enumerate(tests.cases, start=1):
            where = f"test {number} of {len(tests.cases)}"
            try:
                value = await call(tests.entry, list(case.args), dict(case.kwargs))
            except ProgramFailed as failed:
                return f"{where}: {failed}"
            if not same_value(case.expected, value, as_json=True):
                return f"{where}: {tests.entry} returned {shown(value)}, not {shown(case.expected)}"
    return None


async def _asserts(runs: ProgramRuns, tests: AssertTests) -> str | None:
    assertions = read_assertions(tests)
    if assertions is not None:
        # Work beyond the host's bounds can still be done in the second sandbox.
        with contextlib.suppress(NotReadHere):
            return await _on_the_host(runs, assertions)
    try:
        return await relayed_mismatch(runs, tests)
    except CanNotRelay:
        return await _live(runs, tests)


async def _on_the_host(runs: ProgramRuns, assertions: tuple[Assertion, ...]) -> str | None:
    async with runs.calls() as call:
        for number, assertion in enumerate(assertions, start=1):
            try:
                why = await assertion.mismatch(call)
            except ProgramFailed as failed:
                why = f"{assertion.text}: {failed}"
            if why:
                return f"assert {number} of {len(assertions)}: {why}"
    return None


async def _live(runs: ProgramRuns, tests: AssertTests | UnittestTests) -> str | None:
    setup = tests.setup if isinstance(tests, AssertTests) else ""
    texts = (tests.prelude, setup, test_program(tests))
    if foreign := {name for text in texts for name in imported(text)} - sys.stdlib_module_names:
        # Beside the program's live objects the judge loads the standard library and nothing else: less to be turned against it.
        raise VerifierError(f"the tests use {', '.join(sorted(foreign))} on the program's own objects, which is not judged here")
    return await runs.judge(
        {
            "style": tests.style,
            "prelude": tests.prelude,
            "setup": setup,
            "tests": test_program(tests),
            "names": sorted(called_names(tests)),
        }
    )
