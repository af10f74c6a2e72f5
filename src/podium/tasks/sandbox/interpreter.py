"""Which files a Python needs to start inside: its executable, its standard library, the system's shared libraries.

They are mounted read-only where they are on the host, so that the interpreter finds itself, and nothing else of the host
is: no programs, no settings, no third-party packages but those that were asked for (:mod:`podium.tasks.sandbox.packages`). The
code of ``inside/`` travels compiled, as data.
"""

import importlib.util
import marshal
import os
import sys
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from podium.errors import SandboxError
from podium.tasks.sandbox import inside

SHARED_LIBRARIES = ("/usr/lib", "/usr/lib64", "/lib", "/lib64")
CODE = "/podium"
PACKAGES = "/packages"
START = "import sys; sys.path.insert(0, sys.argv[3]); from podium.tasks.sandbox.inside.server import main; main()"


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpreter:
    """The Python that runs candidates: the one that runs the judge, without its virtual environment.

    Example: ``this_interpreter().executable == "/usr/bin/python3.11"``.
    """

    executable: str
    paths: tuple[str, ...]
    """What must be mounted: files and folders of Python itself."""
    links: tuple[tuple[str, str], ...]
    """(target, place) of the system's own symbolic links, e.g. ("usr/lib", "/lib")."""
    libraries: tuple[str, ...]

    def arguments(self, control: int, scratch: str, code: str, packages: str | None) -> list[str]:
        """The command that starts the fork server on descriptor ``control``; ``packages`` is the folder that has some."""
        more = [] if packages is None else [packages]
        return [self.executable, "-I", "-S", "-X", "utf8", "-c", START, str(control), scratch, code, *more]

    def hidden_by(self) -> str | None:
        """The topmost folder above the interpreter that only its owner may enter, such as /root; None where there is none."""
        for path in self.paths:
            for folder in reversed(Path(path).parents):
                if not folder.stat().st_mode & 0o001:
                    return str(folder)
        return None


@cache
def this_interpreter() -> Interpreter:
    """Raises :class:`SandboxError` where the running Python does not say where it is installed."""
    base = getattr(sys, "_base_executable", "") or sys.executable
    if not base:
        raise SandboxError("this Python does not know its own executable; start it by its path")
    executable = os.path.realpath(base)
    prefix = os.path.realpath(sys.base_prefix)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    folder, shared = (str(sysconfig.get_config_var(name) or "") for name in ("LIBDIR", "INSTSONAME"))
    libraries = tuple(path for path in SHARED_LIBRARIES if os.path.isdir(path) and not os.path.islink(path))
    wanted = dict.fromkeys((executable, os.path.join(prefix, "lib", version), os.path.join(prefix, sys.platlibdir, version)))
    if ".so" in shared:  # an interpreter without a shared library names its static one
        wanted[os.path.join(folder, shared)] = None
    mounted = tuple(f"{library}/" for library in libraries)
    paths = tuple(path for path in wanted if os.path.exists(path) and not path.startswith(mounted))
    links = tuple((os.readlink(path), path) for path in SHARED_LIBRARIES if os.path.islink(path))
    return Interpreter(executable=executable, paths=paths, links=links, libraries=libraries)


@cache
def inside_code() -> Mapping[str, bytes]:
    """The modules of ``inside/``, compiled: relative path -> content of a .pyc file."""
    folder = Path(inside.__file__).parent
    code = {}
    for name in ("server", "trial", "candidate", "frames"):
        source = (folder / f"{name}.py").read_bytes()
        compiled = compile(source, f"podium/{name}.py", "exec", dont_inherit=True)
        place = f"podium/tasks/sandbox/inside/{name}.pyc"
        code[place] = importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(compiled)
    return code
