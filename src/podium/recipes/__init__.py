"""Recipes that come with the package: what was run, as code. A recipe is a function ``(seed) -> TrainConfig``."""
