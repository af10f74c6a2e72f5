"""Tuning on recordings: the folder that comes out is a policy like any other, and says what it was chosen by."""

import asyncio
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from podium.cli.app import app
from podium.conditions import ALWAYS
from podium.errors import CheckpointError, ConfigError
from podium.policies.tuned_record import read_tuned
from podium.pools.conducting import conductor
from podium.pools.recorded import recorded_pool
from podium.tuning.few import shared_looks
from podium.tuning.frontier import CHOSEN, frontier_dots
from podium.tuning.recorded import TIMES, Sparing, tune_recorded
from podium.tuning.report import routing_figures
from tests.tuning.recordings import graded_folder, write_lines

USD = {"careful": 0.01, "quick": 0.0001, "wordy": 0.0001}


def podium(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "200"}).invoke(app, list(arguments))


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return graded_folder(tmp_path_factory.mktemp("graded"))


@pytest.fixture(scope="module")
def tuned(recordings: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("tuned") / "mine"
    result = podium("tune", "--replay", str(recordings), "--out", str(out), "--prefer", "accuracy")
    assert result.exit_code == 0, result.output
    assert "recorded answers; report:" in result.output
    return out


def test_every_kind_gets_who_is_right_there(tuned: Path) -> None:
    report = (tuned / "report.md").read_text(encoding="utf-8")
    assert "(Tuned 100.0 %, careful alone" in report
    assert "![Accuracy against price](frontier.svg)" in report
    assert (tuned / "frontier.svg").read_text(encoding="utf-8").startswith("<svg")


async def test_it_is_conducted_by_name_and_from_python(tuned: Path, recordings: Path) -> None:
    pool = recorded_pool(recordings)
    sums = await conductor(pool, f"tuned:{tuned}").ask("Add up the items of the bill with number 5?")
    assert sums.text == "Answer: 5"
    found = await tune_recorded(recordings, tuned.parent / "again")
    words = await conductor(pool, found.policy).ask("Which letter is missing in the poem called 10?")
    assert words.text == "Answer: 10"


def test_a_study_can_evaluate_it(tuned: Path, recordings: Path, tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    study.write_text(
        f'title = "t"\narms = ["worker:*", "tuned:{tuned}"]\ncompare = "tuned:{tuned}"\nout = "{tmp_path / "out"}"\n'
        f'[problems]\nreplay = "{recordings}"\n'
    )
    result = podium("evaluate", str(study), "--json")
    assert result.exit_code == 0, result.output
    arms = {row["arm"]: row for row in json.loads(result.stdout)["arms"]}
    assert arms[f"tuned:{tuned}"]["accuracy"] == 1.0


async def test_conditions_are_kept_and_stop(tmp_path: Path) -> None:
    """Three who err alone, one after the other: any two who agree are right, and nobody further is asked."""
    places = [{"dataset": "k", "id": n, "question": f"What is the code of room {n}, please?"} for n in range(90)]
    write_lines(tmp_path / "r" / "questions.jsonl.gz", places)
    for number, name in enumerate("abc"):
        lines = [
            {
                "dataset": "k",
                "id": n,
                "samples": [{"answer": f"{n}" if n % 3 != number else f"{name}?", "score": float(n % 3 != number)}],
            }
            for n in range(90)
        ]
        write_lines(tmp_path / "r" / "outputs" / f"{name}.jsonl.gz", lines)
    found = await tune_recorded(tmp_path / "r", tmp_path / "out", prefer="accuracy")
    record, _ = read_tuned(tmp_path / "out")
    assert any(step.condition != ALWAYS for one in record.workflows for step in one.steps)
    ours = found.tested[0]
    assert ours.share == 1.0
    assert not found.use_worker
    assert 2 < ours.steps < 3, "the third is asked only where the first two differ"


async def test_all_samples_are_learned_from(tmp_path: Path) -> None:
    """First answers are all right, so they do not tell whom to ask; the others of "lucky" are all wrong."""
    places = [{"dataset": "k", "id": n, "question": f"What is the code of room {n}, please?"} for n in range(60)]
    write_lines(tmp_path / "r" / "questions.jsonl.gz", places)
    for name, later in (("lucky", False), ("steady", True)):
        lines = [
            {
                "dataset": "k",
                "id": n,
                "samples": [
                    {"answer": f"{n}" if good else f"{name}?", "score": float(good)} for good in (True, *(later,) * (TIMES + 1))
                ],
            }
            for n in range(60)
        ]
        write_lines(tmp_path / "r" / "outputs" / f"{name}.jsonl.gz", lines)
    found = await tune_recorded(tmp_path / "r", tmp_path / "out", prefer="accuracy")
    assert found.best_worker == "steady"
    assert found.calls == TIMES * 2 * 45, "three quarters of the questions"
    assert found.tested[0].share == 1.0


async def test_few_answers_are_enough_to_see_who_is_worth_more(tmp_path: Path) -> None:
    """Seven workers, two of them never right; of 24 answers of a kind 14 are everybody's to two questions, 10 to two more."""
    write_lines(
        tmp_path / "r" / "questions.jsonl.gz",
        [
            {"dataset": kind, "id": n, "question": f"What {kind} has the number {n}?"}
            for kind in ("street", "song")
            for n in range(40)
        ],
    )
    for worker in range(7):
        lines = [
            {"dataset": kind, "id": n, "samples": [{"answer": f"{n}" if worker > 1 else "no", "score": float(worker > 1)}]}
            for kind in ("street", "song")
            for n in range(40)
        ]
        write_lines(tmp_path / "r" / "outputs" / f"w{worker}.jsonl.gz", lines)
    found = await tune_recorded(
        tmp_path / "r", tmp_path / "out", most_answers=24, sparing=Sparing(workers={"w0": 0.5, "w2": 0.0, "w3": 0.0})
    )
    assert found.calls == 2 * 24
    assert found.best_worker == "w2"
    assert found.record.workers == tuple(f"w{n}" for n in range(7))
    assert {step.worker for one in found.record.workflows for step in one.steps}.isdisjoint({"w0", "w1"})
    assert [arm.share for arm in found.tested] == [1.0, 1.0, 1.0]
    with pytest.raises(ConfigError, match="6 answers of a kind are less than one of each of the 7 workers"):
        await tune_recorded(tmp_path / "r", tmp_path / "out", most_answers=6)


@pytest.mark.parametrize(
    ("answers", "workers", "looks"), [(80, 10, (2, 14)), (80, 5, (16, 16)), (10, 10, (1, 1)), (19, 10, (1, 2)), (20, 10, (2, 2))]
)
def test_what_is_left_after_the_first_goes_to_the_best(answers: int, workers: int, looks: tuple[int, int]) -> None:
    assert shared_looks(answers, workers) == looks


async def test_dollars_decide_where_they_are_recorded(tmp_path: Path) -> None:
    """Forty questions of a kind are enough to see that quick is never wrong at sums, and wordy never at words."""
    folder = graded_folder(tmp_path / "priced", usd=USD)
    found = await tune_recorded(folder, tmp_path / "out", prefer="cheap")
    assert found.tested[0].usd == pytest.approx(0.0001)
    figures = routing_figures(found)
    assert figures is not None
    assert figures["cost_save"] == pytest.approx(0.99)
    assert figures["perf_gain"] == pytest.approx(1 / found.tested[1].share - 1)
    assert figures["pareto_dist"] == 0.0
    assert "CostSave 99.0 %, distance to the frontier of these arms 0.000" in (tmp_path / "out" / "report.md").read_text()
    dots, unit = frontier_dots(found.record)
    assert unit == "dollars a question"
    assert {CHOSEN, "careful", "quick"} & {dot.name for dot in dots}
    assert all(0 <= dot.y <= 1 and dot.x > 0 for dot in dots)


@pytest.mark.parametrize("sparing", [Sparing(calls=1), Sparing(workers={"careful": 0.0}), Sparing(calls=1.3)])
async def test_bounds_hold_where_the_kind_is_not_sure(tmp_path: Path, sparing: Sparing) -> None:
    """Forty questions leave the kind in doubt; without a bound careful is asked besides, to be on the safe side."""
    folder = graded_folder(tmp_path / "r")
    free = await tune_recorded(folder, tmp_path / "free", prefer="accuracy")
    found = await tune_recorded(folder, tmp_path / "out", prefer="accuracy", sparing=sparing)
    assert free.tested[0].steps > 2
    assert found.tested[0].steps <= (sparing.calls or 1)
    assert found.tested[2].steps <= (sparing.calls or 1), "what it is compared with keeps the bound, too"
    assert found.tested[0].share == 1.0


async def test_calls_stand_for_dollars_that_are_not_known(recordings: Path, tmp_path: Path) -> None:
    found = await tune_recorded(recordings, tmp_path / "out")
    assert frontier_dots(found.record)[1] == "calls a question"
    assert found.tested[0].usd is None
    assert routing_figures(found) is None, "what is not known is not reckoned with"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--sparing", "nobody=0.4"), "there is no worker 'nobody'"),
        (("--sparing", "quick"), "takes NAME=SHARE"),
        (("--sparing", "quick=1.5"), "from 0 to 1"),
        (("--sparing", "quick=nan"), "from 0 to 1"),
        (("--gym", "100"), "--replay asks nobody"),
        (("--estimate",), "--replay asks nobody"),
    ],
)
def test_what_can_not_be_is_refused(recordings: Path, tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    result = podium("tune", "--replay", str(recordings), "--out", str(tmp_path / "out"), *arguments)
    assert result.exit_code == 2
    assert said in " ".join(result.output.split())
    assert not (tmp_path / "out" / "policy.json").exists()


def test_bounds_are_for_recordings(tmp_path: Path) -> None:
    result = podium("tune", "--gym", "100", "--most-calls", "2", "--out", str(tmp_path))
    assert (result.exit_code, "--replay" in result.output) == (2, True)


def test_a_worker_called_vote_is_refused(tmp_path: Path) -> None:
    folder = graded_folder(tmp_path / "r")
    (folder / "outputs" / "quick.jsonl.gz").rename(folder / "outputs" / "vote.jsonl.gz")
    with pytest.raises(ConfigError, match="another name"):
        asyncio.run(tune_recorded(folder, tmp_path / "out"))


def test_a_condition_written_by_hand_that_is_none_is_refused(tuned: Path, tmp_path: Path, recordings: Path) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    for file in tuned.iterdir():
        (broken / file.name).write_bytes(file.read_bytes())
    policy = json.loads((broken / "policy.json").read_text())
    policy["workflows"][0]["steps"][0]["condition"] = "whenever"
    (broken / "policy.json").write_text(json.dumps(policy))
    with pytest.raises(CheckpointError, match="can not be carried out"):
        conductor(recorded_pool(recordings), f"tuned:{broken}")
