"""``prompted:FOLDER``: who is conducted, what the worker is told, and folders that can not be used."""

from pathlib import Path

import pytest

import podium
from podium.errors import CheckpointError, ConfigError
from podium.policies.prompted_record import FILE, PromptedExample, PromptedRecord, write_prompted
from podium.policies.tuned_record import TunedStep
from podium.types import Call
from podium.workers.scripted import Scripted

RECORD = PromptedRecord(
    conductor="boss", workers=("left", "right"), max_steps=3, attempts=1, advice="Ask right.", skills={"right": {"sums": 0.9}},
    examples=(
        PromptedExample(question="1 + 1?", reasoning="Right can add.", steps=(TunedStep(worker="right", subtask="Add."),)),
        PromptedExample(question="3 - 1?", reasoning="Left can, too.", steps=(TunedStep(worker="left", subtask="Subtract."),)),
    ),
)  # fmt: skip


def members(*names: str, seen: list[Call] | None = None) -> list[podium.Member]:
    def answer(call: Call) -> str:
        if seen is not None:
            seen.append(call)
        return 'model_id = [0]\nsubtasks = ["Do it."]\naccess_list = [[]]'

    workers = {name: Scripted(answer if name == "boss" else name) for name in names}
    return [podium.Member(worker=worker, card=podium.Card(name=name)) for name, worker in workers.items()]


async def told(folder: str, *names: str) -> tuple[str, str]:
    """What the Conductor is told, and the answer."""
    seen: list[Call] = []
    async with podium.open_pool(members(*names, seen=seen)) as pool:
        answer = await podium.conductor(pool, folder).ask("2 + 2?")
    return "\n".join(message.content for message in seen[0].question), answer.text


async def test_workers_have_the_numbers_they_were_tuned_with(tmp_path: Path) -> None:
    write_prompted(tmp_path, RECORD)
    text, answer = await told(f"prompted:{tmp_path}", "new", "right", "boss", "left")
    assert answer == "left"
    assert text.index("Model 0: left") < text.index("Model 1: right; measured: sums 90%")
    assert "ADVICE\n\nAsk right." in text
    assert 'model_id = [1]\nsubtasks = ["Add."]' in text
    assert text.count("EXAMPLE") == 2, "in place of the usual examples"
    assert "new" not in text


async def test_a_worker_that_is_missing(tmp_path: Path) -> None:
    write_prompted(tmp_path, RECORD)
    with pytest.raises(ConfigError, match="'left', which the pool has not; tune again, or name it with :allow-missing"):
        await told(f"prompted:{tmp_path}", "right", "boss")
    text, answer = await told(f"prompted:{tmp_path}:allow-missing", "right", "boss")
    assert answer == "right"
    assert text.count("EXAMPLE") == 1
    for pool in (("left", "right"), ("boss",)):
        with pytest.raises(ConfigError, match="tune again"):
            await told(f"prompted:{tmp_path}:allow-missing", *pool)


@pytest.mark.parametrize("text", ["{", "[]", '{"form": "another"}', RECORD.model_dump_json().replace("version 1", "version 9")])
async def test_a_folder_that_can_not_be_used(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text)
    with pytest.raises(CheckpointError, match="of this version of podium"):
        await told(f"prompted:{tmp_path}", "left", "right", "boss")


async def test_an_example_that_can_not_be_carried_out(tmp_path: Path) -> None:
    steps = (TunedStep(worker="left", subtask="Look ahead.", access=(3,)),)
    write_prompted(tmp_path, RECORD.model_copy(update={"examples": (PromptedExample(question="?", reasoning="", steps=steps),)}))
    with pytest.raises(CheckpointError, match="can not be carried out"):
        await told(f"prompted:{tmp_path}", "left", "right", "boss")


@pytest.mark.parametrize("spec", ["prompted", "prompted:", "prompted:/nowhere/at/all", "prompted::allow-missing"])
async def test_a_folder_that_is_not_there_says_what_to_do(spec: str) -> None:
    with pytest.raises(ConfigError, match="podium tune"):
        await told(spec, "left", "right", "boss")
