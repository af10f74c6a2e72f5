"""``podium train`` and what is made of its runs: estimates before anything is paid, resumed runs, a check, a policy to ask."""

import asyncio
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner, Result

from podium.charts import curve
from podium.cli.app import app
from podium.cli.training_view import TrainingView
from podium.gym import World
from podium.policies.local import LocalPolicy
from podium.training.estimate import estimate
from podium.training.monitor import Iteration, measured
from podium.types import Brief, ask
from tests.training.gym_runs import gym_pool, small_config

RECIPE = """
from dataclasses import replace
from podium.types import Brief, ask
from tests.training.gym_runs import gym_pool, small_config

def config(seed):
    small = small_config(iterations=3, seed=seed)
    return replace(small, name="small")

def longer(seed):
    return replace(config(seed), iterations=5)

def broken(seed):
    return 1 / 0

def other(seed):
    return {"name": "no config"}
"""


def podium(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


@pytest.fixture
def recipe(tmp_path: Path) -> str:
    path = tmp_path / "recipe.py"
    path.write_text(RECIPE)
    return str(path)


def test_train_writes_a_policy_that_can_be_asked(recipe: str, tmp_path: Path) -> None:
    out = tmp_path / "runs"
    result = podium("train", recipe, "--out", str(out), "--json")
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout.splitlines()[-1])
    assert report["last"]["iteration"] == 2
    folder = out / "seed-0"
    assert {"policy", "start", "state", "metrics.jsonl", "groups.jsonl", "recipe.json", "curves.svg", "calls.db"} <= {
        file.name for file in folder.iterdir()
    }
    assert "iteration 3 of 3" in result.stderr
    [problem] = World().problems(kinds=("choice",), n=1)
    brief = Brief(question=ask(problem.question), cards=gym_pool().cards)
    [written] = asyncio.run(LocalPolicy.load(folder / "policy").write(brief))
    assert written.policy_version == "small, seed 0, 3 iterations"
    asked = podium("ask", problem.question, "--policy", f"trained:{folder / 'policy'}", "--json")
    assert asked.exit_code == 2
    assert "was trained to conduct" in asked.output, "the built-in pool has more workers than the run had"


def test_the_same_command_goes_on_where_the_run_was_stopped(recipe: str, tmp_path: Path) -> None:
    out = tmp_path / "runs"
    stopped = podium("train", recipe, "--out", str(out), "--max-usd", "0.002")
    assert stopped.exit_code == 2
    assert "BudgetExceeded" in stopped.output
    done = len((out / "seed-0" / "metrics.jsonl").read_text().splitlines()) if (out / "seed-0" / "metrics.jsonl").exists() else 0
    assert done < 3
    assert podium("train", recipe, "--out", str(out)).exit_code == 0
    assert [json.loads(line)["iteration"] for line in (out / "seed-0" / "metrics.jsonl").read_text().splitlines()] == [0, 1, 2]


def test_another_recipe_does_not_go_on_in_the_same_folder(recipe: str, tmp_path: Path) -> None:
    out = tmp_path / "runs"
    assert podium("train", recipe, "--out", str(out), "--warm-start").exit_code == 0
    result = podium("train", f"{recipe}:longer", "--out", str(out))
    assert result.exit_code == 2
    assert "different: iterations" in " ".join(result.output.split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{dir}/none.py"], "there is no recipe"),
        (["{recipe}:none"], "fails: AttributeError"),
        (["{recipe}:broken"], "ZeroDivisionError"),
        (["{recipe}:other"], "not a TrainConfig"),
        (["{recipe}", "--max-usd", "0"], "allows no call"),
        (["{recipe}", "--seeds", "0"], "greater than or equal to 1"),
    ],
)
def test_bad_input_is_said(arguments: list[str], message: str, recipe: str, tmp_path: Path) -> None:
    result = podium("train", *(argument.format(dir=tmp_path, recipe=recipe) for argument in arguments), "--out", str(tmp_path))
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())
    assert "Traceback" not in result.output


def test_an_estimate_calls_nobody_and_names_what_it_assumes(recipe: str, tmp_path: Path) -> None:
    result = podium("train", recipe, "--estimate", "--json", "--out", str(tmp_path / "runs"))
    found = json.loads(result.stdout)
    assert found["rollouts"] == 3 * 8 * 12
    assert found["calls"] < found["calls_at_most"] == 3 * 8 * 12 * 5
    assert 0 < found["cost_usd"] < found["cost_usd_at_most"]
    assert found["assumptions"]
    assert not (tmp_path / "runs").exists()


def test_an_unknown_price_makes_the_estimate_unknown_not_small() -> None:
    cards = gym_pool().cards
    found = estimate(small_config(), [*cards[:2], replace(cards[2], prompt_usd=None)])
    assert found.cost_usd is None
    assert found.cost_usd_at_most is None
    assert "unknown" in found.as_text()


def test_second_rounds_are_part_of_the_estimate() -> None:
    config, cards = small_config(), gym_pool().cards
    once = estimate(config, cards).calls
    assert estimate(replace(config, recursive=0.5), cards).calls == pytest.approx(1.5 * once, abs=1)


def iteration(number: int) -> Iteration:
    seen = measured(number, [], seconds={"collect": 20.0, "learn": 40.0})
    return replace(seen, correct=number / 10, steps_by_kind={"[red]k": 1.0}, correct_by_kind={"[red]k": 0.5})


def test_the_view_shows_what_is_left_and_never_reads_markup() -> None:
    config = small_config(iterations=10)
    terminal = Console(file=io.StringIO(), force_terminal=True, width=100, color_system=None)
    with TrainingView(terminal, config) as view:
        for number in range(4, 8):
            view.show(iteration(number), [])
        terminal.print(view)
    shown = terminal.file.getvalue()  # type: ignore[attr-defined]
    assert "iteration 8 of 10" in shown
    assert "2 min left" in shown  # iterations of a minute, however long the start took
    assert "[red]k" in shown
    assert "worker entropy" in shown


def test_without_a_terminal_it_prints_lines() -> None:
    console = Console(file=io.StringIO(), width=300)
    with TrainingView(console, small_config(iterations=40)) as view:
        for number in range(40):
            view.show(iteration(number), [])
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert len(lines) == 10 + 6
    assert lines[-1].startswith("iteration 40 of 40")


def test_a_curve_is_as_long_as_it_can_be_and_stays_in_its_blocks() -> None:
    assert curve([0, 0.5, 1]) == "▁▅█"
    assert len(curve([0.1] * 500)) == 30
    assert curve([]) == ""
    assert curve([-1, 2]) == "▁█"
