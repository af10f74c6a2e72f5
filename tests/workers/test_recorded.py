"""Recorded answers: found where the question stands, refused where it does not; recorded JSON becomes readable text."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.errors import ConfigError, UnworkableStep, WorkerRefused
from podium.tasks.output_prediction import OutputVerifier
from podium.types import Call, Message, Problem, VisibleStep, ask
from podium.workers.recorded import Recorded, answer_text, load_replay

DUCKS = "Janet's ducks lay 16 eggs per day.\n\nHow many are left?"
WORKER = Recorded({DUCKS: "9", "6 times 7?": "42", "What is 6 times 7?": "forty-two", "7?": "seven"}, "llama")


class TestRecorded:
    @pytest.mark.parametrize(
        ("call", "answer"),
        [
            (Call.plain(DUCKS), "9"),
            (Call.plain(f"  {DUCKS}\n"), "9"),
            (Call.plain((Message(role="system", content="Be brief."), *ask("6 times 7?"))), "42"),
            (Call(question=ask(DUCKS), subtask="What is 6 times 7?"), "9"),  # what the user asked comes first
            (Call(subtask="Check it.", visible=(VisibleStep(question=ask(DUCKS), subtask="Solve.", response="8"),)), "9"),
            (Call(subtask=f"Solve this carefully:\n\n{DUCKS}\n\nThen stop."), "9"),
            (Call(subtask="Compute: What is 6 times 7? Explain."), "forty-two"),  # the longest that stands there
            (Call(subtask="Go on.", visible=(VisibleStep(subtask=f"Solve: {DUCKS}", response="?"),)), "9"),
        ],
    )
    async def test_finds_the_question(self, call: Call, answer: str) -> None:
        assert (await WORKER(call)).text == answer

    @pytest.mark.parametrize(
        "call",
        [
            Call.plain("6 times 8?"),
            Call(subtask="Go on.", visible=(VisibleStep(question=ask("6 times 8?"), subtask="Plan.", response="48"),)),
            Call(subtask="Solve: 6 times 9?"),
            Call.plain("Is it more than 6 times 7? Say why."),  # a question of its own, in which another one stands
        ],
    )
    async def test_refuses_what_was_not_recorded(self, call: Call) -> None:
        worker = Recorded({"6 times 7?": "42"}, "llama", ["6 times 7?", "6 times 9?", "Is it more than 6 times 7? Say why."])
        with pytest.raises(WorkerRefused, match="llama has no recorded answer"):
            await worker(call)

    @pytest.mark.parametrize(
        "call",
        [
            Call(subtask="What is 17?x"),
            Call(subtask="Solve the user's question and give the final answer."),
            Call(subtask="Go on.", visible=(VisibleStep(subtask="Plan.", response=DUCKS),)),  # a response is no question
            Call(),
        ],
    )
    async def test_a_step_that_is_asked_nothing_is_the_policys_failure(self, call: Call) -> None:
        with pytest.raises(UnworkableStep, match="llama, a recording, is asked no question"):
            await WORKER(call)

    async def test_does_not_invent_a_price_and_streams(self) -> None:
        told: list[str | None] = []
        completion = await WORKER(Call(question=ask("6 times 7?"), on_token=told.append))
        assert completion.usage.cost_usd is None
        assert told == ["42"]

    def test_an_empty_question_would_match_everything(self) -> None:
        with pytest.raises(ConfigError, match="empty question"):
            Recorded({" ": "yes"}, "llama")


class TestAnswerText:
    @pytest.mark.parametrize(
        ("output", "text"),
        [
            ('{"reasoning": "6 * 7", "answer": "42"}', "6 * 7\n\nAnswer: 42"),
            ('``` json\n{\n "reasoning": " a\\nb ",\n "answer": "$18"\n}\n```', "a\nb\n\nAnswer: $18"),
            ('Here: {"answer": 42} Done.', "Answer: 42"),
            ('{"reasoning": "x", "answer": {"a": [1, null, true]}}', "x\n\nAnswer: {'a': [1, None, True]}"),
            ('{"reasoning": "line\nbreak", "answer": "1"}', "line\nbreak\n\nAnswer: 1"),
            # LaTeX: once undoubled, once doubled, once a real escape
            (r'{"reasoning": "\frac{1}{2} \cdot x", "answer": "\boxed{3}"}', "\\frac{1}{2} \\cdot x\n\nAnswer: \\boxed{3}"),
            (r'{"reasoning": "\\frac{1}{2}", "answer": "\\theta"}', "\\frac{1}{2}\n\nAnswer: \\theta"),
            (
                r'{"reasoning": "a \neq b\nNext\u00e9 \underline{x}", "answer": "\"q\""}',
                'a \\neq b\nNexté \\underline{x}\n\nAnswer: "q"',
            ),
            # spaces and line breaks belong to the answer, but in LaTeX
            ('{"reasoning": "x", "answer": "  a b "}', 'x\n\n{"answer": "  a b "}'),
            ('{"answer": "a\\n\\n b"}', '{"answer": "a\\n\\n b"}'),
            ('{"answer": ""}', '{"answer": ""}'),
            ('{"answer": "\\\\frac{1}{2}\\n"}', "Answer: \\frac{1}{2}"),
        ],
    )
    def test_reads(self, output: str, text: str) -> None:
        assert answer_text(output) == text

    @pytest.mark.parametrize(
        "output",
        [
            "The answer is 42.",
            "",
            '{"reasoning": "and so on"\n "answer": "315"}',
            '{"reasoning": "cut off he',
            '{"reasoning": "no answer"}',
            '["answer"]',
            "{2, 3}",
            '{"a":' * 100_000 + "}",
        ],
    )
    def test_leaves_alone_what_it_can_not_read(self, output: str) -> None:
        assert answer_text(output) == output

    @given(st.text())
    def test_never_fails(self, output: str) -> None:
        answer_text(output)

    @given(reasoning=st.text('ab \n"{}é'), answer=st.text('0123$-{}"é', min_size=1))
    def test_proper_json_is_read_as_json(self, reasoning: str, answer: str) -> None:
        output = json.dumps({"reasoning": reasoning, "answer": answer})
        assert answer_text(output) == f"{reasoning.strip()}\n\nAnswer: {answer}"


def write(file: Path, lines: list[Any]) -> None:
    file.parent.mkdir(exist_ok=True)
    with gzip.open(file, "wt", encoding="utf-8") as out:
        out.writelines((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(
        tmp_path / "questions.jsonl.gz",
        [
            {"dataset": "gsm", "id": "1", "question": DUCKS, "answer": "9", "prompt": "not needed"},
            {"dataset": "math", "id": 7, "question": "Find x.", "answer": "1", "prompt": ""},
        ],
    )
    for name, answer in (("phi", "8"), ("llama", "9")):
        write(
            tmp_path / "outputs" / f"{name}.jsonl.gz",
            [
                {"dataset": "gsm", "id": "1", "output": json.dumps({"reasoning": "Count.", "answer": answer})},
                {"dataset": "math", "id": 7, "output": "x is 1"},
            ],
        )
    return tmp_path


@pytest.mark.parametrize(
    "text", ["  a b ", "a\n\n b", "", "\t", "pear\tapple\there", "two\rthree", "one", "two words", "é\x0c", 'a "b" ', "\n"]
)
async def test_a_recorded_text_is_judged_as_it_was_given(text: str) -> None:
    problem = Problem(question="f() == ??", target=repr(text), kind="output-prediction", source="")
    said = answer_text(json.dumps({"reasoning": "So it is.", "answer": text}))
    assert (await OutputVerifier()(problem, said)).correct
    other = Problem(question="f() == ??", target=repr(f"{text} "), kind="output-prediction", source="")
    assert not (await OutputVerifier()(other, said)).correct


class TestLoadReplay:
    async def test_reads_every_worker(self, folder: Path) -> None:
        workers = load_replay(folder)
        assert [name for name, _ in workers] == ["llama", "phi"]
        said = [(await worker(Call.plain(question))).text for _, worker in workers for question in (DUCKS, "Find x.")]
        assert said == ["Count.\n\nAnswer: 9", "x is 1", "Count.\n\nAnswer: 8", "x is 1"]

    async def test_keeps_to_one_dataset(self, folder: Path) -> None:
        (_, llama), _ = load_replay(folder, dataset="gsm")
        assert (await llama(Call.plain(DUCKS))).text.endswith("9")
        with pytest.raises(WorkerRefused):
            await llama(Call.plain("Find x."))

    async def test_reads_a_further_sample_or_the_last(self, folder: Path) -> None:
        samples = [{"answer": "8", "score": 0.0}, {"answer": "9", "score": 1.0}]
        lines = [{"dataset": "gsm", "id": "1", "samples": samples}, {"dataset": "math", "id": 7, "output": "x is 1"}]
        write(folder / "outputs" / "phi.jsonl.gz", lines)
        for sample, said in ((0, "8"), (1, "9"), (2, "9")):
            _, (_, phi) = load_replay(folder, sample=sample)
            assert (await phi(Call.plain(DUCKS))).text == f"Answer: {said}"
            assert (await phi(Call.plain("Find x."))).text == "x is 1"

    def test_says_what_is_wrong(self, folder: Path) -> None:
        with pytest.raises(ConfigError, match="no questions of dataset 'gsm8k'"):
            load_replay(folder, dataset="gsm8k")
        with pytest.raises(ConfigError, match="can not be read"):
            load_replay(folder / "nowhere")
        bad = folder / "outputs" / "bad.jsonl.gz"
        for line, message in [
            ("{", "line 1 is not as"),
            ({"dataset": "gsm", "id": "1"}, "line 1 is not as"),
            ({"dataset": "gsm", "id": "9", "output": "?"}, "not among the questions"),
            (
                {"dataset": "gsm", "id": 1, "output": "?"},
                "has the id 1 of 'gsm' as a number, and elsewhere in the folder it is '1'",
            ),
            (
                {"dataset": "math", "id": "7", "output": "?"},
                "has the id '7' of 'math' as a text, and elsewhere in the folder it is 7",
            ),
            ({"dataset": "math", "id": 7.0, "output": "?"}, "line 1 is not as"),
        ]:
            write(bad, [line])
            with pytest.raises(ConfigError, match=message):
                load_replay(folder)
        bad.write_bytes((folder / "outputs" / "phi.jsonl.gz").read_bytes()[:-20])
        with pytest.raises(ConfigError, match="can not be read"):
            load_replay(folder)
        for file in (folder / "outputs").iterdir():
            file.unlink()
        with pytest.raises(ConfigError, match="nobody to replay"):
            load_replay(folder)

    async def test_a_gap_is_known(self, folder: Path) -> None:
        write(folder / "outputs" / "phi.jsonl.gz", [{"dataset": "math", "id": 7, "output": "x is 1"}])
        (_, llama), (_, phi) = load_replay(folder)
        assert [worker.answers(DUCKS) for worker in (llama, phi)] == [True, False]
        with pytest.raises(WorkerRefused, match="phi has no recorded answer"):
            await phi(Call(subtask=f"Solve:\n\n{DUCKS}"))

    def test_an_id_is_there_once_and_of_one_type(self, folder: Path) -> None:
        line = {"dataset": "math", "id": 7, "output": "x is 1"}
        write(folder / "outputs" / "phi.jsonl.gz", [line, line])
        with pytest.raises(ConfigError, match="twice"):
            load_replay(folder)
        write(folder / "outputs" / "phi.jsonl.gz", [line])
        asked = {"dataset": "gsm", "id": "1", "question": DUCKS}
        write(folder / "questions.jsonl.gz", [asked, {**asked, "id": 1, "question": "Other?"}])
        with pytest.raises(ConfigError, match="one type"):
            load_replay(folder)
