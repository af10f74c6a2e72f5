"""``podium reproduce``: what it lists is there."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from podium.cli.app import app
from podium.recipes.counterparts import COUNTERPARTS
from podium.studies.spec import is_gym_check, read_study
from podium.training.run import load_recipe

ROOT = Path(__file__).parents[2]
COMMANDS = sorted({command for each in COUNTERPARTS for command in each.commands})


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_names_something_that_loads(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    _, verb, what, *_ = command.split()
    if verb == "train":
        assert load_recipe(what, 0).iterations > 0
    elif not is_gym_check(Path(what)):
        assert read_study(Path(what)).problems.problems()


def test_dollars_are_those_of_the_price_list() -> None:
    result = CliRunner().invoke(app, ["reproduce", "--json"])
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert 0.005 < found["usd_per_question"] < 0.05
    run = next(each for each in found["counterparts"] if each["questions"] == 51_200)
    assert run["live_usd"] == pytest.approx(51_200 * found["usd_per_question"])


def test_the_list_is_readable() -> None:
    result = CliRunner().invoke(app, ["reproduce", "--list"])
    assert result.exit_code == 0
    assert "substituted" in result.output
