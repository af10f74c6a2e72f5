"""Does this machine isolate? Found out by starting one sandbox and letting a program in it try the doors.

Refusing is the point: a sandbox that does not hold is worse than none, because rewards and files are at stake. Each
refusal says what is missing and the one command that mends it.
"""

import json

from podium.errors import SandboxError
from podium.tasks.sandbox.job import Job
from podium.tasks.sandbox.launch import Isolated
from podium.tasks.sandbox.limits import SandboxLimits
from podium.tasks.sandbox.packages import Packages
from podium.tasks.sandbox.slot import Slot
from podium.tasks.sandbox.submission import Submission

UNSAFE = "or accept that programs run on this machine unguarded: --unsafe-local"
PROBE_LIMITS = SandboxLimits(cpu_seconds=5.0, wall_seconds=5.0, processes=4)
# (what bubblewrap or the kernel says, what it means, the command)
CAUSES = (
    (
        ("No permissions to create", "creating new namespace", "setting up uid map", "uid map: Permission denied"),
        "this user may not create user namespaces here",
        "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0 (Ubuntu), kernel.unprivileged_userns_clone=1 (Debian "
        "before 11) or user.max_user_namespaces=10000; in a container, start it with --security-opt seccomp=unconfined",
    ),
    (
        ("max_user_namespaces", "No space left on device"),
        "the kernel allows no more user namespaces",
        "sudo sysctl -w user.max_user_namespaces=10000",
    ),
    (
        ("Can't mount proc", "mount proc on"),
        "this container hides parts of /proc, so no sandbox can have a /proc of its own",
        "start the container with --security-opt systempaths=unconfined",
    ),
    (("Unknown option --disable-userns",), "this bubblewrap is older than 0.8", "sudo apt-get install bubblewrap"),
    (("--seccomp", "seccomp"), "the kernel does not take the system call filter", "use a kernel with CONFIG_SECCOMP_FILTER"),
)
DOORS = """
import json, os, sys
open_doors = []
status = dict(line.split(":\\t", 1) for line in open("/proc/self/status").read().splitlines() if ":\\t" in line)
def door(name, is_open):
    if is_open:
        open_doors.append(name)
door("it runs as root", os.getuid() == 0)
door("it may gain privileges", status["NoNewPrivs"] != "1")
door("it has capabilities", int(status["CapEff"], 16) | int(status["CapBnd"], 16))
try:
    os.memfd_create("probe")
    door("system calls are not filtered", True)
except PermissionError:
    pass
door("its memory can not be measured", "RssAnon" not in status)
door("it sees processes of the host", {n for n in os.listdir("/proc") if n.isdigit()} != {"1", str(os.getpid())})
door("it sees network devices", [l.split(":")[0].strip() for l in open("/proc/net/dev").readlines()[2:]] != ["lo"])
door("there is a /dev/shm", os.path.exists("/dev/shm"))
door("it sees home directories", os.path.exists("/home"))
for path in ("/probe", "/dev/probe", "/usr/lib/probe", "/proc/sys/kernel/hostname"):
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT))
        door(f"it may write {path}", True)
    except OSError:
        pass
try:
    os.close(os.open("/proc/1/mem", os.O_RDWR))
    door("it may write to the fork server", True)
except OSError:
    pass
children = 0
try:
    while children < 8:
        if os.fork() == 0:
            os.read(os.pipe()[0], 1)
        children += 1
except BlockingIOError:
    pass
door("the number of processes is not limited", children > 3)
door("it can not start a second process; end some of this user's processes, or use Linux 5.14 or newer", children < 1)
print(json.dumps(open_doors), flush=True)
os._exit(0)
"""


async def probe_isolation() -> None:
    """Starts a sandbox and tries its doors. Raises :class:`SandboxError` where none starts or a door is open.

    Example: ``await probe_isolation()`` returns None on a machine that isolates.
    """
    launch = Isolated(PROBE_LIMITS, Packages())
    try:
        try:
            slot = await Slot.start(launch.prepare())
        except SandboxError as error:
            raise SandboxError(explain(str(error))) from error
        try:
            submission = Submission(slot, PROBE_LIMITS)
            await submission.load(DOORS)
            outcome = await submission.run(Job(kind="script"))
        finally:
            await slot.stop()
    finally:
        launch.close()
    try:
        doors = json.loads(outcome.stdout)
    except ValueError as error:
        said = outcome.stderr.decode(errors="replace").strip()[-300:]
        raise SandboxError(f"the probe ended with {outcome.status} instead of a report: {said}; {UNSAFE}") from error
    if doors:
        raise SandboxError(f"a program in the sandbox is not isolated: {'; '.join(map(str, doors))}; {UNSAFE}")


def explain(said: str) -> str:
    """What stopped a sandbox from starting, from what bubblewrap said.

    Example: ``explain("bwrap: No permissions to create new namespace")`` names the sysctl that allows it.
    """
    for signs, meaning, command in CAUSES:
        if any(sign.lower() in said.lower() for sign in signs):
            return f"{meaning} ({said}); allow it: {command}; {UNSAFE}"
    return f"{said}; {UNSAFE}"
