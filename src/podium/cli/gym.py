"""``podium gym problems`` and ``podium gym serve``."""

import asyncio
import json
from contextlib import suppress

from podium.gym.kinds import KINDS
from podium.gym.specialists import specialists
from podium.gym.world import World, split_named


def print_problems(*, n: int, split: str, seed: int, kind: list[str] | None) -> None:
    """Print ``n`` problems, one JSON line each. Raises :class:`ConfigError`."""
    for problem in World().problems(kinds=kind or KINDS, split=split_named(split), n=n, seed=seed):
        line = {"question": problem.question, "target": problem.target, "kind": problem.kind}
        print(json.dumps(line))  # noqa: T201 - the command's output


async def serve_gym(*, host: str, port: int, faults: float, latency: float, seed: int) -> None:
    """Serve until interrupted. Raises :class:`ConfigError` where the address is taken."""
    from podium.gym.server import make_app, serve

    workers = specialists(World(seed=seed))

    def on_ready(url: str) -> None:
        names = ", ".join(worker.card.name for worker in workers)
        print(f"serving {names} at {url}/v1 (figures at {url}/stats); stop with Ctrl-C", flush=True)  # noqa: T201

    app = make_app(workers, faults=faults, seed=seed, latency_scale=latency)
    with suppress(asyncio.CancelledError):  # Ctrl-C is how a server is meant to end
        await serve(app, host=host, port=port, on_ready=on_ready)
