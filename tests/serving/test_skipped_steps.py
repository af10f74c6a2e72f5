"""Wherever a run is shown or counted, a skipped step is said to be skipped, and nobody is said to have been asked."""

from datetime import UTC, datetime

from podium.conduct import Conductor
from podium.evaluation.evaluate import evaluate
from podium.events import Event
from podium.jsonl import loads
from podium.page.following import Following
from podium.page.timeline import spans
from podium.policies.fixed import FixedPolicy
from podium.request_options import RequestOptions
from podium.serving.conversation import ParsedRequest
from podium.serving.metrics import Metrics
from podium.serving.sessions import Session, SessionState
from podium.serving.shown import event_object, podium_object, reasoning, step_summaries
from podium.serving.staying import TurnState
from podium.serving.store.runs import Run
from podium.training.monitor import pattern
from podium.types import Call, Completion, Problem, Step, Usage, Verdict, Workflow
from podium.workers.budget import Budget
from podium.workers.scripted import Scripted
from podium.workflow.draw import as_mermaid, as_svg, as_text
from podium.workflow.parse import format_workflow
from podium.workflow.syntax import WorkflowSyntax
from tests.workflows import pool_of

LANGUAGE = WorkflowSyntax(conditions=True)
CASCADE = Workflow(
    steps=(
        Step(worker=0, subtask="Solve."),
        Step(worker=1, subtask="Solve, too."),
        Step(worker=2, subtask="Decide.", access=(0, 1), condition="unless 2 agree"),
    )
)


def conductor() -> Conductor:
    says = Scripted("Answer: 42", usage=Usage(prompt_tokens=5, completion_tokens=2, cost_usd=0.01))
    return Conductor(FixedPolicy(format_workflow(CASCADE, LANGUAGE)), pool_of(says, says, "never"), syntax=LANGUAGE)


async def conducted() -> tuple[Completion, list[Event]]:
    events: list[Event] = []
    return await conductor().conduct(Call.plain("6 times 7?"), events.append), events


async def test_the_pictures_say_so() -> None:
    transcript = (await conducted())[0].transcripts[0]
    text = as_text(transcript)
    assert "step 2  w2   sees: step 0, step 1 (unless 2 agree)   skipped\n" in text
    assert "says    (skipped, passes on step 0) Answer: 42" in text
    svg = as_svg(transcript)
    assert svg.count("stroke-dasharray") == 1
    assert ">skipped<" in svg
    assert "unless 2 agree" in as_mermaid(CASCADE, ("a", "b", "c"))
    assert pattern(CASCADE) == "0 > 1 > 2(0,1) unless 2 agree"


async def test_clients_are_told_so() -> None:
    completion, events = await conducted()
    told_of = [shown for event in events if (shown := event_object(event)) is not None]
    assert [shown["condition"] for shown in told_of[0]["steps"]] == ["always", "always", "unless 2 agree"]
    assert (told_of[-1]["skipped"], told_of[-1]["passes_on"], told_of[-1]["usage"]["cost_usd"]) == (True, 0, 0.0)
    assert [step["skipped"] for step in podium_object("r", completion)["rounds"][0]["steps"]] == [False, False, True]
    words = [said for event in events if (said := reasoning(event, last=9))]
    assert "step 2, w2: skipped, the answer of step 0 stands for it\n\n" in words
    assert words[0] == step_summaries(completion.transcripts)[0]


async def test_a_session_knows_whose_answer_was_passed_on() -> None:
    session = Session(
        id="ses_x",
        keeps_words=True,
        beginning="b",
        state=SessionState(),
        turn=TurnState(),
        said="1 q",
        asked="a",
        spent_usd=0.0,
        budget=Budget(),
        limit_usd=None,
    )
    parsed = ParsedRequest(model="podium", call=Call.plain("6 times 7?"), options=RequestOptions())
    session.amended(CASCADE, ("w0", "w1", "w2"), {}, parsed)
    kept = session.after((await conducted())[0])
    assert kept is not None
    turn = loads(SessionState, kept).conversations["b"]
    assert turn.worker == "w0", "not who was asked last"
    assert "step 2: model 2, sees 0, 1 (unless 2 agree): Decide." in turn.plan


async def test_it_is_counted_apart_and_costs_nothing() -> None:
    completion, _ = await conducted()
    assert completion.usage == Usage(prompt_tokens=10, completion_tokens=4, cost_usd=0.02)
    metrics = Metrics()
    steps = len(completion.transcripts[0].asked)
    run = Run(
        id="r",
        key="k",
        model="podium",
        created=datetime.now(UTC),
        seconds=1.0,
        usage=completion.usage,
        failure="",
        steps=steps,
        workers=(),
        question=None,
        answer=None,
        transcripts=completion.transcripts,
    )
    metrics.finished(run)
    text = metrics.text(0, 0, {}).decode()
    assert 'podium_steps_skipped_total{model="podium"} 1.0' in text
    assert 'podium_steps_total{model="podium"} 2.0' in text
    assert 'worker="w2"' not in text


async def test_the_page_shows_it_as_skipped() -> None:
    completion, events = await conducted()
    live = Following()
    for event in events:
        live.on_event(event)
    for following in (live, Following.of(completion.transcripts)):
        view = following.rounds[0].steps[2]
        assert (view.state, view.usage, view.seconds) == ("skipped", None, None)
    assert [span.name for span in spans(completion.transcripts)] == ["Conductor", "0 w0", "1 w1"]


async def test_results_count_those_who_were_asked() -> None:
    class Right:
        async def __call__(self, problem: Problem, answer: str) -> Verdict:
            return Verdict(correct=answer == "Answer: 42", extracted="42")

    [result] = await evaluate({"c": conductor()}, [Problem(question="6 times 7?", target="42", kind="x", source="y")], Right())
    assert (result.steps, result.skipped, result.workers) == (2, 1, ("w0", "w1"))
    assert result.verdict is not None
    assert result.verdict.correct
