"""``tuned:FOLDER``: workflows that ``podium tune`` found for one's own pool, one for each kind of question."""

from pathlib import Path

from podium.errors import ConfigError
from podium.extras import need
from podium.policies.named import NamedPolicy, PolicyRequest, PolicySetup
from podium.registry import register


def _tuned(asked_for: PolicyRequest) -> PolicySetup:
    if not asked_for.spec.argument:
        raise ConfigError("name the folder of a policy that was tuned for this pool: tuned:FOLDER (see: podium tune --help)")
    need("stats")
    from podium.policies.tuned_policy import TunedPolicy  # scikit-learn takes a second to load

    policy = TunedPolicy.load(Path(asked_for.spec.argument), asked_for.workers.names)
    return PolicySetup(policy=policy, workers=asked_for.workers, max_steps=max(policy.max_steps, 1))


register("policies", "tuned")(
    NamedPolicy(
        form="tuned:FOLDER",
        about="workflows that podium tune found for this pool, one per kind of question",
        make=_tuned,
        knows_workers_by_number=True,
    )
)
