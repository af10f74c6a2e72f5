"""``kind = "command"``: any program or agent on this machine as a worker. Text goes in, text comes out.

What is started stands in the operator's pool file, as a list of words: a client chooses the text and nothing else. The text is
what a chat model would be shown, on standard input or in place of ``{text}`` in an argument. Each call has a folder of its own,
and limits of time, output, memory and processes; when it ends, everything that it started has ended.

The exit code says what became of it: 0 is an answer, 75 ("try again later", as mail programs say it) and a time-out are worth
another try, anything else is a refusal. With ``check = true`` 0 is a check that passes and 1 one that fails.
"""

import json
import time
from collections.abc import Mapping, Sequence

from podium.acting.command_config import TEXT, CommandWorkerConfig, executable
from podium.acting.confined import check_isolation, confined
from podium.acting.process import LOOK_EVERY_SECONDS, Ended, Limits, run
from podium.acting.process_count import countable
from podium.errors import ConfigError, ContextOverflow, SandboxError, UnworkableStep, WorkerRefused, WorkerUnavailable
from podium.registry import register
from podium.types import Call, Completion, Message, ResponseOptions, Usage
from podium.workers.connections import Connections
from podium.workers.kinds import WorkerKind
from podium.workers.prices import Price
from podium.workers.render import render

TRY_LATER = 75
"""EX_TEMPFAIL of <sysexits.h>."""
LONGEST_ARGUMENT = 128 * 1024 - 1
"""Bytes that Linux takes as one argument."""
LONGEST_LINE = 1024 * 1024
"""Bytes of all arguments together: half of what Linux usually takes, which counts the environment as well."""
_MOST_ERROR = 1000
"""Characters of standard error that a failure repeats, from its end."""


class CommandFailed(Exception):
    """What a failed call is raised from: the command ran, so it may have cost something."""


class CommandWorker:
    """Starts a command for each call.

    Example::

        worker = CommandWorker(CommandWorkerConfig(name="sort", kind="command", command=["sort"]), os.environ)
        print((await worker(Call.plain("b\\na"))).text)

    Raises :class:`ConfigError` where there is no such program, or where it can not be isolated as its table wants.
    """

    def __init__(self, table: CommandWorkerConfig, environ: Mapping[str, str]) -> None:
        self._table = table
        self._environ = {name: environ[name] for name in table.environment if name in environ}
        self._program = executable(table)
        check_isolation(table)
        free = table.usd_per_call == 0
        self.price = Price(prompt_usd=0.0, completion_usd=0.0) if free else None
        """Per token: nothing where a call is free, else unknown; a call costs what the table says."""
        self.identity = table.identity

    def most_usd(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        """What a call costs; None where the table does not say."""
        return self._table.usd_per_call

    def check(self, response_options: ResponseOptions) -> None:
        """Raises :class:`ConfigError` for tools and response formats."""
        if response_options.needs_a_chat_model:
            raise ConfigError("a command answers in text; it calls no tools of the client's and follows no response_format")

    def check_call(self, call: Call) -> None:
        """Raises :class:`UnworkableStep` where a check is shown nothing."""
        if self._table.check and not call.visible:
            raise UnworkableStep("there is nothing to check: the check may see no step; let it see the answer")

    async def __call__(self, call: Call) -> Completion:
        """Start the command and wait for its end."""
        self.check(call.response_options)
        self.check_call(call)
        table = self._table
        words, given = self._given(as_text(render(call)))
        limits = Limits(output_bytes=table.output_kib * 1024, memory_bytes=table.memory_mib * 2**20, processes=table.processes)
        started = time.perf_counter()
        try:
            ended = await run(confined(table, words, self._environ), given, limits)
        except SandboxError as error:
            raise WorkerUnavailable(f"the command could not be run: {error}") from error
        seconds = time.perf_counter() - started
        text, passed = self._answer(call, ended)
        if call.on_token is not None:
            call.on_token(text)
        usage = Usage(cost_usd=table.usd_per_call)
        source = "" if table.usd_per_call is None else "pool file"
        return Completion(text=text, usage=usage, price_source=source, seconds=seconds, check_passed=passed)

    def _given(self, text: str) -> tuple[list[str], bytes]:
        """The words of the command line, and what it reads. Raises where the text can not stand in an argument."""
        data = text.encode("utf-8", "replace")
        arguments = self._table.command[1:]
        if not any(TEXT in word for word in arguments):
            return [self._program, *arguments], data
        words = [word.encode("utf-8", "surrogateescape").replace(TEXT.encode(), data) for word in arguments]
        if any(len(word) > LONGEST_ARGUMENT for word in words) or sum(map(len, words)) > LONGEST_LINE:
            raise ContextOverflow("the text is longer than an argument of a command can be; have the command read standard input")
        if "\0" in text:
            raise WorkerRefused("the text has a NUL character, which no argument can hold")
        if text.startswith("-") and TEXT in arguments and "--" not in arguments[: arguments.index(TEXT)]:
            # Whoever wrote the text would choose an option of the program.
            raise WorkerRefused("the text begins with '-' and would be read as an option; put '--' before {text}")
        return [self._program, *(word.replace(TEXT, data.decode()) for word in arguments)], b""

    def _answer(self, call: Call, ended: Ended) -> tuple[str, bool | None]:
        """The text, and of a check whether it passed. Raises where the command gave none."""
        said = ended.stdout.decode("utf-8", "replace").strip()
        errors = ended.stderr.decode("utf-8", "replace").strip()
        failed = CommandFailed(f"exit code {ended.exit_code}")
        name = self._table.command[0]
        if ended.passed:
            raise WorkerRefused(f"{name} was ended: {ended.passed}") from failed
        if self._table.check and ended.exit_code in (0, 1):
            report = "\n\n".join(filter(None, (said, errors[-_MOST_ERROR:])))
            return (call.visible[-1].response, True) if ended.exit_code == 0 else (report or "The check failed.", False)
        why = f": {errors[-_MOST_ERROR:]}" if errors else ""
        if ended.exit_code == TRY_LATER:
            raise WorkerUnavailable(f"{name} says to try again later{why}") from failed
        if ended.exit_code != 0:
            raise WorkerRefused(f"{name} ended with exit code {ended.exit_code}{why}") from failed
        if not said:
            raise WorkerRefused(f"{name} wrote no answer to standard output{why}") from failed
        return said, None


def as_text(messages: Sequence[Message]) -> str:
    """A conversation as one text: a single message as it is, of several each below its role."""
    if len(messages) == 1:
        return messages[0].content
    return "\n\n".join(f"[{message.role}]\n{message.content}" for message in messages)


def _abilities(table: CommandWorkerConfig) -> tuple[str, ...]:
    does = "checks what it is shown with a program" if table.check else "a program on the server's machine"
    costs = f", ${table.usd_per_call:g} a call" if table.usd_per_call else ""
    return (f"{does} ({json.dumps(table.command[0])}){costs}",)


def _caution(table: CommandWorkerConfig) -> str:
    if table.isolated or countable() is not None:
        return ""
    return (
        f"no control group can be made here, so its {table.processes} processes are counted {1 / LOOK_EVERY_SECONDS:g} times a "
        "second and not held by the kernel; run it isolated, or give Podium a control group of its own (Delegate=pids in systemd)"
    )


def _make(table: CommandWorkerConfig, environ: Mapping[str, str], connections: Connections) -> CommandWorker:
    return CommandWorker(table, environ)


register("workers", "command")(
    WorkerKind(
        about="a program or an agent on this machine",
        config=CommandWorkerConfig,
        make=_make,
        abilities=_abilities,
        uses_tokens=False,
        caution=_caution,
    )
)
