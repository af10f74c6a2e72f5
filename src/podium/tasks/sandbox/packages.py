"""Third-party packages that programs may import: those that were asked for by name, and what these need themselves.

Only their own files and folders are mounted, read-only and beside each other, so that nothing else of the folder that they are
installed in can be seen: not Podium, not what was installed next to them. They come from the environment in which Podium runs.
"""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from podium.errors import ConfigError

SETTING = "PODIUM_SANDBOX_PACKAGES"
HOW = f"install it where Podium runs, and name it in the environment variable {SETTING} (names with commas between)"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_NEVER = "podium"


@dataclass(frozen=True, slots=True, kw_only=True)
class Packages:
    """What is mounted. Example: ``installed(["numpy"]).versions == ("numpy 2.4.6",)``."""

    versions: tuple[str, ...] = ()
    paths: tuple[Path, ...] = ()
    """Files and folders that lie beside each other in the sandbox."""

    def closed_to_others(self) -> Path | None:
        """The first of ``paths`` that a user of a sandbox's own may not reach, where Podium runs as root."""
        for path in self.paths:
            if any(not folder.stat().st_mode & 0o001 for folder in path.parents) or not path.stat().st_mode & 0o004:
                return path
        return None


def named_in(environment: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """The names in the setting. Example: ``named_in({"PODIUM_SANDBOX_PACKAGES": "numpy, pandas"}.items())``."""
    return tuple(name.strip() for name in dict(environment).get(SETTING, "").split(",") if name.strip())


def installed(names: Iterable[str]) -> Packages:
    """The packages called ``names`` and what they need. Raises :class:`ConfigError` for one that can not be brought along."""
    wanted, asked, found = list(names), set(names), dict[str, Distribution]()
    for name in wanted:
        plain = re.sub(r"[-_.]+", "-", name).lower()
        if plain == _NEVER:
            raise ConfigError("podium can not be brought into the sandbox: programs could read how they are judged")
        if plain in found:
            continue
        try:
            found[plain] = distribution(name)
        except (PackageNotFoundError, ValueError):
            if name in asked:
                raise ConfigError(f"{name!r} can not be brought into the sandbox: it is not installed; {HOW}") from None
            continue  # needed on another system, or of another Python: what was asked for was installed without it
        wanted += [need for line in found[plain].requires or () if "extra ==" not in line and (need := _needed(line))]
    paths = [path for name, each in found.items() for path in _places(name, each)]
    return Packages(versions=tuple(sorted(f"{name} {each.version}" for name, each in found.items())), paths=tuple(paths))


def _needed(requirement: str) -> str:
    match = _NAME.match(requirement)
    return "" if match is None else match.group()


def _places(name: str, found: Distribution) -> list[Path]:
    """The files and folders of a package in the folder that it is installed in; not its commands, which lie elsewhere."""
    tops = {file.parts[0] for file in found.files or () if not file.is_absolute()} - {"..", "__pycache__"}
    root = Path(os.path.realpath(str(found.locate_file(""))))
    places = [root / top for top in sorted(tops) if not top.endswith(".pth") and (root / top).exists()]
    if not any(place.suffix != ".dist-info" for place in places):
        raise ConfigError(f"{name!r} can not be brought into the sandbox: it is not installed as files of its own (editable?)")
    return places
