"""What one test may use. The judge sets it once for a pool; the kernel and the fork server inside enforce it.

Left out: limits for a single submission. A test may only shorten its wall time (``Job.wall_seconds``).
"""

from dataclasses import dataclass

MIB = 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxLimits:
    """The bounds of one test; all sizes in bytes, all times in seconds.

    Example: ``SandboxLimits(wall_seconds=2.0, memory_bytes=256 * 2**20)``.
    """

    cpu_seconds: float = 10.0
    """CPU time of each process (RLIMIT_CPU, rounded up to whole seconds)."""
    wall_seconds: float = 10.0
    """Time from start to end; children and threads included."""
    memory_bytes: int = 512 * MIB
    """Resident memory and scratch files, summed over the test and all its children."""
    output_bytes: int = 8 * MIB
    """Standard output. Of standard error the last 64 KiB are kept, whatever its length."""
    file_bytes: int = 64 * MIB
    """The scratch directory (``/tmp``), standard input included; also the largest single file."""
    processes: int = 32
    """Processes and threads of one test, the first included."""

    def __post_init__(self) -> None:
        for name in ("cpu_seconds", "wall_seconds", "memory_bytes", "output_bytes", "file_bytes", "processes"):
            if not getattr(self, name) > 0:
                raise ValueError(f"Limits.{name} must be positive, got {getattr(self, name)!r}")
