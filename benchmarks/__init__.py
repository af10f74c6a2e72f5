"""Benchmarks: ``python -m benchmarks.NAME``; each prints its figures as one JSON object in its last line."""
