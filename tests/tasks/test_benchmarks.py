import base64
import gzip
import importlib
import json
import pickle
import re
import sys
import zipfile
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.errors import ConfigError
from podium.pools.verifiers import open_verifiers
from podium.tasks.benchmarks.check import check
from podium.tasks.benchmarks.choices import choice_problem
from podium.tasks.benchmarks.hub import hub_rows
from podium.tasks.benchmarks.livecodebench import HUB
from podium.tasks.benchmarks.registry import all_benchmarks, benchmark, load, load_solved, parsed
from podium.tasks.programming.target import AssertTests, CallTests, ProgramTests, StdinTests, UnittestTests

LOCAL = {
    # set and split -> problems after what is printed twice is dropped, in ../shared/data
    ("math500", "test"): 500,
    ("math", "train"): 7_470,
    ("gsm8k", "train"): 7_473,
    ("gsm8k", "test"): 1_319,
    ("aime25", "test"): 30,
    ("mmlu", "val"): 1_529,
    ("mmlu", "dev"): 284,
    ("theoremqa", "test"): 747,
    ("theoremqa", "all"): 800,
    ("scibench", "test"): 580,
    ("humaneval", "test"): 164,
    ("mbpp", "test"): 500,
    ("mbpp", "train"): 374,
    ("mbpp", "val"): 90,
    ("mbpp", "prompt"): 10,
    ("bigcodebench-hard", "test"): 144,
    ("bigcodebench-hard", "all"): 148,
    ("codeforces", "all"): 397,
    ("leetcode", "train"): 1_889,
    ("leetcode", "test"): 186,
    ("cruxeval", "test"): 800,
    ("countdown", "test"): 500,
}
NOT_LOCAL = {"aime24", "rlpr", "gpqa-diamond", "livecodebench"}


def hidden(tests: list[dict[str, str]]) -> str:
    return base64.b64encode(zlib.compress(pickle.dumps(json.dumps(tests)))).decode()


def lcb(tests: object, **more: Any) -> dict[str, Any]:
    return {
        "question_content": "Add two numbers.",
        "platform": "atcoder",
        "contest_date": "2023-05-06T00:00:00",
        "starter_code": "",
        "public_test_cases": json.dumps([{"input": "1 2", "output": "3", "testtype": "stdin"}]),
        "private_test_cases": tests,
        "metadata": "{}",
        **more,
    }


# Written for these tests, in the columns that the hub gives each set.
HUB_ROWS: dict[str, tuple[str, dict[str, Any], str]] = {
    "math500": (
        "test",
        {"problem": "What is 6 times 7?", "solution": "It is $\\boxed{42}$.", "answer": "42", "subject": "Counting & Probability"}
        | {"level": 1, "unique_id": "test/x/1.json"},
        "42",
    ),
    "math": ("train", {"problem": "6 times 7?", "level": "Level 1", "type": "Algebra", "solution": "$\\boxed{42}$"}, "42"),
    "gsm8k": ("test", {"question": "6 bags of 7 eggs?", "answer": "6*7 = <<6*7=42>>42\n#### 42"}, "42"),
    "aime24": ("test", {"id": 60, "problem": "6 times 7?", "solution": "\\boxed{042}", "url": "https://x"}, "42"),
    "aime25": ("test", {"id": "0", "problem": "6 times 7?", "answer": "42"}, "42"),
    "mmlu": (
        "test",
        {"question": "Which is even?", "subject": "anatomy", "choices": ["one", "three", "four", "five"], "answer": 2},
        "[ABCD]",
    ),
    "gpqa-diamond": (
        "test",
        {"Question": "Which is even?", "Correct Answer": "four\n"}
        | {f"Incorrect Answer {n}": word for n, word in enumerate(("one", "three", "five"), 1)},
        "[ABCD]",
    ),
    "rlpr": (
        "train",
        {"prompt": [{"role": "system", "content": "s"}, {"role": "user", "content": "How far is 2 miles?"}]}
        | {"reward_model": {"ground_truth": "3.22 km", "style": "rule"}, "ability": "Physics"},
        "3.22 km",
    ),
    "theoremqa": ("test", {"Question": "Is 2 prime?", "Answer": "True", "Answer_type": "bool", "Picture": None}, "True"),
    "scibench": (
        "test",
        {"problem_text": "How heavy?", "answer_latex": " 3.52", "answer_number": "\u22123.52", "source": "atkins"}
        | {"unit": "$10^{-19} \\mathrm{~J}$", "problemid": "1", "comment": "", "solution": ""},
        re.escape("-3.52 \\times 10^{-19} \\mathrm{~J}"),
    ),
    "humaneval": (
        "test",
        {"task_id": "HumanEval/0", "prompt": "def add(a, b):\n    '''Add.'''\n", "entry_point": "add"}
        | {"canonical_solution": "    return a + b\n", "test": "def check(candidate):\n    assert candidate(1, 2) == 3\n"},
        '"entry": "add"',
    ),
    "mbpp": (
        "test",
        {"task_id": 11, "text": "Add.", "code": "def add(a, b):\r\n    return a + b", "test_setup_code": ""}
        | {"test_list": ["assert add(1, 2) == 3"], "challenge_test_list": []},
        "assert add",
    ),
    "bigcodebench-hard": (
        "test",
        {"task_id": "BigCodeBench/1", "complete_prompt": "def task_func():\n    '''One.'''\n", "instruct_prompt": "One."}
        | {"canonical_solution": "    return 1\n", "code_prompt": "def task_func():\n", "entry_point": "task_func"}
        | {"test": "import unittest\nclass TestCases(unittest.TestCase):\n    pass", "libs": "[]"},
        "unittest",
    ),
    "codeforces": (
        "test",
        {"id": "1/A", "title": "Sum", "description": "Add.", "input_format": "a b", "output_format": "a + b", "note": None}
        | {"examples": [{"input": "1 2", "output": "3"}], "official_tests": [{"input": "3 4", "output": "7"}]},
        '"stdin": "3 4"',
    ),
    "leetcode": (
        "train",
        {
            "task_id": "add",
            "problem_description": "Add.",
            "starter_code": "class Solution:\n    def add(self, a, b):",
            "prompt": "import math",
        }
        | {
            "completion": "class Solution: ...",
            "entry_point": "Solution().add",
            "test": "def check(candidate):\n    assert candidate(1, 2) == 3",
        },
        "Solution\\(\\).add",
    ),
    "livecodebench": ("v1", lcb(hidden([{"input": "3 4", "output": "7", "testtype": "stdin"}])), '"stdin": "3 4"'),
    "cruxeval": (
        "test",
        {"code": "def f(a):\n    return [a]", "input": "1", "output": "[1]", "id": "sample_0"},
        re.escape("[1]"),
    ),
}


def test_the_registry_is_whole() -> None:
    assert set(HUB_ROWS) | {"countdown"} == set(all_benchmarks())
    assert {name for name, _ in LOCAL} | NOT_LOCAL == set(all_benchmarks())
    for name, one in all_benchmarks().items():
        assert one.name == name
        assert one.about
        assert one.licence
        assert one.url.startswith("https://")
        assert one.splits
        assert (one.generate is not None) or (one.local is not None and one.hub is not None)
        if one.hub is not None:
            assert one.hub.revision is None or re.fullmatch("[0-9a-f]{40}", one.hub.revision), name
            assert set(one.hub.splits) | set(one.hub.files) <= set(one.splits)


@pytest.mark.parametrize("name", HUB_ROWS)
async def test_a_row_of_the_hub_becomes_a_problem_whose_gold_is_accepted(name: str) -> None:
    split, row, target = HUB_ROWS[name]
    one = benchmark(name)
    (solved,) = parsed(one, [row], split, 0, where="hub")
    problem = solved.problem
    assert re.search(target, problem.target)
    assert problem.kind == one.kind
    assert problem.split == split
    assert problem.source.startswith(name)
    assert problem.question == problem.question.strip()
    if problem.kind == "programming":
        assert ProgramTests.from_json(problem.target).to_json() == problem.target
    else:
        async with open_verifiers({problem.kind}) as verifier:
            assert (await verifier(problem, solved.gold)).correct


@pytest.mark.parametrize("name", HUB_ROWS)
def test_a_row_that_lost_a_column_is_named(name: str) -> None:
    split, row, _ = HUB_ROWS[name]
    with pytest.raises(ConfigError, match=r"hub, record 2: not a record of "):
        parsed(benchmark(name), [row, {"nothing": 1}], split, 0, where="hub")
    with pytest.raises(ConfigError, match="no problems"):
        parsed(benchmark(name), [], split, 0, where="hub")


@pytest.mark.parametrize(("name", "split"), LOCAL)
def test_a_local_copy_loads_with_every_problem_once(data: Path, name: str, split: str) -> None:
    problems = load(name, split=split, data_dir=data, seed=3)
    assert len(problems) == LOCAL[name, split]
    assert len({problem.id for problem in problems}) == len(problems)
    assert {problem.split for problem in problems} == {split}
    for problem in problems:
        assert problem.question.strip()
        assert "\\boxed{}" not in problem.question
        if problem.kind == "programming":
            ProgramTests.from_json(problem.target)


def test_mmlu_as_printed_and_as_loaded(data: Path) -> None:
    solved = load_solved("mmlu", data_dir=data)
    assert len(solved) == 14_042
    assert len(load("mmlu", data_dir=data)) == 13_937
    assert len({one.problem.source.partition("#")[0] for one in solved}) == 57


@pytest.mark.parametrize(
    ("name", "styles"),
    [
        ("humaneval", AssertTests),
        ("mbpp", AssertTests),
        ("leetcode", AssertTests),
        ("bigcodebench-hard", UnittestTests),
        ("codeforces", StdinTests),
    ],
)
def test_programs_have_tests_of_their_style(data: Path, name: str, styles: type) -> None:
    assert {type(ProgramTests.from_json(problem.target)) for problem in load(name, data_dir=data)} == {styles}


def test_codeforces_leaves_out_what_comparing_can_not_judge_and_hides_the_tags(data: Path) -> None:
    one, every = load("codeforces", data_dir=data), load("codeforces", split="all", data_dir=data)
    assert 250 < len(one) < len(every)
    texts = {problem.question for problem in one}
    assert not any("any of them" in text for text in texts)
    assert not any("Tags:" in text for text in texts)
    assert all("Time Limit" in text for text in texts)


def test_aime_questions_do_not_carry_the_copys_instruction(data: Path) -> None:
    assert not any("step by step" in problem.question for problem in load("aime25", data_dir=data))
    assert not any("self-contained" in problem.question for problem in load("leetcode", data_dir=data))


def test_a_hub_problem_with_its_own_checker_can_not_be_judged_by_comparing() -> None:
    row = HUB_ROWS["codeforces"][1]
    checked = {**row, "generated_checker": "def check(): ..."}
    anything = {**row, "output_format": "If there are multiple answers, print any of them."}
    for split, count in (("test", 1), ("train", 1), ("all", 3)):
        assert len(parsed(benchmark("codeforces"), [row, checked, anything], split, 0, where="hub")) == count


# Options


@given(st.lists(st.text(min_size=1).filter(str.strip), min_size=2, max_size=8), st.data(), st.integers(0, 9))
def test_whatever_the_order_the_letter_follows_the_right_option(options: list[str], data: st.DataObject, seed: int) -> None:
    right = data.draw(st.integers(0, len(options) - 1))
    solved = choice_problem("Which?", options, right, source="s", split="test", seed=seed)
    lines = solved.problem.question.split("\n\n", 1)[1]
    for letter in solved.problem.target.split("/"):
        assert f"\n{letter}) {options[right].strip()}" in f"\n{lines}"
    assert solved == choice_problem("Which?", options, right, source="s", split="test", seed=seed)


def test_every_position_is_equally_likely_and_the_seed_is_stored() -> None:
    words = ["red", "green", "blue", "white"]
    solved = [choice_problem(f"Which {n}?", words, 0, source="s", split="t", seed=5) for n in range(2000)]
    counts = Counter(one.problem.target for one in solved)
    assert all(430 < counts[letter] < 570 for letter in "ABCD"), counts
    assert {one.problem.source for one in solved} == {"s#shuffle=5"}
    other = choice_problem("Which 1?", words, 0, source="s", split="t", seed=6).problem
    assert any(
        other.question != choice_problem("Which 1?", words, 0, source="s", split="t", seed=n).problem.question for n in range(5)
    )


@pytest.mark.parametrize(
    "last",
    ["All of the above", "none of the above.", "Both A and C", "b and c", "(A) and (B)", "Neither (a) nor (b)", "A only", "A, B"],
)
def test_options_that_speak_of_others_keep_their_order(last: str) -> None:
    for seed in range(8):
        solved = choice_problem("Which?", ["red", "green", "blue", last], 3, source="s", split="t", seed=seed)
        assert solved.problem.target == "D", last
        assert solved.problem.source == "s#shuffle=kept"


def test_options_that_read_the_same_are_both_right() -> None:
    solved = choice_problem("Which?", ["687", "687", "1493", "1695"], 0, source="s", split="t", seed=1)
    assert len(solved.problem.target.split("/")) == 2


@pytest.mark.parametrize(("options", "right"), [(["one"], 0), (["one", "two"], 2), (["one", "two"], -1), (["x"] * 27, 0)])
def test_questions_that_can_not_be_asked(options: list[str], right: int) -> None:
    with pytest.raises(ValueError, match="can not be asked"):
        choice_problem("Which?", options, right, source="s", split="t", seed=0)


# LiveCodeBench


def test_releases_grow_and_windows_are_apart() -> None:
    splits = all_benchmarks()["livecodebench"].splits
    assert splits["release_v1"] == splits["v1"] == 400
    assert splits["release_v6"] == sum(splits[f"v{n}"] or 0 for n in range(1, 7)) == 1_055
    assert splits["v6"] == 175
    files = HUB.files
    assert [file for n in range(1, 7) for file in files[f"v{n}"]] == list(files["release_v6"])


def test_function_style_and_plain_hidden_tests() -> None:
    row = lcb(
        json.dumps([{"input": "[1, 2]\n3", "output": "6", "testtype": "functional"}]),
        public_test_cases="[]",
        starter_code="class Solution:\n    def add(self, a, b):",
        metadata='{"func_name": "add"}',
    )
    (solved,) = parsed(all_benchmarks()["livecodebench"], [row], "v1", 0, where="x")
    tests = ProgramTests.from_json(solved.problem.target)
    assert isinstance(tests, CallTests)
    assert tests.entry == "Solution().add"
    assert tests.cases[0].args == ([1, 2], 3)
    assert tests.cases[0].expected == 6


class Bomb:
    def __reduce__(self) -> tuple[Any, ...]:
        return (print, ("this ran",))


@pytest.mark.parametrize(
    "packed",
    [
        base64.b64encode(zlib.compress(pickle.dumps(Bomb()))).decode(),
        base64.b64encode(zlib.compress(pickle.dumps([1]))).decode(),
        base64.b64encode(b"no zlib").decode(),
        base64.b64encode(zlib.compress(b"no pickle")).decode(),
        base64.b64encode(zlib.compress(pickle.dumps("[]"))[:-4]).decode(),
        "no base64!",
        "[1",
    ],
)
def test_hidden_tests_that_are_something_else_run_nothing(packed: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ConfigError, match="record 1"):
        parsed(all_benchmarks()["livecodebench"], [lcb(packed)], "v1", 0, where="x")
    assert "this ran" not in capsys.readouterr().out


# Files and the hub


def test_a_folder_without_the_set_says_what_is_missing(tmp_path: Path) -> None:
    for name, one in all_benchmarks().items():
        for split in one.splits if name != "countdown" else ():
            with pytest.raises(ConfigError, match="fetch the set or load it from the hub"):
                load(name, split=split, data_dir=tmp_path)


@pytest.mark.parametrize(
    ("file", "content", "says"),
    [
        ("gsm8k/test.jsonl", b'{"question": "a", "answer": "#### 1"}\n{"question"', "line 2: not JSON"),
        ("gsm8k/test.jsonl", b'["a"]\n', "line 1: no JSON object"),
        ("gsm8k/test.jsonl", b"\xff\n", "line 1: not UTF-8"),
        ("gsm8k/test.jsonl", b'{"question": "a", "answer": "1"}\n', "record 1: not a record of gsm8k.*no ####"),
        ("gsm8k/test.jsonl.gz", b"no gzip", "damaged"),
        ("gsm8k/test.jsonl.gz", gzip.compress(b'{"question": "a"}', mtime=0)[:-9], "damaged"),
        ("gsm8k/test.jsonl", b"\n\n", "no problems"),
    ],
)
def test_a_broken_file_is_named_with_its_line(tmp_path: Path, file: str, content: bytes, says: str) -> None:
    path = tmp_path / file
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=says):
        load("gsm8k", data_dir=tmp_path)


def test_a_broken_zip(tmp_path: Path) -> None:
    (tmp_path / "mmlu").mkdir()
    (tmp_path / "mmlu" / "mmlu.zip").write_bytes(b"PK no zip")
    with pytest.raises(ConfigError, match="damaged"):
        load("mmlu", data_dir=tmp_path)
    with zipfile.ZipFile(tmp_path / "mmlu" / "mmlu.zip", "w") as archive:
        archive.writestr("data/test/anatomy_test.csv", "Which?,a,b,c,d,X\n")
    with pytest.raises(ConfigError, match="not a record of mmlu"):
        load("mmlu", data_dir=tmp_path)


def test_numbers_keep_their_digits(tmp_path: Path) -> None:
    (tmp_path / "theoremqa").mkdir()
    rows = [{"Question": "How much?", "Answer_type": "list of float", "Answer": "HERE", "Picture": None}]
    text = json.dumps(rows).replace('"HERE"', "[1.10, 2, 4e-05]")
    (tmp_path / "theoremqa" / "theoremqa_test.json").write_text(text)
    assert load("theoremqa", data_dir=tmp_path)[0].target == "[1.10, 2, 4e-05]"


def test_hub_columns_in_a_local_folder(tmp_path: Path) -> None:
    (tmp_path / "rlpr").mkdir()
    (tmp_path / "rlpr" / "train.jsonl").write_text(json.dumps(HUB_ROWS["rlpr"][1]) + "\n")
    assert load("rlpr", split="train", data_dir=tmp_path)[0].target == "3.22 km"


@pytest.mark.parametrize(
    ("name", "split", "says"), [("nope", None, "there is no set 'nope'"), ("gsm8k", "dev", "no split 'dev'; it has train, test")]
)
def test_unknown_sets_and_splits(name: str, split: str | None, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        load(name, split=split)


def test_without_a_commit_nothing_is_downloaded() -> None:
    for name in ("scibench", "cruxeval"):
        with pytest.raises(ConfigError, match=r"no commit of .* is pinned"):
            load(name)
    with pytest.raises(ConfigError, match="no split 'test'"):
        load("rlpr", split="test")


STAND_IN = """
asked = []
def load_dataset(path, name=None, *, data_files=None, split, revision=None):
    asked.append((path, name, data_files, split, revision))
    if path == "Idavidrein/gpqa":
        raise FileNotFoundError("gated")
    return iter([{"question": "6 times 7?", "answer": "#### 42", "problem": "6 times 7?", "solution": r"\\boxed{42}"}])
"""


def test_the_library_is_asked_for_a_commit_and_only_when_rows_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "datasets.py").write_text(STAND_IN)
    monkeypatch.syspath_prepend(tmp_path)
    # Set first, so that the end of the test puts back what was there, or nothing.
    monkeypatch.setitem(sys.modules, "datasets", None)
    del sys.modules["datasets"]
    datasets = importlib.import_module("datasets")

    assert [problem.target for problem in load("gsm8k")] == ["42"]
    assert datasets.asked == [("openai/gsm8k", "main", None, "test", "740312add88f781978c0658806c59bc2815b9866")]
    load("math", split="train", revision="0" * 40)
    hub = benchmark("math").hub
    assert hub is not None
    assert [(name, revision) for _, name, _, _, revision in datasets.asked[1:]] == [(s, "0" * 40) for s in hub.configs]
    list(hub_rows(HUB, "v6"))
    path, _, files, split, _ = datasets.asked[-1]
    assert (path, split) == ("json", "train")
    assert files == ["hf://datasets/livecodebench/code_generation_lite@0fe84c3912ea0c4d4a78037083943e8f0c4dd505/test6.jsonl"]
    with pytest.raises(ConfigError, match="accept its terms on the hub and log in: gated"):
        load("gpqa-diamond")


def test_without_the_library_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(ConfigError, match=r"pip install 'podium\[data\]'"):
        load("gsm8k")


# check


async def test_check_finds_nothing_wrong_with_good_sets(data: Path) -> None:
    async with open_verifiers({"free_form", "countdown", "output-prediction"}) as verifier:
        for name in ("scibench", "countdown", "cruxeval"):
            found = await check(name, verifier, data_dir=data, sample=20)
            assert found.passed, found
            assert found.tried >= 20
    math = await check("math", None, data_dir=data)
    assert math.passed
    assert math.sizes == {"train": 7_470}
    assert "fetch the set" in math.missing["test"]


async def test_check_finds_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "gsm8k").mkdir()
    rows = ['{"question": "6 * 7?", "answer": "#### 42"}', '{"question": "Why?", "answer": "#### $ $"}']
    (tmp_path / "gsm8k" / "train.jsonl").write_text("\n".join([rows[0], rows[0], rows[1]]))
    (tmp_path / "gsm8k" / "test.jsonl").write_text(rows[0].replace(" * ", "*"))
    async with open_verifiers({"mathematics"}) as verifier:
        found = await check("gsm8k", verifier, data_dir=tmp_path)
    assert not found.passed
    assert found.repeated == {"train": 1, "test": 0}
    assert found.shared == (("train", "test", 2),)
    (rejected,) = found.rejected
    assert rejected.broken
    assert rejected.problem.target == "$ $"
    with pytest.raises(ConfigError, match="there is no set"):
        await check("nope", None)
