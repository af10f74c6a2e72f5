"""Podium: one better, cheaper endpoint over several LLMs. An open implementation of the RL Conductor (arXiv 2512.04388)."""

__version__ = "0.1.0"
