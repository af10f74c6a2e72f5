"""A program on this machine as a worker: what it is given, what becomes of its end, and what a hostile one reaches."""

import asyncio
import os
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import podium
from podium.acting.command import CommandWorker
from podium.acting.command_config import CommandWorkerConfig
from podium.acting.pool_file import read_pool
from podium.acting.process_count import own_group
from podium.cli.check import check
from podium.errors import ConfigError, ContextOverflow, UnworkableStep, WorkerRefused, WorkerUnavailable
from podium.pools.health import check_workers
from podium.types import Call, ResponseOptions, Tool, VisibleStep, ask
from podium.workers.metered import question_budgets

PYTHON = "/usr/bin/python3"
SECRET = "sk-of-the-server-itself"  # noqa: S105 - it opens nothing

both = pytest.mark.parametrize("isolated", [True, False], ids=["isolated", "on the host"])


def worker(*command: str, isolated: bool = True, **keys: object) -> CommandWorker:
    table = CommandWorkerConfig.model_validate(
        {"name": "it", "kind": "command", "command": list(command), "isolated": isolated, **keys}
    )
    return CommandWorker(table, {**os.environ, "SERVER_SECRET": SECRET, "ALLOWED": "yes"})


def python(program: str, *, isolated: bool = True, **keys: object) -> CommandWorker:
    return worker(PYTHON, "-I", "-c", program, isolated=isolated, **keys)


def running(mark: str) -> list[int]:
    """The processes of the machine whose command line holds ``mark``, but for this one."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = Path(f"/proc/{name}/cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if mark in words and int(name) != os.getpid():
            found.append(int(name))
    return found


async def until(holds: Callable[[], bool]) -> None:
    """Wait for it."""
    for _ in range(1500):
        if holds():
            return
        await asyncio.sleep(0.02)
    raise AssertionError("it never came about")


@pytest.fixture
def mark() -> Iterator[str]:
    """A word by which the processes of a test can be told apart; none of them may be left."""
    word = f"podium-test-{os.getpid()}-{time.monotonic_ns()}"
    yield word
    assert not running(word), "processes of a command were left behind"


@both
async def test_text_goes_in_and_comes_out(isolated: bool) -> None:
    sort = worker("sort", isolated=isolated, usd_per_call=0.5)
    for _ in range(3):
        done = await sort(Call.plain("b\na\nc"))
        assert (done.text, done.usage.cost_usd, done.usage.tokens) == ("a\nb\nc", 0.5, 0)
        assert done.seconds > 0
    unknown = await worker("cat", isolated=isolated)(Call(question=ask("Q"), subtask="Do."))
    assert (unknown.text, unknown.usage.cost_usd) == ("Q\n\nYour task: Do.", None)
    seen = VisibleStep(question=ask("Q"), subtask="A", response="R")
    assert (await worker("cat", isolated=isolated)(Call(visible=(seen,), subtask="B"))).text.splitlines()[::2][:2] == [
        "[user]",
        "",
    ]


@both
async def test_the_text_is_one_argument_and_no_line_of_a_shell(isolated: bool) -> None:
    echo = worker("/usr/bin/printf", "%s|", "a b", "{text}", isolated=isolated)
    hostile = "$(id); `id` && rm -rf ~ 'x' \"y\" {text} * \\"
    assert (await echo(Call.plain(hostile))).text == f"a b|{hostile}|"
    with pytest.raises(WorkerRefused, match="read as an option"):
        await echo(Call.plain("--version"))
    safe = worker("printf", "--", "%s|", "{text}", isolated=isolated)
    assert (await safe(Call.plain("--version"))).text == "--version|"
    attached = worker("printf", "%s", "text={text}", isolated=isolated)
    assert (await attached(Call.plain("-x"))).text == "text=-x"
    with pytest.raises(WorkerRefused, match="NUL"):
        await echo(Call.plain("a\0b"))
    with pytest.raises(ContextOverflow, match="standard input"):
        await echo(Call.plain("x" * 200_000))
    long = "x" * 500_000
    assert (await worker("cat", isolated=isolated)(Call.plain(long))).text == long, "standard input takes any length"


@both
async def test_what_its_end_says(isolated: bool) -> None:
    def ends(code: int) -> CommandWorker:
        return python(f"import sys; print('no luck', file=sys.stderr); sys.exit({code})", isolated=isolated)

    with pytest.raises(WorkerRefused, match=r"exit code 3: no luck"):
        await ends(3)(Call.plain("?"))
    with pytest.raises(WorkerUnavailable, match="later: no luck"):
        await ends(75)(Call.plain("?"))
    with pytest.raises(WorkerRefused, match="wrote no answer"):
        await ends(0)(Call.plain("?"))
    with pytest.raises(ConfigError, match="no program"):
        worker("no-such-program", isolated=isolated)


@both
async def test_a_command_that_checks(isolated: bool) -> None:
    program = (
        "import sys; said = sys.stdin.read(); print('checked'); sys.exit(0 if 'right' in said.split('[assistant]')[1] else {})"
    )
    step = [VisibleStep(question=ask("Q"), subtask="", response=text) for text in ("right", "wrong")]
    good, bad = [Call(visible=(each,), subtask="Check.") for each in step]
    done = await python(program.format(1), isolated=isolated, check=True)(good)
    assert (done.text, done.check_passed) == ("right", True), "what was checked goes on, and not the praise for it"
    done = await python(program.format(1), isolated=isolated, check=True)(bad)
    assert (done.text, done.check_passed) == ("checked", False)
    with pytest.raises(WorkerRefused, match="exit code 2"):
        await python(program.format(2), isolated=isolated, check=True)(bad)
    with pytest.raises(UnworkableStep, match="nothing to check"):
        await python(program.format(1), isolated=isolated, check=True)(Call.plain("?"))


# What a hostile one reaches


@both
async def test_endless_output_is_ended(isolated: bool, mark: str) -> None:
    endless = python(f"'{mark}'\nfor _ in range(5000): print('x' * 9999)", isolated=isolated, output_kib=64)
    with pytest.raises(WorkerRefused, match="65536 bytes of output"):
        await endless(Call.plain("?"))
    errors = python(
        f"'{mark}'\nimport sys\nfor _ in range(999): print('y' * 9999, file=sys.stderr)\nprint('ok')", isolated=isolated
    )
    assert (await errors(Call.plain("?"))).text == "ok", "what goes to standard error is bounded, and no answer"


LEAVES = """
import os, sys, time
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            {close}
            time.sleep(60)
        os._exit(0)
print('answer', flush=True)
{stay}
"""


@both
@pytest.mark.parametrize("close", ["pass", "os.closerange(0, 99)"], ids=["holding the pipes", "with closed pipes"])
async def test_children_left_behind_are_ended(isolated: bool, close: str, mark: str) -> None:
    leaves = python(f"'{mark}'" + LEAVES.format(close=close, stay=""), isolated=isolated)
    for _ in range(2):
        assert (await leaves(Call.plain("?"))).text == "answer"
        assert not running(mark)


@both
async def test_a_client_that_leaves_ends_all_of_it(isolated: bool, mark: str) -> None:
    stays = python(f"'{mark}'" + LEAVES.format(close="pass", stay="time.sleep(60)"), isolated=isolated)
    calls = [asyncio.create_task(stays(Call.plain("?"))) for _ in range(3)]
    await until(lambda: len(running(mark)) >= 3 * 4)
    for call in calls:
        call.cancel()
    assert all(isinstance(end, asyncio.CancelledError) for end in await asyncio.gather(*calls, return_exceptions=True))
    assert not running(mark)
    early = asyncio.create_task(stays(Call.plain("?")))
    await asyncio.sleep(0)
    early.cancel()
    with pytest.raises(asyncio.CancelledError):
        await early


@both
async def test_a_call_given_up_at_any_moment_of_its_start_leaves_nothing(isolated: bool, mark: str) -> None:
    stays = python(f"'{mark}'\nimport time; time.sleep(60)", isolated=isolated)
    for milliseconds in range(0, 30, 2):
        call = asyncio.create_task(stays(Call.plain("?")))
        await asyncio.sleep(milliseconds / 1000)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert not running(mark)


@both
async def test_huge_memory_is_ended(isolated: bool, mark: str) -> None:
    greedy = python(
        f"'{mark}'\nimport time\nkept = []\n"
        "for _ in range(36):\n    kept.append(bytearray(8 << 20)); time.sleep(0.01)\ntime.sleep(5)",
        isolated=isolated,
        memory_mib=128,
    )
    with pytest.raises(WorkerRefused, match="128 MiB of memory"):
        await greedy(Call.plain("?"))


FORKS = """
import os, time
started = 0
for _ in range(200):
    try:
        child = os.fork()
    except OSError:
        break
    if child == 0:
        time.sleep(5)
        os._exit(0)
    started += 1
print(started)
"""
"""One process that starts no more than 200, each of which ends by itself: bounded also where no limit holds."""


@both
async def test_the_number_of_processes_is_bounded(isolated: bool, mark: str) -> None:
    forks = python(f"'{mark}'" + FORKS, isolated=isolated, processes=24)
    for _ in range(2):
        assert 16 <= int((await forks(Call.plain("?"))).text) <= 24


@both
async def test_it_sees_the_variables_that_were_named_and_no_others(isolated: bool) -> None:
    look = "import os; print(sorted(os.environ.items()))"
    seen = (await python(look, isolated=isolated, environment=["ALLOWED", "NOT_SET"])(Call.plain("?"))).text
    assert "('ALLOWED', 'yes')" in seen
    assert "NOT_SET" not in seen
    assert SECRET not in seen
    allowed = {"ALLOWED", "HOME", "LANG", "LC_CTYPE", "PATH", "PWD", "TMPDIR"}
    assert {name for name, _ in eval(seen)} <= allowed  # noqa: S307 - what our own program printed


async def test_isolated_it_can_not_read_its_parent(tmp_path: Path) -> None:
    kept = tmp_path / "kept.txt"
    kept.write_text(SECRET)
    look = f"""
import os
found = []
for pid in filter(str.isdigit, os.listdir('/proc')):
    for name in ('environ', 'cmdline', 'mem'):
        try: found.append(open('/proc/' + pid + '/' + name, 'rb').read(100000))
        except OSError: pass
for path in ({str(kept)!r}, {str(Path.home() / ".bashrc")!r}, '/home', '/etc/shadow', {str(Path.cwd())!r}):
    if os.path.exists(path): found.append(b'SEES' + b'-FILE ' + path.encode())
print(found)
print('parents', [p for p in os.listdir('/proc') if p.isdigit() and int(p) > 60])
"""
    seen = (await python(look, environment=["ALLOWED"])(Call.plain("?"))).text
    assert SECRET not in seen
    assert "SEES-FILE" not in seen
    assert "parents []" in seen


async def test_isolated_it_writes_to_its_folder_and_nowhere_else(tmp_path: Path) -> None:
    shared, other = Path(tempfile.mkdtemp(dir="/var/tmp")), tmp_path / "other"
    shared.chmod(0o777)
    write = f"""
import os
wrote = []
for folder in ('.', '/tmp', '/usr', '/etc', '/', '/dev', '/dev/shm', '/proc/sys/kernel', '/var/tmp', {str(shared)!r}):
    try:
        open(os.path.join(folder, 'mine.txt'), 'w').write('x')
        wrote.append(folder)
    except OSError: pass
print(wrote, os.getcwd(), sorted(os.listdir('.')))
"""
    said = (await python(write, writes=[str(shared)])(Call.plain("?"))).text
    assert said == f"['.', '/tmp', '{shared}'] /tmp ['mine.txt']"
    assert (shared / "mine.txt").exists()
    assert not other.exists()
    said = (await python(write)(Call.plain("?"))).text
    assert said == "['.', '/tmp'] /tmp ['mine.txt']", "the folder of each call is its own"
    full = python("f = open('big', 'wb')\nfor _ in range(64): f.write(bytes(1 << 20))\nprint('wrote')", files_mib=8)
    with pytest.raises(WorkerRefused, match="No space left"):
        await full(Call.plain("?"))
    (shared / "mine.txt").unlink()
    shared.rmdir()


async def test_isolated_it_has_no_network_unless_it_is_allowed() -> None:
    look = "import socket; print([name for _, name in socket.if_nameindex()])"
    assert (await python(look)(Call.plain("?"))).text == "['lo']"
    with_network = (await python(look, network=True)(Call.plain("?"))).text
    assert with_network == str([name for _, name in socket.if_nameindex()])


async def test_on_the_host_each_call_has_a_folder_that_is_removed() -> None:
    look = "import os; open('mine.txt', 'w').write('x'); print(os.getcwd(), os.environ['HOME'])"
    first, second = [(await python(look, isolated=False)(Call.plain("?"))).text.split() for _ in range(2)]
    assert first[0] == first[1]
    assert first != second
    assert not Path(first[0]).exists()
    big = python("open('big', 'wb').write(bytes(64 << 20))", isolated=False, files_mib=8)
    with pytest.raises(WorkerRefused, match=r"File too large|exit code 153"):
        await big(Call.plain("?"))


async def test_on_the_host_nothing_outlives_this_process(mark: str) -> None:
    """The process that asked is killed: the command and what it started end all the same."""
    code = f"'{mark}'" + LEAVES.format(close="pass", stay="time.sleep(60)")
    program = f"""
import asyncio
from podium.acting.command import CommandWorker
from podium.acting.command_config import CommandWorkerConfig
from podium.types import Call
def made(isolated):
    command = [{PYTHON!r}, '-I', '-c', {code!r}]
    return CommandWorker(CommandWorkerConfig(name='it', kind='command', isolated=isolated, command=command), {{}})
async def main():
    await asyncio.gather(*(made(isolated)(Call.plain('?')) for isolated in (True, False)))
asyncio.run(main())
"""
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", program)
    await until(lambda: len(running(mark)) >= 2 * 4 + 1)
    process.kill()
    await process.wait()
    await until(lambda: not running(mark))


# In a pool file


def written(folder: Path, *lines: str) -> Path:
    path = folder / "pool.toml"
    path.write_text('[[worker]]\nname = "it"\nkind = "command"\n' + "\n".join(lines) + "\n")
    return path


async def test_in_a_pool_file(tmp_path: Path) -> None:
    counter = tmp_path / "count"
    count = f"open({str(counter)!r}, 'a').write('x'); print('ok')"
    path = written(tmp_path, f'command = ["{PYTHON}", "-c", "{count}"]', "isolated = false", "usd_per_call = 0.02")
    for _ in range(3):
        async with podium.open_pool(path, budget=podium.Budget(usd=0.03, tokens=1), journal=tmp_path / "calls.db") as pool:
            assert (await pool["it"](Call.plain("?"))).text == "ok"
            assert "a program on the server's machine" in pool.workers.cards[0].abilities[0]
    assert counter.read_text() == "x", "a reply that is on disk is not asked for again"
    async with podium.open_pool(path, budget=podium.Budget(usd=0.03)) as pool:
        await pool["it"](Call.plain("?"))
        with pytest.raises(podium.PodiumError, match="budget"):
            await pool["it"](Call.plain("again"))
    assert counter.read_text() == "xx", "a call above the cap is not made"


async def test_its_seconds_count_and_end_it(tmp_path: Path, mark: str) -> None:
    path = written(tmp_path, f'command = ["{PYTHON}", "-c", "\'{mark}\'; import time; time.sleep(60)"]', "timeout_seconds = 0.3")
    async with podium.open_pool(path) as pool:
        with pytest.raises(WorkerUnavailable, match=r"within 0\.3 seconds"):
            await pool["it"](Call.plain("?"))
    assert not running(mark)
    path = written(tmp_path, f'command = ["{PYTHON}", "-c", "\'{mark}\'; import time; time.sleep(60)"]')
    async with podium.open_pool(path) as pool:
        token = question_budgets.set((podium.Budget(seconds=0.3, name="request"),))
        with pytest.raises(podium.PodiumError, match="seconds was over"):
            await pool["it"](Call.plain("?"))
        question_budgets.reset(token)


async def test_an_unknown_cost_is_refused_under_a_budget_in_dollars(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="usd_per_call"):
        async with podium.open_pool(written(tmp_path, 'command = ["cat"]'), budget=podium.Budget(usd=1)):
            pass


async def test_pool_check_asks_it(tmp_path: Path) -> None:
    [health] = await check_workers(written(tmp_path, 'command = ["cat"]', "usd_per_call = 0.5"))
    assert (health.answers, health.said, health.price_known) == (True, "Reply with the one word: ready", True)
    assert health.caution == ""


async def test_pool_check_says_where_nothing_holds_the_number_of_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, 'command = ["cat"]', "usd_per_call = 0", "isolated = false")
    monkeypatch.setattr("podium.acting.command.countable", lambda: None)
    monkeypatch.setattr("podium.acting.confined.countable", lambda: None)
    [health] = await check_workers(path)
    assert health.answers
    assert "not held by the kernel" in health.caution
    await check(pool=path, seconds=60, as_json=False)
    assert "it: no control group can be made here" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("mounts", "own"),
    [
        ("39 31 0:36 / {0} rw - cgroup cgroup rw,pids", "8:pids:/a/b"),
        ("39 31 0:36 /a {0} rw - cgroup cgroup rw,pids", "8:pids:/a/b"),
        ("39 31 0:36 / {0} rw - cgroup2 cgroup2 rw", "0::/a/b"),
        ("39 31 0:36 /elsewhere {0} rw - cgroup2 cgroup2 rw", "0::/a/b"),
        ("39 31 0:36 / {0} rw - tmpfs tmpfs rw", "0::/a/b"),
    ],
)
def test_where_a_control_group_is_looked_for(mounts: str, own: str, tmp_path: Path) -> None:
    """Folders stand for groups: of ordinary files no new one has a limit, so what is found is only where it was looked for."""
    found = own_group(mounts.format(tmp_path).splitlines(), [own])
    at = {"/a/b": tmp_path / "a/b", "/b": tmp_path / "b"}
    expected = None if "elsewhere" in mounts or "tmpfs" in mounts else at["/b" if " /a " in mounts else "/a/b"]
    assert found == expected


async def test_memory_that_belongs_to_no_process_is_refused_where_isolated() -> None:
    hidden = "import os\ntry: os.memfd_create('x'); print('made')\nexcept OSError as error: print(error.strerror)"
    assert (await python(hidden)(Call.plain("?"))).text == "Operation not permitted"


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (("command = 'rm -rf /'",), "command: it should be a valid list"),
        (("command = []",), "command"),
        (('command = ["{text}"]',), "can not be chosen by the text"),
        (('command = ["cat"]', "isolated = false", "network = true"), "for an isolated command"),
        (('command = ["cat"]', 'reads = ["here"]'), "from the root on"),
        (('command = ["cat"]', 'environment = ["A=b"]'), "name of a variable"),
        (('command = ["cat"]', "prompt_usd_per_million = 1", "completion_usd_per_million = 1"), "usd_per_call"),
        (('command = ["cat"]', "shell = true"), "unknown key"),
    ],
)
def test_mistakes_in_its_table(lines: tuple[str, ...], says: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        read_pool(written(tmp_path, *lines))
    assert says in str(caught.value)


def test_what_it_can_not_do(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="calls no tools"):
        worker("cat").check(ResponseOptions(tools=(Tool(name="now"),)))
    (tmp_path / "program").write_text("#!/bin/sh\n")
    (tmp_path / "program").chmod(0o755)
    with pytest.raises(ConfigError, match="in reads"):
        worker(str(tmp_path / "program"))


async def test_a_check_that_could_not_be_isolated_is_no_failed_check() -> None:
    """Bubblewrap's own exit code is 1, as is that of a check that fails."""
    gone = worker("/usr/bin/true", check=True, reads=["/opt/podium-test-not-there"])
    with pytest.raises(WorkerUnavailable, match="could not be isolated"):
        await gone(Call(subtask="Check it.", visible=(VisibleStep(subtask="Write.", response="42"),)))


@both
@pytest.mark.parametrize("words", [["{text}{text}"], ["{text}"] * 9, ["ä" * 500 + "{text}"]], ids=["twice", "often", "not ASCII"])
async def test_a_text_too_long_for_the_whole_command_line_is_told_as_such(words: list[str], isolated: bool) -> None:
    size = 128 * 1024 - 520 if len(words) > 1 or "ä" in words[0] else 70_000
    with pytest.raises(ContextOverflow):
        await worker("echo", *words, isolated=isolated)(Call.plain("x" * size))


def test_a_script_that_was_edited_in_its_place_is_another_worker(tmp_path: Path) -> None:
    script = tmp_path / "agent.py"

    def identity() -> str:
        return worker(PYTHON, str(script), isolated=False).identity

    script.write_text("print(1)")
    first = identity()
    assert identity() == first
    script.write_text("print(2)")
    assert identity() != first
