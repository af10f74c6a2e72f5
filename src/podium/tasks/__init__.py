"""WHAT is asked, and what counts as right."""

from podium.tasks.benchmarks.registry import BENCHMARKS, load

__all__ = ["BENCHMARKS", "load"]
