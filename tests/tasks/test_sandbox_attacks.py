"""Each way out of a sandbox that was ever tried against one, as a program: contained, and nothing of it left on the host.

The attacks report to standard output what they reached; where they reach nothing the sandbox held.
"""

import asyncio
import contextlib
import os
import socket
import subprocess
import textwrap
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from podium.tasks.sandbox import Job, Outcome, Sandbox, SandboxLimits, Submission
from podium.tasks.sandbox.inside.trial import children_of

LIMITS = SandboxLimits(
    cpu_seconds=2.0, wall_seconds=60.0, memory_bytes=256 * 2**20, output_bytes=2**20, file_bytes=16 * 2**20, processes=8
)
PATIENT = 60.0  # seconds that a busy machine may need until the memory is really held; found out at once elsewhere
SECRET = "sk-the-judge-alone-knows-this"  # noqa: S105 - it opens nothing


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PODIUM_TEST_SECRET", SECRET)


def everything_below(pid: int) -> list[int]:
    """All descendants of a process."""
    found = children_of(pid)
    for child in found:
        found.extend(children_of(child))
    return found


def namespace_of(pid: int) -> str:
    with contextlib.suppress(OSError):
        return os.readlink(f"/proc/{pid}/ns/pid")
    return ""


def descriptors() -> set[tuple[str, str]]:
    """What is open in this process. By name: what other tests left may be closed meanwhile."""
    found = set()
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # the listing's own
            found.add((name, os.readlink(f"/proc/self/fd/{name}")))
    return found


class Namespaces:
    """The process namespaces of sandboxes, held open: the kernel gives the number of one that is gone to the next one."""

    def __init__(self) -> None:
        self._held: dict[str, int] = {}

    def hold(self, pid: int) -> None:
        """Adds those of all descendants of ``pid``."""
        for child in everything_below(pid):
            with contextlib.suppress(OSError):
                fd = os.open(f"/proc/{child}/ns/pid", os.O_RDONLY)
                name = os.readlink(f"/proc/self/fd/{fd}")
                if name in self._held or name == namespace_of(os.getpid()):
                    os.close(fd)
                else:
                    self._held[name] = fd

    def let_go(self) -> list[int]:
        """The processes of the whole machine that are in one of them."""
        assert self._held, "no sandbox was running: this would see nothing"
        inside = [int(name) for name in os.listdir("/proc") if name.isdigit() and namespace_of(int(name)) in self._held]
        for fd in self._held.values():
            os.close(fd)
        return inside


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    before = set(children_of(os.getpid()))
    open_files = descriptors()
    namespaces = Namespaces()
    async with Sandbox(slots=1, limits=LIMITS) as sandbox:
        async with sandbox.submission("") as first:  # one that nothing was done to, and the next already starting
            assert (await first.run(Job(kind="script"))).status == "ok"
            namespaces.hold(os.getpid())
        yield sandbox
        namespaces.hold(os.getpid())
    assert not namespaces.let_go(), "processes of a sandbox survived it"
    assert set(children_of(os.getpid())) <= before, "a process of the sandbox was left behind"
    assert not descriptors() - open_files, "descriptors were left open"


async def attack(sandbox: Sandbox, program: str, seconds: float = 2.0, *, again: bool = True) -> Outcome:
    """Runs ``program``, checks that its sandbox takes another test where it may, and that it is gone from the host then."""
    namespaces = Namespaces()
    async with sandbox.submission(textwrap.dedent(program)) as submission:
        namespaces.hold(submission._slot._process.pid)
        outcome = await submission.run(Job(kind="script", wall_seconds=seconds))
        if again:
            await clean(submission)
    assert not namespaces.let_go(), "the sandbox of the attack still runs"
    assert outcome.isolated
    return outcome


async def clean(submission: Submission) -> None:
    """After an attack the fork server is alive, alone, and has an empty scratch directory."""
    look = "import os; print(sorted(n for n in os.listdir('/proc') if n.isdigit() and int(n) != os.getpid()), os.listdir('/tmp'))"
    outcome = await submission.run(Job(kind="module", extra=f"__name__ = 'look'\n{look}", wall_seconds=2.0))
    assert outcome.stdout.endswith(b"['1'] []\n"), outcome


# Time


async def test_an_infinite_loop(sandbox: Sandbox) -> None:
    outcome = await attack(sandbox, "if __name__ == '__main__':\n    while True: pass", 0.3)
    assert outcome.status == "timeout"
    assert 0.3 <= outcome.seconds < 10


async def test_a_long_sleep(sandbox: Sandbox) -> None:
    assert (await attack(sandbox, "import time\nif __name__ == '__main__': time.sleep(3600)", 0.3)).status == "timeout"


async def test_ignored_signals(sandbox: Sandbox) -> None:
    program = """
        import signal, time
        for number in range(1, 65):
            try: signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError): pass
        while __name__ == '__main__': pass
    """
    assert (await attack(sandbox, program, 0.3)).status == "timeout"


async def test_processor_time_spent_with_its_signal_ignored() -> None:
    program = "import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass"
    limits = SandboxLimits(cpu_seconds=1.0, wall_seconds=20.0)
    async with Sandbox(slots=1, limits=limits) as sandbox, sandbox.submission(program) as submission:
        outcome = await submission.run(Job(kind="script"))
    assert outcome.status == "timeout"
    assert outcome.signal == 9


# Processes and threads


async def test_a_fork_bomb(sandbox: Sandbox) -> None:
    program = """
        import os
        while __name__ == '__main__':
            try: os.fork()
            except OSError: pass
    """
    peak = 0

    async def count() -> None:
        nonlocal peak
        while True:
            peak = max(peak, len([p for p in everything_below(os.getpid()) if namespace_of(p) != namespace_of(os.getpid())]))
            await asyncio.sleep(0.02)

    counting = asyncio.create_task(count())
    outcome = await attack(sandbox, program, 0.5)
    counting.cancel()
    assert outcome.status == "timeout"
    # The bomb, its fork server, and a warm sandbox.
    assert LIMITS.processes <= peak <= LIMITS.processes + 3


async def test_six_hundred_threads(sandbox: Sandbox) -> None:
    program = """
        import threading, time
        started = 0
        try:
            for _ in range(600):
                threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
                started += 1
        except RuntimeError:
            pass
        print(started, flush=True)
    """
    outcome = await attack(sandbox, program)
    assert 0 < int(outcome.stdout.split()[0]) < LIMITS.processes


async def test_daemonising(sandbox: Sandbox) -> None:
    program = """
        import os, time
        if __name__ == '__main__':
            if os.fork() == 0:
                os.setsid()
                if os.fork() == 0:
                    for fd in range(3): os.close(fd)
                    while True:
                        open('/tmp/alive', 'w').close()
                        time.sleep(0.001)
                os._exit(0)
            os.wait()
            time.sleep(0.05)
            print(os.listdir('/tmp'))
    """
    outcome = await attack(sandbox, program)  # clean() finds neither the process nor its file
    assert outcome.status == "ok"
    assert b"alive" in outcome.stdout


async def test_signalling_a_process_of_the_host(sandbox: Sandbox) -> None:
    with subprocess.Popen(["sleep", "60"]) as bystander:  # noqa: ASYNC220 - returns at once
        program = f"""
            import os, signal
            for pid in ({bystander.pid}, {os.getpid()}, -{bystander.pid}, 1, -1):
                for number in (signal.SIGINT, signal.SIGSTOP, signal.SIGKILL):
                    try: os.kill(pid, number)
                    except OSError as error: print(type(error).__name__)
        """
        outcome = await attack(sandbox, program)  # clean() finds the fork server alive, too
        assert bystander.poll() is None
        bystander.kill()
    assert outcome.stdout.count(b"ProcessLookupError") >= 9


# Memory and disk


async def test_ten_gigabytes_at_once(sandbox: Sandbox) -> None:
    outcome = await attack(sandbox, "if __name__ == '__main__': x = bytearray(10 * 2**30)")
    assert outcome.status == "memory"
    assert b"MemoryError" in outcome.stderr, "refused before it was had, not found out afterwards"


async def test_memory_summed_over_six_children(sandbox: Sandbox) -> None:
    program = """
        import os, time
        if __name__ == '__main__':
            for _ in range(6):
                if os.fork() == 0:
                    held = bytearray(b'x') * (100 * 2**20)  # each child alone is within the bound
                    time.sleep(60)
            time.sleep(60)
    """
    outcome = await attack(sandbox, program, PATIENT)
    assert outcome.status == "memory"
    assert b"podium: stopped" in outcome.stderr


async def test_memory_in_shared_pages_and_in_scratch_files(sandbox: Sandbox) -> None:
    shared = (
        "import mmap\nif __name__ == '__main__':\n held = mmap.mmap(-1, 2**28 + 2**27)\n while True: held.write(b'x' * 2**20)"
    )
    assert (await attack(sandbox, shared, PATIENT)).status == "memory"


async def test_memory_under_a_misleading_name(sandbox: Sandbox) -> None:
    program = """
        import ctypes
        if __name__ == '__main__':
            ctypes.CDLL(None).prctl(15, b'RssAnon: 0 x')
            held = bytearray(b'x') * (300 * 2**20)
            while True: pass
    """
    assert (await attack(sandbox, program, PATIENT)).status == "memory"


async def test_memory_that_belongs_to_no_process(sandbox: Sandbox) -> None:
    program = """
        import ctypes, os
        libc = ctypes.CDLL(None, use_errno=True)
        try: os.memfd_create('x'); print('memfd')
        except PermissionError: pass
        if libc.shmget(0, 2**20, 0o1600) >= 0: print('shmget')
        if libc.mq_open(b'/x', os.O_CREAT | os.O_RDWR, 0o600, None) >= 0: print('mq_open')
    """
    assert (await attack(sandbox, program)).stdout == b""


async def test_writing_outside_the_scratch_directory(sandbox: Sandbox, tmp_path: Path) -> None:
    program = f"""
        import os, sys
        places = ['/', '/usr', '/usr/lib', '/dev', '/dev/shm', '/proc', '/etc', '/var/tmp', '/home', '/root', '/run', '/podium',
                  {str(tmp_path)!r}, os.path.dirname(os.__file__), os.path.dirname(sys.executable)]
        for place in places:
            try: open(os.path.join(place, 'podium-escaped'), 'w').close(); print(place)
            except OSError: pass
        for path in ('/podium/podium/tasks/sandbox/inside/server.pyc', os.__file__, '/proc/1/oom_score_adj', '/proc/1/mem'):
            try: os.close(os.open(path, os.O_RDWR)); print(path)
            except OSError: pass
    """
    assert (await attack(sandbox, program)).stdout == b""
    assert not list(tmp_path.iterdir())


async def test_one_big_file(sandbox: Sandbox) -> None:
    program = """
        import os
        if __name__ == '__main__':
            try:
                with open('/tmp/big', 'wb', buffering=0) as file:
                    while True: file.write(bytes(2**20))
            except OSError: print(os.stat('/tmp/big').st_size)
    """
    assert 0 < int((await attack(sandbox, program)).stdout) <= LIMITS.file_bytes


async def test_many_files(sandbox: Sandbox) -> None:
    program = """
        import itertools
        if __name__ == '__main__':
            for number in itertools.count(): open(f'/tmp/{number}', 'w').close()
    """
    outcome = await attack(sandbox, program)
    assert outcome.status == "killed"
    assert b"files in the scratch directory" in outcome.stderr


async def test_a_tree_deeper_than_any_path(sandbox: Sandbox) -> None:
    program = """
        import os
        for _ in range(1901 * (__name__ == '__main__')):
            os.mkdir('d' * 200); os.chdir('d' * 200)
            if _ % 100 == 0: os.chmod('.', 0o500 if _ == 1900 else 0o300)
    """
    assert (await attack(sandbox, program)).status == "ok"  # clean() finds the scratch directory empty


async def test_a_closed_scratch_directory(sandbox: Sandbox) -> None:
    program = """
        import os
        if __name__ == '__main__':
            os.mkdir('/tmp/d')
            open('/tmp/d/f', 'w').close()
            for path in ('/tmp/d', '/tmp'): os.chmod(path, 0)
    """
    assert (await attack(sandbox, program)).status == "ok"  # not a fault of the sandbox, which would spare it a verdict


async def test_filling_dev_shm(sandbox: Sandbox) -> None:
    program = "import os\nprint(os.path.exists('/dev/shm'))\nopen('/dev/shm/podium', 'wb')"
    outcome = await attack(sandbox, program, again=False)
    assert outcome.status == "error"
    assert outcome.stdout == b"False\n"
    assert not Path("/dev/shm/podium").exists()  # noqa: S108


async def test_two_hundred_megabytes_of_output(sandbox: Sandbox) -> None:
    program = "import os\nfor _ in range(200 * (__name__ == '__main__')): os.write(1, bytes(2**20))"
    outcome = await attack(sandbox, program)
    assert outcome.status == "output_limit"
    assert len(outcome.stdout) == LIMITS.output_bytes


async def test_endless_errors_and_an_endless_value(sandbox: Sandbox) -> None:
    outcome = await attack(sandbox, "import os\nfor _ in range(20 * (__name__ == '__main__')): os.write(2, b'e' * 2**20)")
    assert outcome.status == "ok"
    assert len(outcome.stderr) == 2**16
    async with sandbox.submission("def f(): return 'x' * 2**22") as submission:
        outcome = await submission.run(Job(kind="call", entry="f"))
    assert outcome.status == "output_limit"
    assert outcome.value is None


# Network and sockets


@pytest.fixture
def service() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setblocking(False)
        yield listening


async def test_a_service_on_the_loopback(sandbox: Sandbox, service: socket.socket) -> None:
    program = f"import socket\nsocket.create_connection(('127.0.0.1', {service.getsockname()[1]}), timeout=1)\nprint('connected')"
    outcome = await attack(sandbox, program, again=False)
    assert outcome.status == "error"
    assert outcome.stdout == b""
    with pytest.raises(BlockingIOError):
        service.accept()


async def test_the_network_outside(sandbox: Sandbox) -> None:
    program = """
        import socket
        print([line.split(':')[0].strip() for line in open('/proc/net/dev').readlines()[2:]])
        for family in (socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK, socket.AF_PACKET, 38, 40):
            for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, 5):
                try: socket.socket(family, kind); print(family)
                except OSError: pass
        try: socket.getaddrinfo('example.org', 80); print('resolved')
        except OSError: pass
    """
    assert (await attack(sandbox, program)).stdout == b"['lo']\n"


async def test_a_unix_socket_of_the_host(sandbox: Sandbox, tmp_path: Path) -> None:
    names = [str(tmp_path / "service"), f"\0podium-test-{os.getpid()}"]
    program = f"""
        import socket
        for name in {names!r}:
            try:
                socket.socket(socket.AF_UNIX).connect(name)
                print('connected')
            except OSError: pass
    """
    with contextlib.ExitStack() as stack:
        listening = [stack.enter_context(socket.socket(socket.AF_UNIX)) for _ in names]
        for sock, name in zip(listening, names, strict=True):
            sock.bind(name)
            sock.listen()
            sock.setblocking(False)
        assert (await attack(sandbox, program)).stdout == b""
        for sock in listening:
            with pytest.raises(BlockingIOError):
                sock.accept()


# Secrets


async def test_its_own_environment(sandbox: Sandbox) -> None:
    program = "import os\nprint(dict(os.environ), open('/proc/self/environ').read())"
    outcome = await attack(sandbox, program)
    assert outcome.status == "ok"
    assert SECRET.encode() not in outcome.stdout
    assert b"HOME" in outcome.stdout  # it did look


async def test_the_environment_of_other_processes(sandbox: Sandbox) -> None:
    program = """
        import os
        for name in os.listdir('/proc'):
            try: print(name, open(f'/proc/{name}/environ').read())
            except OSError: pass
    """
    outcome = await attack(sandbox, program)
    assert b"HOME" in outcome.stdout
    assert SECRET.encode() not in outcome.stdout


async def test_a_key_file_that_only_its_owner_may_read(sandbox: Sandbox, tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text(SECRET)
    key.chmod(0o600)
    program = f"""
        import os
        for path in ({str(key)!r}, {f"/proc/1/root{key}"!r}, {f"/proc/self/root{key}"!r}, '/etc/shadow', '/etc/passwd'):
            try: print(open(path).read())
            except OSError as error: print(type(error).__name__)
    """
    outcome = await attack(sandbox, program)
    assert set(outcome.stdout.split()) <= {b"FileNotFoundError", b"PermissionError"}


# The kernel


async def test_a_nested_user_namespace(sandbox: Sandbox) -> None:
    program = """
        import ctypes, errno, os
        libc = ctypes.CDLL(None, use_errno=True)
        for flag in (0x10000000, 0x00020000, 0x20000000, 0x40000000, 0x00000080):
            if libc.unshare(flag) == 0 or ctypes.get_errno() != errno.EPERM: print('unshare', hex(flag))
        # clone(2) with CLONE_NEWUSER, and clone3(2), whose flags no filter can read.
        if os.uname().machine == 'x86_64':
            pid = libc.syscall(56, 0x10000000 | 17, None, None, None, None)
            if pid == 0: os._exit(0)
            if pid > 0 or ctypes.get_errno() != errno.EPERM: print('clone')
            if libc.syscall(435, None, 0) == -1 and ctypes.get_errno() != errno.ENOSYS: print('clone3')
    """
    assert (await attack(sandbox, program)).stdout == b""


async def test_the_kernel_keyring(sandbox: Sandbox) -> None:
    program = """
        import ctypes, errno, os
        libc = ctypes.CDLL(None, use_errno=True)
        keyctl, add_key = {'x86_64': (250, 248), 'aarch64': (219, 217)}[os.uname().machine]
        for call in ((keyctl, 0, -3, 1, 0, 0), (keyctl, 1, None, 0, 0, 0), (add_key, b'user', b'podium', b'x', 1, -3)):
            if libc.syscall(*call) >= 0 or ctypes.get_errno() != errno.EPERM: print(call)
    """
    assert (await attack(sandbox, program)).stdout == b""


async def test_tampering_with_the_fork_server(sandbox: Sandbox) -> None:
    program = """
        import ctypes, os, resource
        libc = ctypes.CDLL(None, use_errno=True)
        def attempt(name, call, *arguments):
            try:
                if call(*arguments) not in (-1, None) or name in ('limit', 'priority', 'affinity'): print(name)
            except OSError: pass
        attempt('limit', resource.prlimit, 1, resource.RLIMIT_NOFILE, (0, 0))
        attempt('priority', os.setpriority, os.PRIO_PROCESS, 1, 19)
        attempt('affinity', os.sched_setaffinity, 1, {0})
        attempt('trace', libc.ptrace, 16, 1, 0, 0)
        attempt('write', os.open, '/proc/1/mem', os.O_RDWR)
        attempt('descriptors', os.listdir, '/proc/1/fd')
        print(sorted(int(fd) for fd in os.listdir('/proc/self/fd')))
    """
    assert (await attack(sandbox, program)).stdout == b"[0, 1, 2, 3, 63]\n"  # 3 is the listing itself, 63 the report


async def test_a_forged_report_claims_no_more_than_a_value(sandbox: Sandbox) -> None:
    """A program may say anything as its value, also by force; it can not make the judge's side fail, nor call it a success."""
    forged = "import os\ndef f():\n    os.write(63, b'0' * 32 + b'value\\n' + b'7')\n    os._exit(0)\n"
    stolen = (
        "import os, sys\ndef f():\n    frame = sys._getframe()\n    while 'nonce' not in frame.f_locals: frame = frame.f_back\n"
        "    os.write(63, frame.f_locals['nonce'] + b'value\\n' + b'[' * 100000)\n    os._exit(0)\n"
    )
    for source in (forged, stolen):
        async with sandbox.submission(source) as submission:
            outcome = await submission.run(Job(kind="call", entry="f"))
            assert outcome.status == "error"
            assert outcome.value is None
