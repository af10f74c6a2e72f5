"""The system calls that a program in the sandbox may not make, as a filter that bubblewrap loads.

Namespaces take away what a program could reach; the filter takes away the kernel interfaces that namespaces do not
cover (keyrings, sockets of other families, memory without an owner) and those that no answer needs and that kernel bugs
are found in. Refused calls fail with an error; they do not kill, so that a library that asks and falls back still works.

The filter is built once per process with libseccomp (through ctypes: the library's Python bindings look for a compiler at
import, which takes longer than all of this). Left out: a list of allowed calls instead of refused ones; what a Python
program may need is not a short list, and the namespaces are the wall.
"""

import ctypes
import os
from errno import EAFNOSUPPORT, ENOSYS, EPERM
from functools import cache

from podium.errors import SandboxError

LIBRARY = "libseccomp.so.2"
INSTALL = "sudo apt-get install libseccomp2"
_ALLOW = 0x7FFF0000
_ERRNO = 0x00050000
_UNKNOWN = -1  # this libseccomp has never heard of the call
_NE = 1
_MASKED_EQ = 7

REFUSED = {
    "kernel keyring": ("add_key", "keyctl", "request_key"),
    "other processes": (
        *("ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease", "kcmp", "pidfd_getfd"),
        *("move_pages", "migrate_pages", "ioprio_set"),
    ),
    "namespaces and mounts": (
        *("unshare", "setns", "mount", "umount2", "pivot_root", "chroot", "fsopen", "fsmount", "fsconfig", "fspick"),
        *("open_tree", "move_mount", "mount_setattr", "open_by_handle_at", "name_to_handle_at", "fanotify_init"),
    ),
    "memory that belongs to no process": (
        *("memfd_create", "memfd_secret", "shmget", "shmat", "semget", "msgget", "mq_open", "io_setup", "vmsplice"),
        *("io_uring_setup", "io_uring_enter", "io_uring_register"),
    ),
    "the machine": (
        *("bpf", "perf_event_open", "userfaultfd", "modify_ldt", "personality", "syslog", "acct", "quotactl", "swapon"),
        *("swapoff", "reboot", "kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module"),
        *("ioperm", "iopl", "settimeofday", "clock_settime", "adjtimex", "clock_adjtime", "sethostname", "setdomainname"),
    ),
}
# CLONE_NEW{TIME,NS,CGROUP,UTS,IPC,USER,PID,NET}: any of these bits in clone's first argument.
_NEW_NAMESPACES = tuple(1 << bit for bit in (7, 17, 25, 26, 27, 28, 29, 30))
# (call, number of the argument that names a process): only 0, the caller itself, is allowed.
_ONLY_ONESELF = (
    *(("prlimit64", 0), ("sched_setaffinity", 0), ("sched_setscheduler", 0), ("sched_setparam", 0), ("sched_setattr", 0)),
    *(("setpriority", 0), ("setpriority", 1)),
)


class _Argument(ctypes.Structure):
    """libseccomp's ``struct scmp_arg_cmp``."""

    _fields_ = (("arg", ctypes.c_uint), ("op", ctypes.c_int), ("a", ctypes.c_uint64), ("b", ctypes.c_uint64))


@cache
def filter_program(*, sockets: bool = False) -> bytes:
    """The filter as the kernel reads it (BPF), for ``bwrap --seccomp``; ``sockets`` are refused unless they are asked for.

    Raises :class:`SandboxError` without libseccomp.
    """
    try:
        library = ctypes.CDLL(LIBRARY)
    except OSError as error:
        raise SandboxError(f"{LIBRARY} is missing ({error}); install it: {INSTALL}") from error
    library.seccomp_init.restype = ctypes.c_void_p
    library.seccomp_init.argtypes = (ctypes.c_uint32,)
    library.seccomp_release.argtypes = (ctypes.c_void_p,)
    library.seccomp_export_bpf.argtypes = (ctypes.c_void_p, ctypes.c_int)
    library.seccomp_rule_add_array.argtypes = (
        *(ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int, ctypes.c_uint, ctypes.POINTER(_Argument)),
    )
    rules = library.seccomp_init(_ALLOW)
    if rules is None:
        raise SandboxError(f"{LIBRARY} does not start; reinstall it: {INSTALL}")

    def refuse(call: str, error: int, *conditions: tuple[int, int, int, int]) -> None:
        number = library.seccomp_syscall_resolve_name(call.encode())
        if number == _UNKNOWN:
            return  # not a call of this machine
        array = (_Argument * len(conditions))(*(_Argument(*condition) for condition in conditions))
        status = library.seccomp_rule_add_array(rules, _ERRNO | error, number, len(conditions), array)
        if status != 0:
            raise SandboxError(f"{LIBRARY} does not accept the rule for {call} ({os.strerror(-status)}); update it: {INSTALL}")

    try:
        for calls in REFUSED.values():
            for call in calls:
                refuse(call, EPERM)
        if not sockets:
            refuse("socket", EAFNOSUPPORT)  # socketpair stays: asyncio wakes itself through one
        refuse("clone3", ENOSYS)  # its flags are in memory, where a filter can not look; libraries fall back to clone
        for bit in _NEW_NAMESPACES:
            refuse("clone", EPERM, (0, _MASKED_EQ, bit, bit))
        for call, argument in _ONLY_ONESELF:
            refuse(call, EPERM, (argument, _NE, 0, 0))
        file = os.memfd_create("podium-seccomp")
        try:
            if library.seccomp_export_bpf(rules, file) != 0:
                raise SandboxError(f"{LIBRARY} does not export its filter; update it: {INSTALL}")
            return os.pread(file, os.fstat(file).st_size, 0)
        finally:
            os.close(file)
    finally:
        library.seccomp_release(rules)
