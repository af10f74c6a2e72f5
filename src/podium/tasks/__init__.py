"""WHAT is asked, and what counts as right."""

from podium.tasks.benchmarks.registry import all_benchmarks, load

__all__ = ["all_benchmarks", "load"]
