"""Records of routing benchmarks: read in their form, written in their form, and asked as a pool."""

import csv
import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from podium.cli.app import app
from podium.errors import ConfigError
from podium.pools.problems import ProblemSource
from podium.pools.records import Record, read_records, write_records
from podium.types import Call
from podium.workers.recorded import load_replay


def row(index: int, score: float | None, **other: Any) -> dict[str, Any]:
    return {
        "index": index, "origin_query": f"What is {index} and {index}?", "prompt": f"Question: {index} + {index}\nAnswer:",
        "prompt_tokens": 15, "completion_tokens": 5, "cost": 0.0001, "score": score, "prediction": str(2 * index),
        "ground_truth": str(2 * index), "raw_output": f"The sum is {2 * index}.",
    } | other  # fmt: skip


def result(folder: Path, model: str, rows: list[dict[str, Any]], stamp: str = "20260101_101010", **other: Any) -> Path:
    place = folder / "sums" / "test" / model.replace("/", "-")
    place.mkdir(parents=True, exist_ok=True)
    file = place / f"sums-test-{model.replace('/', '-')}-{stamp}.json"
    told = {
        "performance": 1.0, "time_taken": 1.5, "prompt_tokens": 15, "completion_tokens": 5, "cost": 0.0001, "counts": len(rows),
        "model_name": model, "dataset_name": "sums", "split": "test", "demo": False, "extra_metrics": {}, "data_fingerprint": "x",
        "records": rows,
    }  # fmt: skip
    file.write_text(json.dumps(told | other))
    return file


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    """Results of two models as LLMRouterBench keeps them."""
    result(tmp_path / "bench", "maker/big", [row(1, 1.0), row(2, 1.0)])
    result(tmp_path / "bench", "small", [row(1, 0.0, prediction="3", cost=0.0), row(2, 1.0)])
    return tmp_path / "bench"


def test_what_llmrouterbench_keeps(bench: Path) -> None:
    found = {(one.model, one.id): one for one in read_records(bench)}
    assert found["maker/big", "1"] == Record(
        dataset="sums", id="1", model="maker/big", question="What is 1 and 1?", prompt="Question: 1 + 1\nAnswer:", prediction="2",
        ground_truth="2", score=1.0, prompt_tokens=15, completion_tokens=5, usd=0.0001,
    )  # fmt: skip
    assert found["small", "1"].usd is None, "0 dollars for 20 tokens is no price"


def test_the_newest_result_counts_and_a_demonstration_does_not(bench: Path) -> None:
    result(bench, "small", [row(1, 1.0)], stamp="20260102_000000")
    result(bench, "small", [row(1, 0.0)], stamp="20260103_000000", demo=True)
    assert [one.score for one in read_records(bench) if one.model == "small"] == [1.0]


def test_nothing_is_known_without_a_score(bench: Path) -> None:
    result(bench, "small", [row(1, None), row(2, 1.0)], stamp="20260102_000000")
    assert [one.id for one in read_records(bench) if one.model == "small"] == ["2"]


async def test_as_a_pool_it_is_asked_and_judged(bench: Path, tmp_path: Path) -> None:
    write_records(read_records(bench), tmp_path / "pool", "recordings")
    workers = dict(load_replay(tmp_path / "pool"))
    assert sorted(workers) == ["maker_big", "small"]
    completion = await workers["maker_big"](Call.plain("What is 1 and 1?"))
    assert (completion.text, completion.usage.cost_usd, completion.usage.prompt_tokens) == ("Answer: 2", 0.0001, 15)
    assert (await workers["small"](Call.plain("What is 1 and 1?"))).usage.cost_usd is None
    problems = ProblemSource(replay=tmp_path / "pool").problems()
    assert [(problem.source, problem.target) for problem in problems] == [("sums", '["Answer: 2"]'), ("sums", '["Answer: 4"]')]


@pytest.mark.parametrize("form", ["recordings", "llmrouterbench", "routerbench"])
def test_there_and_back(bench: Path, tmp_path: Path, form: str) -> None:
    target = tmp_path / ("table.csv" if form == "routerbench" else "there")
    records = read_records(bench)
    write_records(records, target, form)

    def kept(one: Record) -> tuple[object, ...]:
        return (one.model.replace("/", "_"), one.dataset, one.id, one.question, one.prediction, one.score, one.usd)

    assert sorted(map(kept, read_records(target)), key=repr) == sorted(map(kept, records), key=repr)


def test_what_is_written_for_llmrouterbench_has_its_fields(bench: Path, tmp_path: Path) -> None:
    write_records(read_records(bench), tmp_path / "again", "llmrouterbench")
    file = next((tmp_path / "again" / "sums" / "test" / "maker_big").glob("*.json"))
    told = json.loads(file.read_text())
    assert {"performance", "cost", "counts", "model_name", "dataset_name", "split", "records"} <= told.keys()
    assert told["model_name"] == "maker/big"
    fields = ("origin_query", "prompt", "prediction", "ground_truth", "score", "prompt_tokens", "completion_tokens", "cost")
    assert {*fields} <= told["records"][0].keys()


def table(file: Path, rows: list[list[object]], columns: tuple[str, ...] = ()) -> Path:
    with file.open("w", newline="") as out:
        writer = csv.writer(out)
        models = ("a/b", "c")
        own = (*models, *(f"{one}|model_response" for one in models), *(f"{one}|total_cost" for one in models))
        writer.writerow(columns or ("sample_id", "prompt", "eval_name", *own))
        writer.writerows(rows)
    return file


def test_what_routerbench_keeps(tmp_path: Path) -> None:
    file = table(
        tmp_path / "t.csv", [["mmlu.val.1", "['Pick one.\\nA) x', 'B) y']", "mmlu", 1.0, 0.0, "['A']", "['B']", 7.5e-05, ""]]
    )
    [first, second] = read_records(file)
    assert (first.question, first.prediction, first.usd) == ("Pick one.\nA) x\nB) y", "A", 7.5e-05)
    assert (second.model, second.score, second.usd) == ("c", 0.0, None)


@pytest.mark.parametrize("cell", ["[" * 5000 + "]" * 5000, "[__import__('os').system('false')]", "[1, 2]", "[", "['a'"])
def test_a_hostile_cell_is_text(tmp_path: Path, cell: str) -> None:
    [first, _] = read_records(table(tmp_path / "t.csv", [["1", cell, "k", 1, 1, "x", "y", 1, 1]]))
    assert first.question == cell


def test_a_pickle_is_never_opened(tmp_path: Path) -> None:
    file = tmp_path / "routerbench_0shot.pkl"
    file.write_bytes(pickle.dumps({}))
    with pytest.raises(ConfigError, match="can run any code"):
        read_records(file)


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["1", "q", "k", "often", 1, "x", "y", 1, 1], "no number"),
        (["1", "q", "k", 7, 1, "x", "y", 1, 1], "not from 0 to 1"),
        (["1", "q", "k", 1, 1, "x", "y", 1, -0.1], "less than nothing"),
    ],
)
def test_a_broken_table_says_where(tmp_path: Path, cells: list[object], said: str) -> None:
    with pytest.raises(ConfigError, match=f"line 2.*{said}"):
        read_records(table(tmp_path / "t.csv", [cells]))


def test_other_tables_folders_and_files_are_refused(tmp_path: Path) -> None:
    for source, said in (
        (table(tmp_path / "other.csv", [], ("a", "b")), "no column"),
        (tmp_path, "no result of LLMRouterBench"),
        (tmp_path / "nothing.txt", "neither"),
    ):
        (tmp_path / "x.json").write_text('{"records": []}')
        with pytest.raises(ConfigError, match=said):
            read_records(source)


def test_a_record_twice_is_refused(bench: Path) -> None:
    result(bench, "small", [row(1, 1.0), row(1, 0.0)], stamp="20260102_000000")
    with pytest.raises(ConfigError, match="twice"):
        read_records(bench)


def test_different_questions_under_one_id_are_refused(bench: Path) -> None:
    result(bench, "other", [row(1, 1.0, origin_query="What is 5 and 5?")])
    with pytest.raises(ConfigError, match="'maker/big' and 'other' were asked different questions as sums 1"):
        read_records(bench)


def test_ids_that_only_look_like_one_number_stay_apart(tmp_path: Path) -> None:
    given = [Record(dataset="d", id=name, model="m", question=name, prediction="", score=1.0) for name in ("7", "007", "0")]
    write_records(given, tmp_path / "bench", "llmrouterbench")
    assert {one.id for one in read_records(tmp_path / "bench")} == {"7", "007", "0"}


@pytest.mark.parametrize("form", ["recordings", "llmrouterbench", "routerbench"])
def test_where_nothing_can_be_written_it_is_said(tmp_path: Path, form: str) -> None:
    (tmp_path / "file").touch()
    given = [Record(dataset="d", id="1", model="m", question="q", prediction="", score=1.0)]
    for target in (tmp_path / "file" / "folder" / "x", tmp_path / ("z" * 300) / "x"):
        with pytest.raises(ConfigError, match=r"can not be written: (Not a directory|File name too long)"):
            write_records(given, target, form)


@pytest.mark.parametrize("name", ["../../escape", "..", "a/../../b", "/etc/passwd"])
def test_a_name_never_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    records = [Record(dataset=name, id="1", model=name, question="q?", prediction="1", score=1.0)]
    for form in ("recordings", "llmrouterbench"):
        write_records(records, tmp_path / form / "in", form)
    assert {path.name for path in tmp_path.iterdir()} == {"recordings", "llmrouterbench"}
    assert {path.name for part in tmp_path.iterdir() for path in part.iterdir()} == {"in"}


def test_names_that_become_one_are_refused(tmp_path: Path) -> None:
    records = [Record(dataset="k", id="1", model=model, question="q?", prediction="1", score=1.0) for model in ("a/b", "a_b")]
    with pytest.raises(ConfigError, match="two names become one"):
        write_records(records, tmp_path / "pool", "recordings")


def test_the_command_converts_and_never_overwrites(bench: Path, tmp_path: Path) -> None:
    def run(*arguments: str) -> tuple[int, str]:
        found = CliRunner(env={"COLUMNS": "200"}).invoke(app, ["data", "convert", *arguments])
        return found.exit_code, found.output

    code, output = run(str(bench), str(tmp_path / "pool"))
    assert code == 0, output
    assert "4 records of 2 models" in output
    code, output = run(str(tmp_path / "pool"), str(tmp_path / "table.csv"), "--to", "routerbench")
    assert (code, (tmp_path / "table.csv").exists()) == (0, True), output
    code, output = run(str(bench), str(tmp_path / "pool"))
    assert (code, "is there already" in output) == (2, True)
