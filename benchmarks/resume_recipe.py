"""The run that ``benchmarks.resume`` kills: 30 iterations of 32 rollouts over the gym, from the shipped untrained start."""

from dataclasses import replace

from podium.policies.shipped import conductor_folder
from podium.recipes.gym import config as gym
from podium.training.config import TrainConfig


def config(seed: int = 0) -> TrainConfig:
    """Everything the gym's recipe has, in little."""
    return replace(
        gym(seed),
        name="resume",
        start=conductor_folder("gym-start"),
        iterations=30,
        problems_per_step=4,
        group_size=8,
        recursive=0.25,
    )
