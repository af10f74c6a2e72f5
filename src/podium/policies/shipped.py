"""The trained Conductors that come with the package: ``podium/conductors/NAME``, each with the recipe, the curves and the
evaluation that made it. They conduct the gym's specialists and nobody else.
"""

from importlib import resources
from pathlib import Path

from podium.errors import ConfigError


def shipped() -> dict[str, Path]:
    """Name -> folder, for :meth:`podium.policies.local.LocalPolicy.load`. Example: ``shipped()["gym"]``."""
    folder = Path(str(resources.files("podium") / "conductors"))
    return {file.parent.name: file.parent for file in sorted(folder.glob("*/podium.json"))}


def conductor_folder(name: str) -> Path:
    """The folder of the shipped Conductor ``name``, or the folder at that path. Raises :class:`ConfigError`."""
    known = shipped()
    if name in known:
        return known[name]
    if not Path(name).is_dir():
        raise ConfigError(f"there is no trained Conductor {name!r}; a run's policy folder, or one of {', '.join(known)}")
    return Path(name)
