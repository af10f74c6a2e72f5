"""Feedback: what is said of a run is kept with it and goes with it; what is called right becomes problems."""

import asyncio
import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from podium.cli.app import app
from podium.errors import ConfigError
from podium.pools.problems import load_problems
from podium.serving.store.database import Database
from podium.serving.store.feedback import LONGEST, FeedbackStore
from podium.serving.store.runs import Run, Runs
from podium.types import Message, Transcript
from tests.serving.test_store_runs import HOSTILE, NOON, run, transcript


def asked(number: int, question: str, key: str = "") -> Run:
    return replace(run(number, key, question), transcripts=(transcript(question),))


async def test_what_is_said_last_counts_and_goes_with_its_run(database: Database) -> None:
    runs, store = Runs(database), FeedbackStore(database)
    await runs.add(asked(1, "q"))
    one = asked(1, "q").id
    assert await store.get(one) is None
    await store.say(one, thumb=-1, right_answer=f" {HOSTILE} ")
    said = await store.get(one)
    assert said is not None
    assert (said.thumb, said.right_answer) == (-1, HOSTILE.strip())
    await store.say(one, thumb=1, right_answer="")
    said = await store.get(one)
    assert said is not None
    assert (said.thumb, said.right_answer) == (1, "")
    await store.say(one, thumb=0, right_answer=" ")
    assert await store.get(one) is None, "taken back"
    await store.say(one, thumb=1, right_answer="")
    assert await runs.delete_older(NOON + timedelta(days=1), key=None) == 1
    assert await store.get(one) is None
    with pytest.raises(ConfigError, match="no longer kept"):
        await store.say(one, thumb=1, right_answer="")


async def test_what_makes_no_sense_is_refused(database: Database) -> None:
    store = FeedbackStore(database)
    await Runs(database).add(asked(1, "q"))
    with pytest.raises(ConfigError, match="thumb"):
        await store.say(asked(1, "q").id, thumb=2, right_answer="")
    with pytest.raises(ConfigError, match="at most"):
        await store.say(asked(1, "q").id, thumb=0, right_answer="x" * (LONGEST + 1))


async def test_only_questions_that_stand_alone_with_a_known_answer_become_problems(database: Database) -> None:
    runs, store = Runs(database), FeedbackStore(database)
    turns = (Message(role="user", content="a"), Message(role="assistant", content="b"), Message(role="user", content="go on"))
    later: Transcript = replace(transcript("go on"), question=turns)
    kept = [
        asked(1, "corrected", "key_a"),
        asked(2, "liked", "key_b"),
        asked(3, "disliked", "key_b"),
        replace(asked(4, "go on"), transcripts=(later,)),
        replace(run(5), transcripts=()),
    ]
    for each in kept:
        await runs.add(each)
    for each, thumb, right in zip(kept, (-1, 1, -1, 1, 1), ("43", "", "", "yes", "x"), strict=True):
        await store.say(each.id, thumb=thumb, right_answer=right)
    found = [problem async for problem in store.problems()]
    assert [(problem.question, problem.target) for problem in found] == [("corrected", "43"), ("liked", "42")]
    assert [problem.question async for problem in store.problems(key="key_b")] == ["liked"]


def test_they_are_written_into_a_file_that_can_be_learned_from(tmp_path: Path) -> None:
    db, out = f"sqlite:///{tmp_path}/runs.db", tmp_path / "problems.jsonl"

    async def fill() -> None:
        async with Database(db) as database:
            await Runs(database).add(asked(1, "6 times 7?"))
            await FeedbackStore(database).say(asked(1, "q").id, thumb=0, right_answer="42")

    asyncio.run(fill())
    done = CliRunner().invoke(app, ["runs", "problems", "--db", db, "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert "wrote 1 problem" in done.output
    [problem] = load_problems(out)
    assert (problem.question, problem.target, problem.kind) == ("6 times 7?", "42", "question")
    assert json.loads(out.read_text())["target"] == "42"
    assert CliRunner().invoke(app, ["runs", "problems", "--db", db, "--out", str(out)]).exit_code == 2, "nothing is overwritten"
