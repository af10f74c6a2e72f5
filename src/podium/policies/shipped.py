"""The trained Conductors that come with the package: ``podium/conductors/NAME``, each with the recipe, the curves and the
evaluation that made it. They conduct the gym's specialists and no other workers.

A Conductor that was trained without cards knows its workers by their numbers: asked to conduct others it would still write
workflows, about somebody else.
"""

import json
from importlib import resources
from pathlib import Path

from podium.errors import CheckpointError, ConfigError


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


def check_workers(folder: Path, names: tuple[str, ...]) -> None:
    """Whether the Conductor in ``folder`` knows the workers called ``names``. Raises :class:`ConfigError` where it does not.

    The recipe beside it, or beside its run, names those it was trained with. One that was taught to read cards conducts any
    workers, and so, for all that is known, does one without a recipe.
    """
    path = _recipe_of(folder)
    if path is None:
        return
    try:
        pool = json.loads(path.read_text(encoding="utf-8"))["pool"]
        known = tuple(pool["names"] if isinstance(pool, dict) else pool)  # those of Podium 0.1 hold the names only
        reads_cards = bool(json.loads((folder / "podium.json").read_text(encoding="utf-8"))["language"]["cards"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CheckpointError(f"{folder} holds no policy of a training run ({path.name}: {error})") from error
    if not reads_cards and known != names:
        raise ConfigError(
            f"the Conductor in {folder.name!r} was trained to conduct {', '.join(known)}, whom it knows by their numbers, and "
            f"not {', '.join(names)}; take another policy, such as chat, or train one with this pool"
        )


def one_round(folder: Path) -> str:
    """Why the Conductor in ``folder`` is for one round only: its recipe has no second ones. Empty where it is not.

    A published model that was trained on may do without having been taught.
    """
    path = _recipe_of(folder)
    recipe = {} if path is None else json.loads(path.read_text(encoding="utf-8"))
    if path is None or recipe.get("recursive") or recipe.get("pretrained"):
        return ""
    return (
        f"the Conductor in {folder.name!r} never learned to look at its answer and plan anew: ask it for one round, take one "
        "that does (in the gym --policy trained:gym-recursive --rounds 2), or train one (podium train recipes/gym.py:recursive)"
    )


def _recipe_of(folder: Path) -> Path | None:
    """The recipe beside a policy, or beside its run."""
    return next((path for path in (folder / "recipe.json", folder.parent / "recipe.json") if path.is_file()), None)
