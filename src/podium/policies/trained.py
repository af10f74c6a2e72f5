"""``trained:FOLDER``: a small local model that learned to conduct, from a run's policy folder or shipped with the package."""

from typing import TYPE_CHECKING

from podium.errors import ConfigError
from podium.extras import need
from podium.policies.named import NamedPolicy, PolicyRequest, PolicySetup
from podium.policies.shipped import check_workers, conductor_folder, one_round
from podium.registry import register

if TYPE_CHECKING:
    from podium.policies.local import LocalPolicy


def load_trained(name: str, temperature: float = 0.0) -> "LocalPolicy":
    """The shipped Conductor ``name``, or the one in the folder at that path. Raises :class:`ConfigError`."""
    need("train")
    from podium.policies.local import LocalPolicy  # torch, which the core does without

    return LocalPolicy.load(conductor_folder(name), temperature=temperature, seed=0)


def _trained(asked: PolicyRequest) -> PolicySetup:
    if not asked.spec.argument:
        raise ConfigError(
            "name the folder of a policy that was trained for this pool (trained:runs/NAME/seed-0/policy), or take another "
            "policy, such as chat"
        )
    folder = conductor_folder(asked.spec.argument)
    check_workers(folder, asked.workers.names)
    local = load_trained(asked.spec.argument)
    return PolicySetup(
        policy=local, workers=asked.workers, max_steps=asked.steps, syntax=local.dialect.syntax, one_round=one_round(folder)
    )


register("policies", "trained")(
    NamedPolicy(
        form="trained:FOLDER",
        about="a Conductor trained by reinforcement, from a run's policy folder",
        make=_trained,
        knows_workers_by_number=True,
    )
)
