import gzip
import json
import os
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.errors import ConfigError
from podium.tasks.datasets import MAX_LINE_BYTES, MAX_QUESTION_BYTES, load_replay_problems, read_questions
from podium.types import Problem

REPLAY = Path(__file__).parents[2].parent / "shared" / "data" / "replay"


def written(folder: Path, content: str | bytes) -> Path:
    path = folder / "mine.jsonl"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_a_question_alone_and_one_with_everything(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        '{"question": "What is love?"}\n'
        '{"question": "6 times 7?", "target": 42, "kind": "mathematics", "id": "q1"}\n'
        '{"question": "half of 0.2?", "target": "0.10", "id": 7, "kind": null}\n',
    )
    assert read_questions(path) == [
        Problem(question="What is love?", target="", kind="question", source="mine.jsonl"),
        Problem(question="6 times 7?", target="42", kind="mathematics", source="mine.jsonl#q1"),
        Problem(question="half of 0.2?", target="0.10", kind="question", source="mine.jsonl#7"),
    ]


def test_a_number_is_kept_as_it_was_spelled(tmp_path: Path) -> None:
    spelled = ["0.10", "1e400", "9" * 5000, "-0.0"]
    path = written(tmp_path, "\n".join(f'{{"question": "{n}?", "target": {target}}}' for n, target in enumerate(spelled)))
    assert [problem.target for problem in read_questions(path)] == spelled


def test_byte_order_mark_windows_line_ends_empty_lines_and_a_last_line_without_end(tmp_path: Path) -> None:
    path = written(tmp_path, b'\xef\xbb\xbf{"question": "a"}\r\n\r\n  \n{"question": "b\xe2\x80\xa8c"}')
    assert [problem.question for problem in read_questions(path)] == ["a", "b\u2028c"]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "empty"),
        (" \n\n", "empty"),
        ('{"question": "a"}\n{"question": "b"', "line 2: not JSON"),
        ("What is love?\n", "line 1: not JSON"),
        ('["a"]\n', "line 1: not a JSON object"),
        ('"a"\n', "line 1: not a JSON object"),
        ("[" * 100_000, "line 1: not JSON"),
        ('{"question": "a"}\n\n{"target": "b"}\n', "line 3: the question is missing"),
        ('{"question": null}', "line 1: the question is missing"),
        ('{"question": ""}', "line 1: the question is empty"),
        ('{"question": " \\n "}', "line 1: the question is empty"),
        ('{"question": 42}', "line 1: the question must be a text"),
        ('{"question": ["a"]}', "line 1: question must be a text"),
        ('{"question": "a", "target": true}', "line 1: target must be a text or a number"),
        ('{"question": "a", "target": {"b": "c"}}', "line 1: target must be"),
        ('{"question": "a", "kind": ["b"]}', "line 1: kind must be"),
        ('{"question": "a", "answer": "b"}', "line 1: unknown key 'answer'.*question, target, kind, id"),
        ('{"question": "a", "question": "b"}', "line 1: .*twice"),
        ('{"question": "a", "id": 1}\n{"question": "b", "id": "1"}', "line 2: the id '1' is that of line 1"),
        ('{"question": "\\ud800"}', "line 1: .*surrogate"),
        (b'{"question": "a"}\n\x00\x01', "line 2: a NUL byte"),
        (b'{"question": "\xff"}', "line 1: not UTF-8"),
        (b"\x89PNG\r\n\x1a\n\x00", "line 1: not UTF-8"),
    ],
)
def test_every_mistake_is_named_with_file_and_line(tmp_path: Path, content: str | bytes, says: str) -> None:
    with pytest.raises(ConfigError, match=rf"mine\.jsonl.*{says}"):
        read_questions(written(tmp_path, content))


def test_a_question_may_have_a_megabyte_and_no_more(tmp_path: Path) -> None:
    most = "ä" * (MAX_QUESTION_BYTES // 2)
    # All escaped, this is the longest line that holds an allowed question.
    assert read_questions(written(tmp_path, json.dumps({"question": most})))[0].question == most
    with pytest.raises(ConfigError, match=r"line 2: the question has 1000001 bytes; at most 1000000"):
        read_questions(written(tmp_path, '{"question": "a"}\n' + json.dumps({"question": most + "a"}, ensure_ascii=False)))
    with pytest.raises(ConfigError, match="line 1: longer than"):
        read_questions(written(tmp_path, b'{"question": "' + b"a" * MAX_LINE_BYTES))


def test_what_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.jsonl: No such file"):
        read_questions(tmp_path / "none.jsonl")
    with pytest.raises(ConfigError, match="Is a directory"):
        read_questions(tmp_path)
    with pytest.raises(ConfigError, match="line 1: longer than"):
        read_questions(Path("/dev/zero"))


def test_a_pipe_will_do(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=('{"question": "a"}\n',))
    writer.start()
    assert [problem.question for problem in read_questions(pipe)] == ["a"]
    writer.join()


@given(st.binary(max_size=200))
def test_any_bytes_are_problems_or_a_config_error(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.jsonl"
    path.write_bytes(content)
    try:
        assert read_questions(path)
    except ConfigError as error:
        if path.name not in str(error):
            raise


def replay(folder: Path, *lines: str) -> Path:
    with gzip.open(folder / "questions.jsonl.gz", "wt") as file:
        file.write("\n".join(lines))
    return folder


def test_recorded_questions_of_one_data_set(tmp_path: Path) -> None:
    rows = [
        {"dataset": "gsm", "id": "gsm-0", "question": "6 times 7?", "answer": "# 42", "prompt": "..."},
        {"dataset": "math-l5", "id": 3, "question": "x?", "answer": "\\frac{1}{2}", "prompt": "..."},
        {"dataset": "crux", "id": "crux-1", "question": "f(1)?", "answer": "# 1", "prompt": "..."},
    ]
    replay(tmp_path, *map(json.dumps, rows))
    assert load_replay_problems(tmp_path, "gsm") == [
        Problem(question="6 times 7?", target="42", kind="mathematics", source="gsm8k", split="test")
    ]
    assert load_replay_problems(tmp_path, "math-l5")[0].target == "\\frac{1}{2}"
    assert load_replay_problems(tmp_path, "crux")[0].target == "# 1"


def test_recorded_questions_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="gsm, math-l5, crux"):
        load_replay_problems(tmp_path, "gsm8k")
    with pytest.raises(ConfigError, match="No such file"):
        load_replay_problems(tmp_path, "gsm")
    with pytest.raises(ConfigError, match="'dataset' is missing in"):
        load_replay_problems(replay(tmp_path, '{"question": "a"}'), "gsm")
    with pytest.raises(ConfigError, match="line 1: no JSON object"):
        load_replay_problems(replay(tmp_path, "[1]"), "gsm")
    with pytest.raises(ConfigError, match="line 2: not JSON"):
        load_replay_problems(replay(tmp_path, '{"dataset": "crux"}', "{"), "gsm")
    with pytest.raises(ConfigError, match="holds no questions"):
        load_replay_problems(replay(tmp_path, '{"dataset": "crux"}'), "gsm")
    path = replay(tmp_path, '{"dataset": "crux"}') / "questions.jsonl.gz"
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(ConfigError, match="damaged"):
        load_replay_problems(tmp_path, "gsm")
    path.write_text("plain")
    with pytest.raises(ConfigError, match="damaged"):
        load_replay_problems(tmp_path, "gsm")


@pytest.mark.skipif(not REPLAY.is_dir(), reason="the recorded model outputs (../shared/data/replay) are not on this machine")
def test_the_recorded_questions_are_all_there_and_distinct() -> None:
    for dataset, count in {"gsm": 1319, "math-l5": 721, "crux": 800}.items():
        problems = load_replay_problems(REPLAY, dataset)
        assert len({problem.id for problem in problems}) == len(problems) == count
