"""Which problems a study or a check asks: of the gym, of a file, or of a public benchmark."""

from dataclasses import field
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from podium.errors import ConfigError
from podium.gym.world import KINDS, UNTRAINED_KINDS, Split, World
from podium.tasks.benchmarks.registry import load
from podium.tasks.datasets import load_replay_problems, read_questions
from podium.tasks.instructions import instructed
from podium.types import Problem

GymKind = str
ALL_KINDS = (*KINDS, *UNTRAINED_KINDS)
