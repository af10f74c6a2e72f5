import json
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium import jsonl
from podium.errors import Blame, ConfigError
from podium.types import (
    Completion,
    Failure,
    Generation,
    Message,
    Problem,
    Step,
    StepResult,
    Transcript,
    Usage,
    Verdict,
    Workflow,
    ask,
)

T = TypeVar("T")

# Any code point but surrogates, lone low surrogates included; a high one before a low one is the documented exception.
texts = st.text(st.one_of(st.characters(), st.characters(categories=["Cs"], min_codepoint=0xDC00), st.just("\0")), max_size=40)
seconds = st.floats(min_value=0, allow_nan=False, allow_infinity=False)
counts = st.integers(min_value=0, max_value=10**12)
usages = st.builds(Usage, prompt_tokens=counts, completion_tokens=counts, cost_usd=st.none() | seconds)
failures = st.builds(Failure, kind=texts, blame=st.sampled_from(Blame), message=texts, where=texts)


@st.composite
def workflows(draw: st.DrawFn) -> Workflow:
    steps = []
    for index in range(draw(st.integers(min_value=1, max_value=4))):
        access = draw(st.sets(st.integers(min_value=0, max_value=index - 1))) if index else set()
        steps.append(Step(worker=draw(st.integers(0, 7)), subtask=draw(texts), access=tuple(sorted(access))))
    return Workflow(steps=tuple(steps))


@st.composite
def transcripts(draw: st.DrawFn, depth: int = 0) -> Transcript:
    workflow = draw(st.none() | workflows())
    results = []
    for step in workflow.steps if workflow else ():
        done = draw(st.booleans())
        results.append(
            StepResult(
                step=step,
                worker=draw(texts),
                completion=draw(completions(depth + 1)) if done else None,
                failure=None if done else draw(failures),
                start_seconds=draw(seconds),
                seconds=draw(seconds),
            )
        )
    return Transcript(
        question=tuple(draw(st.lists(st.builds(Message, role=st.sampled_from(["system", "user"]), content=texts), max_size=3))),
        generation=draw(
            st.builds(
                Generation,
                text=texts,
                token_ids=st.lists(counts, max_size=3).map(tuple),
                logprobs=st.lists(st.floats(max_value=0, allow_nan=False), max_size=3).map(tuple),
                usage=usages,
            )
        ),
        workflow=workflow,
        results=tuple(results),
        answer=draw(st.none() | texts),
        failure=draw(st.none() | failures),
        seconds=draw(seconds),
    )


@st.composite
def completions(draw: st.DrawFn, depth: int = 0) -> Completion:
    nested = draw(st.lists(transcripts(depth), max_size=1)) if depth < 2 else []
    return Completion(text=draw(texts), usage=draw(usages), seconds=draw(seconds), transcripts=tuple(nested))


def same(kind: type[T], record: T) -> None:
    line = jsonl.dumps(record)
    assert line.isascii()
    assert "\n" not in line
    assert jsonl.loads(kind, line) == record


@settings(max_examples=60, deadline=None)
@given(transcripts())
def test_a_transcript_comes_back_equal(transcript: Transcript) -> None:
    same(Transcript, transcript)


@settings(max_examples=60, deadline=None)
@given(completions())
def test_a_completion_with_a_tree_of_transcripts_comes_back_equal(completion: Completion) -> None:
    same(Completion, completion)


@given(
    st.builds(Problem, question=texts, target=texts, kind=texts, source=texts),
    st.builds(Verdict, correct=st.booleans(), extracted=st.none() | texts, why=texts),
    workflows(),
)
def test_small_records_come_back_equal(problem: Problem, verdict: Verdict, workflow: Workflow) -> None:
    identity = problem.id
    same(Problem, problem)
    assert jsonl.loads(Problem, jsonl.dumps(problem)).id == identity
    same(Verdict, verdict)
    same(Workflow, workflow)


def test_lone_surrogates_nul_and_line_separators_survive_a_file(tmp_path: Path) -> None:
    hostile = Message(role="user", content="\ud800 \udfff \0 \u2028 \x85 \r\n end")
    jsonl.append(tmp_path / "a.jsonl", jsonl.dumps(hostile))
    jsonl.append(tmp_path / "a.jsonl", jsonl.dumps(hostile))
    assert jsonl.read_records(Message, tmp_path / "a.jsonl") == [hostile, hostile]


def test_infinities_and_nan_come_back() -> None:
    generation = jsonl.loads(Generation, jsonl.dumps(Generation(text="", logprobs=(-math.inf, math.nan))))
    assert generation.logprobs[0] == -math.inf
    assert math.isnan(generation.logprobs[1])


def test_an_unknown_price_stays_unknown() -> None:
    assert jsonl.loads(Usage, jsonl.dumps(Usage(cost_usd=None))).cost_usd is None


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"role":"user","content":"a","colour":"red"}', "colour"),
        ('{"role":"user"}', "content"),
        ('{"role":"judge","content":"a"}', "role"),
        ("[1]", "object"),
        ("", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ('{"role":' + "9" * 5000 + "}", "not JSON"),
    ],
)
def test_a_line_that_is_no_such_record_is_a_config_error(line: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        jsonl.loads(Message, line)


def test_an_unknown_field_deep_inside_is_a_config_error() -> None:
    plain = json.loads(jsonl.dumps(Transcript(question=ask("a"), generation=Generation(text="b"), workflow=None, answer="c")))
    plain["generation"]["usage"]["price"] = 1
    with pytest.raises(ConfigError, match=r"generation\.usage\.price"):
        jsonl.loads(Transcript, json.dumps(plain))


def test_a_torn_last_line_is_left_out_and_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    first, second = (jsonl.dumps(Message(role="user", content=text)) for text in ("one", "two"))
    for cut in range(1, len(second)):
        path.write_text(first + "\n" + second[:cut])
        assert jsonl.read_records(Message, path) == [jsonl.loads(Message, first)]
        assert jsonl.mend(path) == cut
        jsonl.append(path, second)
        assert path.read_text() == first + "\n" + second + "\n"


def test_a_whole_last_line_without_its_end_counts_and_is_ended(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    line = jsonl.dumps(Message(role="user", content="one"))
    path.write_text(line)
    assert jsonl.read_records(Message, path) == [Message(role="user", content="one")]
    assert jsonl.mend(path) == 0
    assert jsonl.mend(path) == 0
    assert path.read_text() == line + "\n"


@pytest.mark.parametrize("content", [b"dear diary", b"{ pretty", b"\xff\xfe", b'{"a":1}\nnotes', b'{"a":1}\n{"b"\n{"c":1}\n'])
def test_a_file_of_something_else_is_an_error_and_is_never_shortened(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=r"notes\.txt, line [12]"):
        jsonl.read_records(Message, path)
    # Mending looks at the end only.
    if not content.endswith(b"\n"):
        with pytest.raises(ConfigError):
            jsonl.mend(path)
    assert path.read_bytes() == content


def test_a_broken_line_in_the_middle_names_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    good = jsonl.dumps(Message(role="user", content="one"))
    path.write_text(f"{good}\n{good}\n{good[:-3]}\n{good}\n")
    with pytest.raises(ConfigError, match=r"a\.jsonl, line 3"):
        jsonl.read_records(Message, path)
    with pytest.raises(ConfigError, match=r"a\.jsonl, line 3"):
        jsonl.read_records(Message, path)


def test_an_empty_file_has_no_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.touch()
    assert jsonl.read_records(Message, path) == []
    assert jsonl.mend(path) == 0


def test_a_line_end_inside_a_line_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="line end"):
        jsonl.append(tmp_path / "a.jsonl", "{\n}")


WRITER = """
import sys
from pathlib import Path
from podium import jsonl
from podium.types import Message

for number in range(10**9):
    jsonl.append(Path(sys.argv[1]), jsonl.dumps(Message(role="user", content=str(number) + "x" * 5000)))
    print(number, flush=True)
"""


def test_lines_that_were_reported_survive_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.2)
        os.kill(process.pid, signal.SIGKILL)
        reported = len(process.stdout.readlines()) + 1
    contents = [record.content for record in jsonl.read_records(Message, path)]
    assert reported <= len(contents) <= reported + 1
    assert contents == [str(number) + "x" * 5000 for number in range(len(contents))]
