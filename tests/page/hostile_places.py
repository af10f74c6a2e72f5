"""Hostile texts in every place where a page shows what others wrote: kept runs, tunes, studies, training, a job's words."""

import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from podium.errors import Blame
from podium.page.learning_jobs import MOST_PID
from podium.parts import Thought, Thoughts
from podium.policies.tuned_record import FORM, Measured, TunedRecord, TunedStep, TunedWorkflow, write_tuned
from podium.serving.store.database import Database
from podium.serving.store.runs import Run, Runs
from podium.serving.store.shares import Share
from podium.types import (
    Completion,
    Failure,
    Generation,
    Message,
    Step,
    StepResult,
    ToolCall,
    ToolUse,
    Transcript,
    Usage,
    Workflow,
)
from tests.page.hostile import HIT, PAYLOADS

START = datetime(2026, 10, 1, tzinfo=UTC)
FOLDER = f"<img src=x onerror={HIT}>"
ALL = "\n".join(payload[:400] for payload in PAYLOADS).encode("utf-8", "replace").decode()
"""The beginnings of all of them, one below the other, as a file can hold them."""


def run_id(number: int) -> str:
    """The id of the run in which payload ``number`` stands everywhere."""
    return f"run_{number:024x}"


def transcript(said: str) -> Transcript:
    """A round in which every text is ``said``: a step with tools and a Conductor below it, and one that failed."""
    name, usage = said[:200], Usage(prompt_tokens=1000, completion_tokens=5, cached_tokens=900, cost_usd=0.01)
    failure = Failure(kind=name, blame=Blame.WORLD, message=said, where=name)
    steps = (Step(worker=0, subtask=said), Step(worker=1, subtask=said, access=(0,)), Step(worker=0, subtask=said, access=(0,)))
    inner = Transcript(
        question=(Message(role="user", content=said),),
        generation=Generation(text=said),
        workflow=Workflow(steps=steps[:1]),
        results=(StepResult(step=steps[0], worker=name, completion=Completion(text=said)),),
        answer=said,
    )
    done = Completion(
        text=said,
        usage=usage,
        price_source=name,
        transcripts=(inner,),
        tool_uses=(ToolUse(tool=name, arguments=said, result=said, failed=True),),
        thoughts=Thoughts(by=name, thoughts=(Thought(text=said, signature=said),)),
    )
    asks = Completion(text=said, tool_calls=(ToolCall(id="call_1", name=name, arguments=said),), usage=usage)
    lost = replace(inner, answer=None, failure=failure)
    return Transcript(
        question=(
            Message(role="user", content=said),
            Message(role="assistant", content=said),
            Message(role="user", content=said),
        ),
        generation=Generation(text=said, policy_version=name, usage=usage),
        workflow=Workflow(steps=steps),
        results=(
            StepResult(step=steps[0], worker=name, completion=done, failed_rounds=(lost,)),
            StepResult(step=steps[1], worker=name, failure=failure),
            StepResult(step=steps[2], worker=name, completion=asks),
        ),
        answer=said,
    )


def run(number: int) -> Run:
    """A run with payload ``number`` in every text; each third one failed. Two neighbours are one conversation."""
    said = PAYLOADS[number]
    name = said[:200]
    usage = Usage(prompt_tokens=9, cost_usd=0.02)
    made = transcript(said)
    failure = ""
    if number % 3 == 2:
        failure = name
        made = replace(made, answer=None, failure=Failure(kind=name, blame=Blame.WORLD, message=said, where=name))
    return Run(
        id=run_id(number),
        model=name,
        created=START + timedelta(minutes=number),
        seconds=2.0,
        usage=usage,
        session=f"session_{number // 2}",
        failure=failure,
        steps=3,
        workers=(name, "atlas"),
        policy=name,
        shares=(Share(worker=name, usage=usage),),
        question=said,
        answer=None if failure else said,
        transcripts=(made, made) if number % 8 == 0 else (made,),  # a second round has the same places as a first
    )


def write(folder: Path) -> None:
    """Everything below ``folder``, as a server of its own finds it there."""

    async def runs() -> None:
        async with Database(f"sqlite:///{folder}/runs.db") as database:
            for number in range(len(PAYLOADS)):
                await Runs(database).add(run(number))

    asyncio.run(runs())
    learned = folder / "training" / FOLDER
    measured = Measured(right=0.9, low=0.8, high=1.0, problems=40, usd=0.01)
    step = TunedStep(worker=ALL, subtask=ALL)
    workflows = tuple(TunedWorkflow(steps=(step,), kinds={ALL: measured, FOLDER: measured}) for _ in range(3))
    record = TunedRecord(form=FORM, workers=(ALL,), prefer="balanced", price=20.0, robust=0, workflows=workflows)
    write_tuned(learned / "tuned", record, [(ALL, ALL)])
    (learned / "tuned" / "report.md").write_text(f"# Tuned policy\n\n{ALL}\n")
    study = learned / "study"
    study.mkdir(parents=True)
    (study / "table.json").write_text("{}")
    (study / "table.md").write_text(f"# {FOLDER}\n\n| arm | {FOLDER} |\n|---|---|\n| {FOLDER} | 9 % |\n\n{ALL}")
    (study / "report.html").write_text(ALL)
    small = learned / "run"
    small.mkdir()
    numbers = {"iteration": 0, "correct": 0.5, "valid": 1.0, "correct_by_kind": {ALL: 0.5}, "steps_by_kind": {FOLDER: 1.0}}
    (small / "metrics.jsonl").write_text(json.dumps(numbers) + "\n")
    lists = 'model_id = [0]\nsubtasks = ["x"]\naccess_list = [[]]'
    turn = {"text": f"{ALL}\n{lists}", "correct": True, "reward": 1.0, "advantage": 0.0, "failure": ALL, "cost_usd": 0.0}
    group = {"iteration": 0, "kind": ALL, "pool": [FOLDER, ALL], "rollouts": [[turn], [turn | {"text": lists, "failure": None}]]}
    (small / "groups.jsonl").write_text(json.dumps(group) + "\n")
    (folder / f"{FOLDER}.jsonl").write_text("")
    (folder / f"{FOLDER}.toml").write_text('title = "t"\narms = ["worker:*"]\nout = "x"\n[problems]\ngym = 20\n')
    kept = folder / "training" / ".learning"
    kept.mkdir()
    job = {"kind": FOLDER, "name": ALL, "pid": MOST_PID, "started": 1.0, "usd": 1.0}
    (kept / "job.json").write_text(json.dumps(job))
    (kept / "words.log").write_text(ALL)
