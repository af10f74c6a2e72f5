"""``conductor``: a pool and the name of a policy -> a Conductor."""

from pathlib import Path

from podium.conditions import ALWAYS, read_condition
from podium.conduct import Conductor
from podium.errors import ConfigError
from podium.policies.catalogue import make_policy
from podium.policies.named import PolicyRequest, PolicySetup, SetsUp
from podium.policies.spec import MOST_ROUNDS, PolicySpec, parse_policy
from podium.pools.opened import OpenPool
from podium.protocols import Policy

AUTO = "auto"


def conductor(
    pool: OpenPool, policy: str | Policy | Path = AUTO, *, rounds: int = 1, max_steps: int | None = None, again: str = ""
) -> Conductor:
    """The Conductor of ``pool`` whose workflows ``policy`` writes.

    ``policy`` is a string as on the command line (``"auto"``: the pool's own choice), the folder of a trained policy, or any
    :class:`podium.protocols.Policy`. ``rounds`` is how often it may look at its answer and plan anew, where the string does
    not say (``"chat@2"``); ``again`` is the condition of a further one (``"unless 2 agree"``), by default what the pool file
    says, else always. ``max_steps`` bounds workflows that a policy chooses itself; baselines bring their own number.

    Example: ``await conductor(pool, "chat").ask("Why is the sky blue?")``. Raises :class:`ConfigError`.
    """
    if isinstance(policy, Path):
        spec = PolicySpec(kind="trained", argument=str(policy))
    elif isinstance(policy, str):
        spec = parse_policy(pool.default_policy if policy == AUTO else policy)
    elif isinstance(policy, SetsUp):
        return _conducting(policy.setup(pool.workers), rounds, _condition(again, pool))
    else:
        request = PolicyRequest(spec=PolicySpec(kind=""), workers=pool.workers, conductor=pool.conductor, max_steps=max_steps)
        return Conductor(policy, pool.workers, rounds=rounds, max_steps=request.steps, again=_condition(again, pool))
    request = PolicyRequest(spec=spec, workers=pool.workers, conductor=pool.conductor, max_steps=max_steps)
    made = make_policy(request, pool.policies)
    own = rounds if spec.rounds is None else spec.rounds
    if spec.rounds is not None and not 1 <= own <= MOST_ROUNDS:
        raise ConfigError(f"policy '{spec}': what stands behind @ is a number of rounds, 1 to {MOST_ROUNDS}")
    if own > 1 and made.one_round:
        raise ConfigError(made.one_round)
    return _conducting(made, own, _condition(again, pool))


def _conducting(made: PolicySetup, rounds: int, again: str) -> Conductor:
    return Conductor(
        made.policy,
        made.workers,
        rounds=max(rounds, made.rounds),
        max_steps=made.max_steps,
        syntax=made.syntax,
        answering=made.answering,
        again=again,
    )


def plans_anew(pool: OpenPool, policy: str) -> bool:
    """Whether ``policy`` can look at an answer of its own and plan anew. Raises :class:`ConfigError`."""
    request = PolicyRequest(spec=parse_policy(policy), workers=pool.workers, conductor=pool.conductor)
    return not make_policy(request, pool.policies).one_round


def _condition(again: str, pool: OpenPool) -> str:
    text = again or (ALWAYS if pool.conductor is None else pool.conductor.again)
    try:
        return str(read_condition(text))
    except ValueError as error:
        raise ConfigError(f"again: {text[:60]!r} is no condition: {error}") from None
