"""The forty texts that try to break the page, said by a worker in the terminal: nothing but text arrives there."""

import asyncio
import io
import re
import unicodedata
from datetime import UTC, datetime
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from podium.cli.app import app
from podium.cli.live import RunView
from podium.conduct import Conductor
from podium.events import PlanStarted, PlanToken, WorkflowWritten
from podium.policies.fixed import FixedPolicy
from podium.serving.store.database import Database
from podium.serving.store.runs import Run, Runs
from podium.types import Call, Card, Generation, Step, Workflow
from podium.workers.pool import Member, WorkerPool
from podium.workers.scripted import Scripted
from podium.workflow.draw import as_text, plain
from tests.page.hostile import PAYLOADS

STYLES = re.compile(r"\x1b\[[0-9;?]*[mAKhlJ]")
"""What Rich itself sends: colours, and the redrawing of its table."""


TURNS = {chr(code) for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))}
"""What makes text run the other way."""


def strange(text: str) -> set[str]:
    """Characters that a terminal would act on."""
    left = set(STYLES.sub("", text)) - {"\n", "\r", "\t"}
    return {char for char in left if unicodedata.category(char) in ("Cc", "Cs")} | (left & TURNS)


@pytest.mark.parametrize("payload", PAYLOADS, ids=range(len(PAYLOADS)))
async def test_a_worker_can_not_move_the_cursor(payload: str) -> None:
    workflow = Workflow(steps=(Step(worker=0, subtask=payload[:2000]), Step(worker=0, subtask="Again.", access=(0,))))
    pool = WorkerPool([Member(worker=Scripted(payload), card=Card(name="hostile"))])
    for terminal in (True, False):
        console = Console(file=io.StringIO(), force_terminal=terminal, width=100, height=40)
        with RunView(console) as view:
            completion = await Conductor(FixedPolicy(workflow), pool).conduct(Call.plain("6 times 7?"), view.on_event)
        assert isinstance(console.file, io.StringIO)
        assert not strange(console.file.getvalue())
    assert not strange(plain(completion.text))
    assert not strange(as_text(completion.transcripts[0]))


@pytest.mark.parametrize("payload", PAYLOADS, ids=range(len(PAYLOADS)))
def test_a_plan_in_writing_can_not_move_the_cursor_either(payload: str) -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=80, height=40)
    view = RunView(console)
    view.on_event(PlanStarted(round=1))
    for character in payload[:3000]:
        view.on_event(PlanToken(round=1, text=character))
    console.print(view)
    assert isinstance(console.file, io.StringIO)
    assert not strange(console.file.getvalue())


def test_the_plan_is_shown_as_it_is_written_and_gives_way_to_the_workflow() -> None:
    def shown() -> str:
        console = Console(file=io.StringIO(), width=80)
        console.print(view)
        assert isinstance(console.file, io.StringIO)
        return console.file.getvalue()

    view = RunView(Console(file=io.StringIO(), force_terminal=True, width=80))
    view.on_event(PlanStarted(round=1))
    assert "..." in shown()
    for piece in ("Let cedar ", "recall, then\n", "model_id = [2"):
        view.on_event(PlanToken(round=1, text=piece))
    assert "Let cedar recall, then" in shown()
    assert "model_id = [2" in shown()
    view.on_event(PlanStarted(round=1, attempt=2))
    assert "cedar" not in shown(), "a new attempt voids what was written before"
    view.on_event(PlanToken(round=1, text="\n".join(f"line {n}" for n in range(500))))
    assert "line 499" in shown()
    assert len(shown().splitlines()) < 20
    workflow = Workflow(steps=(Step(worker=0, subtask="Recall."),))
    view.on_event(WorkflowWritten(round=1, workflow=workflow, generation=Generation(text=""), workers=("cedar",)))
    assert "line 499" not in shown()
    assert "Recall." in shown()
    view.on_event(PlanStarted(round=2))
    assert shown().index("Recall.") < shown().index("as it is written"), "the next plan stands below the rounds before"


async def keep(url: str) -> None:
    async with Database(url) as database:
        for number, payload in enumerate(PAYLOADS):
            pool = WorkerPool([Member(worker=Scripted(payload), card=Card(name="hostile"))])
            completion = await Conductor(FixedPolicy(Workflow(steps=(Step(worker=0, subtask="Go."),))), pool)(Call.plain("?"))
            run = Run(
                id=f"run_{number:024x}",
                model="podium",
                created=datetime.now(UTC),
                seconds=0.1,
                usage=completion.usage,
                question=payload[:5000],
                answer=payload,
                transcripts=completion.transcripts,
            )
            await Runs(database).add(run)


def test_a_kept_run_is_shown_and_listed_as_text(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'podium.db'}"
    asyncio.run(keep(url))
    runner = CliRunner()
    listed = runner.invoke(app, ["runs", "list", "--n", "50", "--db", url])
    assert listed.exit_code == 0, listed.output
    assert not strange(listed.output)
    for number in range(len(PAYLOADS)):
        shown = runner.invoke(app, ["runs", "show", f"run_{number:024x}", "--db", url])
        assert shown.exit_code == 0, shown.output
        assert not strange(shown.output)
