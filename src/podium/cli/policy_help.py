"""The help of commands that take a policy or a database: it lists what is registered, installed packages included."""

from typing import Any

from typer.core import TyperCommand, TyperOption

from podium.errors import ConfigError


class PolicyHelp(TyperCommand):
    """A command whose ``--policy``, ``--arm`` and ``--db`` show what there is. It is loaded only when help is asked for."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """As ever, with the policies and the databases that packages add."""
        for option in self.params:
            if isinstance(option, TyperOption) and option.name in ("policy", "arm"):
                option.help = f"{option.help} Policies: {_policies()}"
            elif isinstance(option, TyperOption) and option.name == "db":
                option.help = f"{option.help}{_stores()}"
        super().format_help(ctx, formatter)


def _policies() -> str:
    from podium.policies.catalogue import named_policies

    try:
        return ", ".join(one.form for one in named_policies().values()) + "; of the built-in pool also best and untrained."
    except ConfigError as error:
        return f"can not be listed: {error}."


def _stores() -> str:
    from podium.serving.store.kinds import added_kinds

    try:
        return "".join(f", {kind.form} ({kind.about})" for kind in added_kinds().values())
    except ConfigError as error:
        return f"; others can not be listed: {error}."
