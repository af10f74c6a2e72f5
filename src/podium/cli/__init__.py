"""The command line: the only place that wires everything. One file per command; ``app.py`` declares their flags."""

from podium.cli.app import main

__all__ = ["main"]
