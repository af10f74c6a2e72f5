"""``tuned:FOLDER``: workflows that ``podium tune`` found for one's own pool, one for each kind of question.

``tuned:FOLDER:allow-missing`` does without workers that the pool has not.
"""

from pathlib import Path

from podium.errors import ConfigError
from podium.extras import need
from podium.policies.named import NamedPolicy, PolicyRequest, PolicySetup
from podium.registry import register

ALLOW_MISSING = ":allow-missing"


def _tuned(asked_for: PolicyRequest) -> PolicySetup:
    argument = asked_for.spec.argument or ""
    folder = argument.removesuffix(ALLOW_MISSING)
    if not folder:
        raise ConfigError("name the folder of a policy that was tuned for this pool: tuned:FOLDER (see: podium tune --help)")
    need("stats")
    from podium.policies.tuned_followed import FollowedPolicy  # scikit-learn takes a second to load
    from podium.policies.tuned_policy import tuned_setup

    policy = FollowedPolicy(Path(folder), asked_for.workers.names, allow_missing=folder != argument)
    return tuned_setup(policy, asked_for.workers, policy.max_steps, policy.answering)


register("policies", "tuned")(
    NamedPolicy(
        form="tuned:FOLDER[:allow-missing]",
        about="workflows that podium tune found for this pool, one per kind of question",
        make=_tuned,
        knows_workers_by_number=True,
    )
)
