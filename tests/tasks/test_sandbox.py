"""The pool, and faults: whatever goes wrong with a sandbox itself is a SandboxError, soon, and never an outcome."""

import asyncio
import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import podium
from podium.errors import SandboxError
from podium.tasks.sandbox import Job, Outcome, Sandbox, SandboxLimits, bubblewrap
from podium.tasks.sandbox.inside.frames import PREFIX, decode_header, encode, header_length
from podium.tasks.sandbox.inside.trial import children_of
from podium.tasks.sandbox.interpreter import this_interpreter
from podium.tasks.sandbox.probe import explain
from podium.tasks.sandbox.seccomp import filter_program
from podium.tasks.sandbox.submission import read_outcome
from podium.tasks.sandbox.uids import RANGES, Uid, mapped_range
from podium.tasks.sandbox.view import View

LIMITS = SandboxLimits(wall_seconds=5.0, file_bytes=2**20)
SCRIPT = Job(kind="script")
SHM = "/dev/shm"  # noqa: S108
FOREVER = "while True: pass"


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with Sandbox(slots=1, limits=LIMITS) as sandbox:
        yield sandbox


def everything_below(pid: int) -> list[int]:
    found = children_of(pid)
    for child in found:
        found.extend(children_of(child))
    return found


# The pool


async def test_a_fork_for_each_test_and_a_sandbox_for_each_submission(sandbox: Sandbox) -> None:
    source = "import os\ndef f(): return [os.getppid(), os.stat('/proc/self/ns/pid').st_ino]"

    async def where() -> list[str | None]:
        async with sandbox.submission(source) as submission:
            return [(await submission.run(Job(kind="call", entry="f"))).value for _ in range(2)]

    first, second = await where(), await where()
    assert first[0] == first[1]
    assert first[0] is not None
    assert json.loads(first[0])[0] == 1
    assert first[0] != second[0]


async def test_submissions_run_side_by_side_up_to_the_number_of_slots() -> None:
    running = most = 0

    async def one(sandbox: Sandbox) -> None:
        nonlocal running, most
        async with sandbox.submission("import time; time.sleep(0.1)") as submission:
            running += 1
            most = max(most, running)
            assert (await submission.run(SCRIPT)).status == "ok"
            running -= 1

    async with Sandbox(slots=3, limits=LIMITS) as sandbox:
        await asyncio.gather(*(one(sandbox) for _ in range(9)))
    assert most == 3


async def test_tests_of_one_submission_wait_for_each_other(sandbox: Sandbox) -> None:
    async with sandbox.submission("import sys; print(sys.stdin.read())") as submission:
        outcomes = await asyncio.gather(*(submission.run(Job(kind="script", stdin=b"%d" % n)) for n in range(8)))
    assert [outcome.stdout for outcome in outcomes] == [b"%d\n" % n for n in range(8)]


async def test_a_cancelled_caller_leaves_a_pool_that_works(sandbox: Sandbox) -> None:
    async def forever() -> None:
        async with sandbox.submission(FOREVER) as submission:
            await submission.run(SCRIPT)

    for pause in (0.0, 0.005, 0.05, 0.2):
        task = asyncio.create_task(forever())
        await asyncio.sleep(pause)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    async with sandbox.submission("print(1)") as submission:
        assert (await submission.run(SCRIPT)).stdout == b"1\n"


async def test_after_a_test_was_given_up_no_other_gets_its_outcome(sandbox: Sandbox) -> None:
    async with sandbox.submission("import time; time.sleep(0.2); print(input())") as submission:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await submission.run(Job(kind="script", stdin=b"first\n"))
        with pytest.raises(SandboxError, match="given up"):
            await submission.run(Job(kind="script", stdin=b"second\n"))


async def test_outside_its_block_it_says_so() -> None:
    sandbox = Sandbox(slots=1)
    with pytest.raises(SandboxError, match="async with"):
        async with sandbox.submission(""):
            pass


@pytest.mark.parametrize("field", ["cpu_seconds", "wall_seconds", "memory_bytes", "output_bytes", "file_bytes", "processes"])
def test_limits_are_positive(field: str) -> None:
    with pytest.raises(ValueError, match=field):
        SandboxLimits(**{field: 0})


def test_a_pool_has_slots() -> None:
    with pytest.raises(ValueError, match="slots"):
        Sandbox(slots=0)


async def test_a_test_may_be_shorter_and_not_longer_than_the_limit() -> None:
    async with Sandbox(slots=1, limits=SandboxLimits(wall_seconds=2.0)) as sandbox, sandbox.submission(FOREVER) as submission:
        assert (await submission.run(Job(kind="script", wall_seconds=0.1))).seconds < 1.5
        assert (await submission.run(Job(kind="script", wall_seconds=60.0))).seconds < 20


# Faults


@pytest.mark.parametrize("unsafe_local", [False, True])
async def test_a_killed_sandbox_is_a_fault(unsafe_local: bool) -> None:
    async with Sandbox(slots=1, limits=LIMITS, unsafe_local=unsafe_local) as sandbox:
        async with sandbox.submission(FOREVER) as submission:
            test = asyncio.create_task(submission.run(SCRIPT))
            await asyncio.sleep(0.2)
            started = time.monotonic()
            os.kill(submission._slot._process.pid, signal.SIGKILL)
            with pytest.raises(SandboxError, match="ended before it reported"):
                await test
            assert time.monotonic() - started < 2.0
            with pytest.raises(SandboxError, match="gone"):
                await submission.run(SCRIPT)
        async with sandbox.submission("print(1)") as submission:
            assert (await submission.run(SCRIPT)).stdout == b"1\n"


async def test_a_warm_sandbox_found_dead_is_replaced(sandbox: Sandbox) -> None:
    await asyncio.sleep(0.3)  # until it is warm
    for pid in children_of(os.getpid()):
        os.kill(pid, signal.SIGKILL)
    await asyncio.sleep(0.05)
    async with sandbox.submission("print(1)") as submission:
        assert (await submission.run(SCRIPT)).stdout == b"1\n"


async def test_a_scratch_directory_without_space_is_a_fault(sandbox: Sandbox) -> None:
    async with sandbox.submission("print(len(input()))") as submission:
        with pytest.raises(SandboxError, match="No space left"):
            await submission.run(Job(kind="script", stdin=b"x" * (2 * LIMITS.file_bytes)))
        outcome = await submission.run(Job(kind="script", stdin=b"x" * 1000))
        assert outcome.stdout == b"1000\n"


async def test_no_disk_for_the_host_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", "/proc/nowhere")
    async with Sandbox(slots=1, unsafe_local=True) as sandbox:
        with pytest.raises(SandboxError, match="TMPDIR"):
            async with sandbox.submission(""):
                pass


async def test_without_bubblewrap_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SandboxError, match=r"bwrap.*apt-get install bubblewrap"):
        async with Sandbox():
            pass
    with pytest.raises(SandboxError, match="apt-get install bubblewrap"):
        await Sandbox().probe()


async def test_without_libseccomp_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("podium.tasks.sandbox.seccomp.LIBRARY", "libseccomp.so.none")
    filter_program.cache_clear()
    with pytest.raises(SandboxError, match="apt-get install libseccomp2"):
        await Sandbox().probe()


@pytest.mark.parametrize(
    ("left_out", "put_in", "door"),
    [
        (("--remount-ro", "/"), (), "it may write /probe"),
        (("--unshare-all",), ("--unshare-all", "--share-net"), "network devices"),
        (("--proc", "/proc"), ("--proc", "/proc", "--bind", SHM, SHM), SHM),
        (("--proc", "/proc"), ("--proc", "/proc", "--ro-bind", "/home", "/home"), "home directories"),
    ],
)
async def test_a_sandbox_with_a_door_open_is_refused(
    monkeypatch: pytest.MonkeyPatch, left_out: tuple[str, ...], put_in: tuple[str, ...], door: str
) -> None:
    """The probe does not believe the command line: it tries the doors."""
    command = bubblewrap.command

    def opened(*arguments: Any, **options: Any) -> list[str]:
        words = command(*arguments, **options)
        at = next(n for n in range(len(words)) if tuple(words[n : n + len(left_out)]) == left_out)
        return [*words[:at], *put_in, *words[at + len(left_out) :]]

    monkeypatch.setattr(bubblewrap, "command", opened)
    with pytest.raises(SandboxError) as refusal:
        await Sandbox().probe()
    assert "--unsafe-local" in str(refusal.value)
    assert door in str(refusal.value)


async def test_a_sandbox_without_the_filter_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    allow_everything = bytes((6, 0, 0, 0)) + (0x7FFF0000).to_bytes(4, "little")
    monkeypatch.setattr("podium.tasks.sandbox.launch.filter_program", lambda: allow_everything)
    with pytest.raises(SandboxError, match="system calls are not filtered"):
        await Sandbox().probe()


def test_known_causes_are_explained() -> None:
    for said, meant in (
        ("bwrap: No permissions to create new namespace, likely because ...", "user namespaces"),
        ("bwrap: setting up uid map: Permission denied", "apparmor_restrict_unprivileged_userns=0"),
        ("bwrap: Creating new namespace failed: No space left on device", "user namespaces"),
        ("bwrap: Can't mount proc on /newroot/proc: Operation not permitted", "systempaths=unconfined"),
        ("bwrap: Unknown option --disable-userns", "older than 0.8"),
        ("something new", "something new"),
    ):
        assert meant in explain(said)
        assert said in explain(said)
        assert "--unsafe-local" in explain(said)


REPLY = {"status": "ok", "exit_code": 0, "signal": None, "seconds": 0.1}


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ({"status": "right"}, [b"", b""]),
        ({"seconds": "0"}, [b"", b""]),
        ({"exit_code": True}, [b"", b""]),
        ({"exit_code": 256}, [b"", b""]),
        ({"signal": [9]}, [b"", b""]),
        ({"status": ["ok"]}, [b"", b""]),
        ({}, [b""]),
        ({}, [b"", b"", b"1"]),
    ],
)
def test_a_reply_that_is_none_is_a_fault(change: dict[str, object], parts: list[bytes]) -> None:
    assert isinstance(read_outcome(SCRIPT, dict(REPLY), [b"", b""], isolated=True), Outcome)
    with pytest.raises(SandboxError, match="no outcome"):
        read_outcome(SCRIPT, {**REPLY, **change}, parts, isolated=True)


@given(parts=st.lists(st.binary(max_size=50), max_size=4))
def test_messages_come_apart_as_they_were_put_together(parts: list[bytes]) -> None:
    data = encode({"kind": "call"}, parts)
    length = header_length(data[:PREFIX])
    header, lengths = decode_header(data[PREFIX : PREFIX + length], most=200)
    assert header == {"kind": "call"}
    rest = data[PREFIX + length :]
    assert [rest[sum(lengths[:n]) : sum(lengths[: n + 1])] for n in range(len(parts))] == parts


@given(line=st.binary(max_size=100))
def test_any_bytes_are_a_header_or_a_value_error(line: bytes) -> None:
    with contextlib.suppress(ValueError):
        _, lengths = decode_header(line, most=10)
        assert sum(lengths) <= 10


@pytest.mark.parametrize("line", [b"[]", b"{}", b'{"parts": [-1]}', b'{"parts": [true]}', b'{"parts": [11]}', b'{"parts": 1}'])
def test_headers_that_are_none(line: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        decode_header(line, most=10)


# Users


def test_user_ids_are_taken_and_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    unused = mapped_range()
    # The upper end of the range, where no other judge of this machine is by now.
    monkeypatch.setattr(Uid, "_next", iter(random.sample(unused[len(unused) // 2 :], 2)))
    first, second = Uid.take(), Uid.take()
    assert first.number != second.number
    assert first.number in unused
    assert second.number in unused
    code = f"import socket; socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).bind('\\0podium-sandbox-uid-{first.number}')"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 1
    first.release()
    second.release()
    subprocess.run([sys.executable, "-c", code], check=True)


def test_user_ids_come_from_what_the_container_maps() -> None:
    assert mapped_range("0 0 4294967295\n") == RANGES[0]
    assert mapped_range("0 100000 65536\n") == RANGES[1]
    with pytest.raises(SandboxError, match="65536"):
        mapped_range("0 1000 1\n")


CHECK = """
import asyncio, json, os
SOURCE = "import os\\ndef f(): return [os.getuid(), os.getpid() < 10]\\ndef bomb():\\n while True: os.fork()"
from podium.errors import SandboxError
from podium.tasks.sandbox import bubblewrap
from podium.tasks.sandbox import Job, SandboxLimits, Sandbox
async def main():
    try:
        async with Sandbox(slots=1, limits=SandboxLimits(wall_seconds=1.0, processes=8)) as sandbox:
            async with sandbox.submission(SOURCE) as s:
                value = (await s.run(Job(kind="call", entry="f"))).value
                bomb = await s.run(Job(kind="call", entry="bomb"))
        print(json.dumps({"uid": os.getuid(), "value": json.loads(value), "bomb": bomb.status}))
    except SandboxError as error:
        print(json.dumps({"error": str(error)}))
asyncio.run(main())
"""


def as_ordinary_user() -> list[str]:
    """What to put before a command so that it runs without privileges; nothing where this process has none."""
    if os.geteuid() != 0:
        return []
    return View.open(this_interpreter()).command(65534)


def check(front: list[str]) -> dict[str, object]:
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(Path(podium.__file__).parents[1]),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run([*front, sys.executable, "-c", CHECK], capture_output=True, env=environment, cwd="/", timeout=60)
    assert done.stdout, done.stderr.decode()
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_an_ordinary_user_has_the_same_sandbox() -> None:
    found = check(as_ordinary_user())
    assert found.pop("uid") != 0
    assert found in ({"value": [1000, True], "bomb": "timeout"}, {"value": [1000, True], "bomb": "error"})


def test_where_user_namespaces_are_forbidden_it_refuses_and_says_so() -> None:
    """A user namespace in which no further one may be made, as on a machine that forbids them."""
    forbid = 'echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --ambient-caps=-all --inh-caps=-all "$@"'
    unshare = [shutil.which("unshare") or "unshare", "--user", "--map-user=1000", "--map-group=1000", "--keep-caps"]
    found = check([*as_ordinary_user(), *unshare, "sh", "-c", forbid, "sh"])
    error = str(found["error"])
    assert "user namespaces" in error
    assert "sysctl" in error
    assert "--unsafe-local" in error


def test_a_judge_that_is_killed_leaves_nothing() -> None:
    code = CHECK.replace("os.fork()", "pass").replace("wall_seconds=1.0", "wall_seconds=600.0")
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as judge:
        deadline = time.monotonic() + 20
        while len(below := everything_below(judge.pid)) < 5 and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.3)
        below = everything_below(judge.pid)
        assert len(below) >= 4, "a running test, its server, and a warm sandbox"
        judge.kill()
    deadline = time.monotonic() + 5
    while (left := [pid for pid in below if alive(pid)]) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not left


def alive(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
