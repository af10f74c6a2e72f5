"""Every policy that can be called by name, and how one is made for a pool."""

import difflib
from collections.abc import Mapping
from types import MappingProxyType

from podium.errors import ConfigError
from podium.policies import chat, fixed, learned, prompted, rules, tested, trained, tuned
from podium.policies.ablated import AblatedPolicy, change_named
from podium.policies.named import NamedPolicy, PolicyRequest, PolicySetup
from podium.registry import registered

BUILT_IN = (chat, fixed, learned, prompted, rules, tested, trained, tuned)
"""Modules that register the policies of this package when they are imported."""


def named_policies(own: Mapping[str, NamedPolicy] = MappingProxyType({})) -> dict[str, NamedPolicy]:
    """Every policy by name; a pool's ``own`` stand before those that are there for every pool."""
    return {**registered("policies", NamedPolicy), **own}


def make_policy(asked: PolicyRequest, own: Mapping[str, NamedPolicy] = MappingProxyType({})) -> PolicySetup:
    """The policy of ``asked.spec``, with a part of its workflows replaced where the string says so.

    Raises :class:`ConfigError`.
    """
    known, kind = named_policies(own), asked.spec.kind
    if kind not in known:
        near = difflib.get_close_matches(kind, known, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        width = max(len(one.form) for one in known.values())
        forms = "".join(f"\n  {one.form:{width}}  {one.about}" for one in known.values())
        raise ConfigError(f"there is no policy {asked.spec.policy!r} for this pool{hint}\nThere are:{forms}")
    made = known[kind].make(asked)
    if not asked.spec.change:
        return made
    change = change_named(asked.spec.change, made.workers.names)
    policy = AblatedPolicy(made.policy, made.syntax, change)
    return PolicySetup(policy=policy, workers=made.workers, max_steps=made.max_steps, syntax=policy.syntax)
