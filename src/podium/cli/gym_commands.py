"""``podium gym problems | serve``: the offline world from outside."""

from typing import Annotated

import typer

from podium.cli.forward import carried_out_by

gym_app = typer.Typer(no_args_is_help=True, help="The offline world: problems, rule-based workers, a test server.")


@gym_app.command("problems")
@carried_out_by("podium.cli.gym:print_problems")
def gym_problems(
    n: Annotated[int, typer.Option("-n", min=1, help="How many.")] = 6,
    split: Annotated[str, typer.Option(help="train, held_out_numbers or held_out_templates.")] = "held_out_numbers",
    seed: Annotated[int, typer.Option(help="Another seed, other problems.")] = 0,
    kind: Annotated[list[str] | None, typer.Option(help="Only problems of this kind; repeat it.")] = None,
) -> None:
    """Print gym problems as JSON lines, ready for `podium ask --file`."""


@gym_app.command("serve")
@carried_out_by("podium.cli.gym:serve_gym")
def gym_serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 8377,
    faults: Annotated[float, typer.Option(min=0.0, max=1.0, help="Share of requests that meet a fault.")] = 0.0,
    latency: Annotated[float, typer.Option(min=0.0, help="1 makes workers as slow as their cards say.")] = 0.0,
    seed: Annotated[int, typer.Option(help="Of world and faults.")] = 0,
) -> None:
    """Serve the gym's specialists as an OpenAI-compatible API, with faults if wanted."""
