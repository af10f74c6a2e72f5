"""Policy strings, parsed in one place: ``KIND[:ARGUMENT][+CHANGE][@ROUNDS]``, as in ``trained:runs/gym/seed-0/policy@2``."""

from dataclasses import dataclass

MOST_ROUNDS = 20
"""How often a Conductor may look at its answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicySpec:
    """A policy as people name it. Example: ``parse_policy("chat:strong+access=all@2")``."""

    kind: str
    """A registered name: ``trained``, ``chat``, ``solo``, ..."""
    argument: str = ""
    """What follows the first colon: a worker's name, a folder, a method."""
    change: str = ""
    """The part of its workflows that is replaced (:mod:`podium.policies.ablated`); "" for none."""
    rounds: int | None = None
    """How often it may look at its answer; None where the string does not say."""

    @property
    def policy(self) -> str:
        """The string without its rounds."""
        argument = f":{self.argument}" if self.argument else ""
        change = f"+{self.change}" if self.change else ""
        return f"{self.kind}{argument}{change}"

    def __str__(self) -> str:
        return self.policy if self.rounds is None else f"{self.policy}@{self.rounds}"


def parse_policy(text: str) -> PolicySpec:
    """The parts of a policy string. Any text has parts; whether there is such a policy is for who looks it up to say."""
    policy, at, number = text.rpartition("@")
    rounds = int(number) if at and number.isdecimal() else None
    base, _, change = (text if rounds is None else policy).partition("+")
    kind, _, argument = base.partition(":")
    return PolicySpec(kind=kind, argument=argument, change=change, rounds=rounds)
