"""Real agents, as their makers ship them, against ``podium serve``: ``python -m benchmarks.clients``."""
