"""Which changes of a recipe make another run of it: the questions that it names count, and not the names of what makes them."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from podium.errors import CheckpointError, ConfigError
from podium.gym import World
from podium.recipes import gym
from podium.recipes.gym_wordings import other_questions, other_wordings
from podium.training.checkpoint import RunFolder
from podium.training.config import TrainConfig
from podium.training.recipe import fingerprint
from podium.types import Problem
from tests.training.gym_runs import WARM_START, small_config

SOME = World().problems(n=8, seed=5)
LESS = SOME[:-1]
OTHER_KIND = [replace(SOME[0], kind="elsewhere"), *SOME[1:]]


def _held(questions: list[Problem]) -> TrainConfig:
    return replace(small_config(), held_reading=lambda: questions)


def _read(questions: list[Problem], **warm: Any) -> TrainConfig:
    return replace(small_config(), warm_start=replace(WARM_START, also_read=lambda: questions, reading=4, **warm))


@pytest.mark.parametrize("made", [_held, _read])
def test_other_questions_make_another_run(made: Callable[[list[Problem]], TrainConfig], tmp_path: Path) -> None:
    first = fingerprint(made(SOME))
    assert fingerprint(made(list(SOME))) == first
    for changed in (LESS, OTHER_KIND, []):
        assert fingerprint(made(changed)) != first
    RunFolder(tmp_path, first)
    with pytest.raises(CheckpointError, match="another recipe"):
        RunFolder(tmp_path, fingerprint(made(LESS)))


def test_what_a_question_was_made_from_counts_where_questions_are_mixed() -> None:
    alike, apart = (_read(SOME, mixed=0.5, template=template) for template in (lambda _: "one", lambda problem: problem.question))
    assert fingerprint(alike)["warm_start"]["also_read"] != fingerprint(apart)["warm_start"]["also_read"]


def test_a_run_of_before_there_were_such_settings_goes_on(tmp_path: Path) -> None:
    described = fingerprint(small_config())
    assert "held_reading" not in described
    assert "also_read" not in described["warm_start"]
    RunFolder(tmp_path, described)
    RunFolder(tmp_path, fingerprint(_held([])))


def _first(n: int) -> list[Problem]:
    return SOME[:n]


class _Written:
    def __call__(self, *asked: Any) -> Any:
        return WARM_START.write(*asked)


def test_whatever_can_be_called_may_be_named_in_a_recipe() -> None:
    held = replace(small_config(), held_reading=partial(_first, 3))
    assert fingerprint(held) != fingerprint(replace(held, held_reading=partial(_first, 4)))
    written = [
        replace(small_config(), warm_start=replace(WARM_START, write=write)) for write in (partial(WARM_START.write), _Written())
    ]
    described = [fingerprint(config) for config in written]
    assert json.loads(json.dumps(described)) == described
    assert described[0] != described[1]


def test_what_makes_no_problems_is_refused() -> None:
    with pytest.raises(ConfigError, match="held_reading has to make"):
        fingerprint(replace(small_config(), held_reading=lambda: ["How many?"]))  # type: ignore[list-item]
    with pytest.raises(ConfigError, match="also_read has to make"):
        fingerprint(_read(["How many?"]))  # type: ignore[list-item]


def test_the_gyms_recipe_reads_and_holds_other_wordings_and_those_measured_before_do_not() -> None:
    config = gym.config(0)
    assert config.warm_start is not None
    other = other_questions(5000, seed=7)
    assert config.warm_start.also_read() == other
    held = config.held_reading()
    assert held[-len(other) :] == other
    assert {problem.kind for problem in held[: -len(other)]} == {"story", "choice", "knowledge", "code", "bundle", "versus"}
    assert len({problem.source for problem in other}) == len(other_wordings())
    for recipe in (gym.plain, gym.adaptive):
        before = recipe(0)
        assert before.warm_start is not None
        assert [*before.held_reading(), *before.warm_start.also_read()] == []
    assert [*gym.short(0).held_reading(), *gym.recursive(0).held_reading()] == []
