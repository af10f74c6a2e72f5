"""``kind = "python"``: a worker that runs the program it is shown, and says which of the question's examples pass.

The program is the one in the newest response that it sees, else in its subtask, else in the question itself; it is found as a
verifier finds it, and runs in the same sandbox. What it answers depends on what it can tell:

- with examples in a question that it may see, it checks: where all pass it passes on the response that it ran, else it says which
  fail, and ``"if failed"`` holds;
- without, it runs the program once: it answers with what that prints, or with the error, and then ``"if failed"`` holds too.

It costs nothing. Where the sandbox failed there is no answer: that is never a wrong program.
"""

import asyncio
import json
import time
from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from podium.acting.examples import Examples, read_examples
from podium.acting.trying import Tried, python_version, tried
from podium.errors import ConfigError, SandboxError, UnworkableStep, WorkerUnavailable
from podium.registry import register
from podium.tasks.programming.code import defined_names, extract_code, with_prelude
from podium.tasks.programming.runs import NOT_ISOLATED, fault
from podium.tasks.sandbox import Job, Outcome, Sandbox, SandboxLimits
from podium.types import Call, Completion, Question, ResponseOptions, Usage
from podium.workers.connections import Connections
from podium.workers.kinds import WorkerKind
from podium.workers.prices import Price
from podium.workers.table import Positive, Seconds, WorkerConfig

FREE = Price(prompt_usd=0.0, completion_usd=0.0, source="this machine")
_MIB = 2**20
_MOST_ERROR = 4000
"""Characters of standard error that an answer repeats, from its end."""


class PythonWorkerConfig(WorkerConfig):
    """The table of a python worker. Example: ``PythonWorkerConfig(name="python", kind="python")``."""

    concurrency: Positive | None = 2
    """Programs run at once, each in a sandbox of its own."""
    retries: Annotated[int, Field(ge=0, le=100)] = 1
    """Further attempts where the sandbox failed."""
    run_seconds: Seconds = 10.0
    """For one run: of the program, or of one example."""
    memory_mib: Positive = 512
    """Of one run, its children and files included."""
    output_kib: Positive = 64
    """What one run may print."""
    packages: list[str] = Field(default_factory=list)
    """What programs may import besides the standard library; installed where Podium runs."""


class PythonWorker:
    """Runs programs. Example: ``(await worker(Call.plain("```python\\nprint(6 * 7)\\n```"))).text == "42\\n"``.

    The sandbox is started with the first call and closed by :meth:`aclose`. Raises :class:`UnworkableStep` for a step that sees
    no response and whose words hold no program, and :class:`WorkerUnavailable` where the sandbox failed.
    """

    price = FREE

    def __init__(self, table: PythonWorkerConfig) -> None:
        self._limits = SandboxLimits(
            cpu_seconds=table.run_seconds,
            wall_seconds=table.run_seconds,
            memory_bytes=table.memory_mib * _MIB,
            output_bytes=table.output_kib * 1024,
        )
        self._new = Sandbox(slots=table.concurrency or 2, limits=self._limits, packages=table.packages)
        self._sandbox: Sandbox | None = None
        self._opening = asyncio.Lock()
        has = [python_version(), *self._new.packages.versions]
        self.identity = json.dumps({**table.answering(), "has": has}, sort_keys=True, separators=(",", ":"))
        """What decides its answers, for cache keys."""

    def most_usd(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        """Nothing."""
        return 0.0

    def check(self, response_options: ResponseOptions) -> None:
        """Raises :class:`ConfigError` for tools and response formats."""
        if response_options.needs_a_chat_model:
            raise ConfigError("a python worker runs programs; it calls no tools and follows no response_format")

    def check_call(self, call: Call) -> None:
        """Raises :class:`UnworkableStep` where there can be no program."""
        if not call.visible and _program(call) is None:
            raise UnworkableStep("there is no program to run: let the step see the response that has it")

    async def __call__(self, call: Call) -> Completion:
        """Run the program."""
        self.check(call.response_options)
        self.check_call(call)
        started = time.perf_counter()
        try:
            text, passed = await self._ran(call)
        except SandboxError as error:
            raise WorkerUnavailable(f"the program could not be run: {error}") from error
        if call.on_token is not None:
            call.on_token(text)
        return Completion(
            text=text,
            usage=Usage(cost_usd=0.0),
            price_source=FREE.source,
            seconds=time.perf_counter() - started,
            check_passed=passed,
        )

    async def _ran(self, call: Call) -> tuple[str, bool | None]:
        """What to answer, and whether the check passed; None where nothing was checked."""
        found = _program(call)
        if found is None:
            return "There is no program in the response: one fenced block of Python that parses is expected.", False
        program, response = found
        asked = _asked(call)
        examples = read_examples(asked, defined_names(program)) if asked else Examples()
        sandbox = await self._opened()
        if examples:
            results = await tried(sandbox, program, examples)
            if any(each.is_tried for each in results):
                return _checked(response, results)
        async with sandbox.submission(with_prelude(examples.prelude, program)) as submission:
            return _said(response, await submission.run(Job(kind="script")))

    async def _opened(self) -> Sandbox:
        async with self._opening:
            if self._sandbox is None:
                self._sandbox = await self._new.__aenter__()
            return self._sandbox

    async def aclose(self) -> None:
        """End the sandboxes; twice is harmless."""
        async with self._opening:
            sandbox, self._sandbox = self._sandbox, None
            if sandbox is not None:
                await sandbox.__aexit__(None, None, None)


def _program(call: Call) -> tuple[str, str] | None:
    """The program that ``call`` shows, and the response that it stands in, "" for none.

    It stands in the newest response, else in the subtask, else, where no response is seen, in the question.
    """
    wanted = read_examples(_asked(call)).wanted
    texts = [(step.response, step.response) for step in call.visible[-1:]] + [(call.subtask, "")]
    texts += [] if call.visible else [(_last_user(call.question), "")]
    for text, response in texts:
        code = extract_code(text, wanted) if text.strip() else None
        if code is not None:
            return code, response
    return None


def _asked(call: Call) -> str:
    """The words that examples are looked for in: the question, as far as the step sees it, and the subtask."""
    questions = [_last_user(step.question) for step in call.visible] + [_last_user(call.question)]
    texts = [text for text in (*questions, call.subtask) if text.strip()]
    return "\n\n".join(texts)


def _last_user(question: Question) -> str:
    return next((message.content for message in reversed(question) if message.role == "user"), "")


def _checked(response: str, found: list[Tried]) -> tuple[str, bool]:
    """The report of a check that fails; of one that passes what was checked, so that the answer goes on and not the praise."""
    failing = [each for each in found if each.is_tried and each.why is not None]
    number = len([each for each in found if each.is_tried])
    if not failing:
        said = f"All {number} examples pass." if number > 1 else "The example passes."
        return response or said, True
    lines = [f"{number - len(failing)} of {number} examples pass."]
    lines += [f"passes: {each.example}" for each in found if each.passed]
    lines += [f"fails: {each.example}\n  {each.why}" for each in failing]
    if left := len(found) - number:
        lines.append(f"{left} more were not tried.")
    return "\n".join(lines), False


def _said(response: str, outcome: Outcome) -> tuple[str, bool | None]:
    """What a program without examples printed, or how it failed."""
    printed = outcome.stdout.decode("utf-8", "replace")
    note = "" if outcome.isolated else f"\n({NOT_ISOLATED})"
    if outcome.status == "ok":
        if printed.strip():
            return printed + note, None
        return response or f"The program ran and printed nothing.{note}", None
    errors = outcome.stderr.decode("utf-8", "replace").strip()
    cut = errors if len(errors) <= _MOST_ERROR else f"(the end of {len(errors)} characters)\n{errors[-_MOST_ERROR:]}"
    parts = [f"The program failed. {fault(outcome)}", f"output:\n{printed}" if printed.strip() else "", cut]
    return "\n\n".join(filter(None, parts)) + note, False


def _make(table: PythonWorkerConfig, environ: Mapping[str, str], connections: Connections) -> PythonWorker:
    worker = PythonWorker(table)
    connections.close_too(worker.aclose)
    return worker


register("workers", "python")(
    WorkerKind(
        about="runs the Python program it is shown, in a sandbox",
        config=PythonWorkerConfig,
        make=_make,
        abilities=lambda table: ("runs the Python program it is shown and says which examples of the question pass",),
        uses_tokens=False,
        probe="print('ready')",
    )
)
