"""The help of commands that take a policy: its ``--help`` lists what is registered, installed packages included."""

from typing import Any

from typer.core import TyperCommand, TyperOption

from podium.errors import ConfigError


class PolicyHelp(TyperCommand):
    """A command whose ``--policy`` or ``--arm`` shows every policy there is. They are loaded only when help is asked for."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """As ever, with the policies."""
        for option in self.params:
            if isinstance(option, TyperOption) and option.name in ("policy", "arm"):
                option.help = f"{option.help} Policies: {_policies()}"
        super().format_help(ctx, formatter)


def _policies() -> str:
    from podium.policies.catalogue import named_policies

    try:
        return ", ".join(one.form for one in named_policies().values()) + "; of the built-in pool also best and untrained."
    except ConfigError as error:
        return f"can not be listed: {error}."
