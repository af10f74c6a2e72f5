"""The tree of a run, the list of runs as HTML, and how two runs differ: without a browser."""

from dataclasses import replace
from datetime import UTC, datetime

from podium.errors import Blame
from podium.page.compare_page import differences
from podium.page.runs_query import RunsQuery
from podium.page.runs_table import lasted, runs_table, status_of, told
from podium.page.trace import DEEPEST, every, trace
from podium.page.trace_view import _list
from podium.serving.store.runs import Run, Sums
from podium.types import Completion, Failure, Generation, Step, StepResult, ToolUse, Transcript, Usage, Workflow, ask

EVIL = '"><script>window.hit=1</script>'


def nested(depth: int) -> Transcript:
    """A round whose only step is a Conductor, ``depth`` times over; the innermost worker calls a tool that fails."""
    tool = ToolUse(tool=EVIL, arguments="{}", result="no", failed=True)
    inner = Completion(text="x", tool_uses=(tool,)) if depth == 0 else Completion(text="x", transcripts=(nested(depth - 1),))
    step = Step(worker=0, subtask="do")
    result = StepResult(step=step, worker=EVIL, completion=inner)
    return Transcript(
        question=ask("q"), generation=Generation(text="w"), workflow=Workflow(steps=(step,)), results=(result,), answer="x"
    )


def test_what_is_below_a_step_is_in_the_tree_and_no_name_is_html() -> None:
    tree = trace([nested(1), nested(0)])
    assert [node.id for node in every(tree)] == [
        "1",
        "1.w",
        "1.0",
        "1.0.1",
        "1.0.1.w",
        "1.0.1.0",
        "1.0.1.0.t0",
        "2",
        "2.w",
        "2.0",
        "2.0.t0",
    ]
    html = _list(tree, "1.0.1.0")
    assert "<script" not in html
    assert html.count('aria-pressed="true"') == 1
    assert html.count("<details open>") == 1, "what is chosen can be seen"


def test_a_tree_without_end_is_cut() -> None:
    assert max(node.id.count(".") for node in every(trace([nested(60)]))) <= 2 * DEEPEST + 2


def test_a_round_that_failed_says_why() -> None:
    failure = Failure(kind="InvalidWorkflow", blame=Blame.POLICY, message="no lists", where="")
    (node,) = trace([Transcript(question=ask("q"), generation=Generation(text="?"), workflow=None, failure=failure)])
    assert (node.failed, node.said, [each.failed for each in node.below]) == (True, "InvalidWorkflow: no lists", [True])


def test_what_was_stopped_did_not_fail_and_what_nobody_wrote_was_not_written() -> None:
    stopped = Failure(kind="Cancelled", blame=Blame.USER, message="stopped before there was an answer", where="")
    begun = StepResult(step=Step(worker=0, subtask="do"), worker="a", failure=stopped, seconds=1.5)
    done = Transcript(
        question=ask("q"), generation=Generation(text=""), workflow=Workflow(steps=(begun.step,)), results=(begun,),
        failure=stopped,
    )  # fmt: skip
    tree = trace([done, replace(done, workflow=None, results=())])
    assert [(node.id, node.failed, node.stopped) for node in every(tree)] == [
        ("1", False, True),
        ("1.0", False, True),
        ("2", False, True),
        ("2.w", False, True),
    ]
    html = _list(tree, "1")
    assert "failed" not in html
    assert "step 0 a stopped" in html


RUN = Run(
    id="run_1", model=EVIL, created=datetime(2026, 5, 3, tzinfo=UTC), seconds=2.0, usage=Usage(prompt_tokens=9, cost_usd=0.2),
    question=EVIL, answer="42", workers=(EVIL, "b"), policy=EVIL, steps=2,
)  # fmt: skip


def test_no_cell_is_html() -> None:
    html = runs_table([RUN, replace(RUN, failure=EVIL, id=EVIL)], RunsQuery(text=EVIL, model=EVIL), "/ui/runs", [EVIL])
    assert "<script" not in html
    assert html.count("<tr>") == 3
    assert 'href="/ui/runs/run_1"' in html
    assert runs_table([], RunsQuery(), "/runs") == ""


def test_an_emoji_does_not_quadruple_what_a_page_holds() -> None:
    html = runs_table([replace(RUN, question="🙂 天 é")], RunsQuery(), "/runs")
    assert html.isascii()
    assert "&#128578; &#22825; &#233;" in html


def test_sums_and_outcomes_in_words() -> None:
    assert [status_of(replace(RUN, failure=failure))[0] for failure in ("", "Cancelled", "Odd")] == [
        "answered",
        "stopped",
        "failed",
    ]
    assert told(Sums(runs=0, usd=0, unpriced=0, tokens=0, seconds=0)) == "No run fits."
    sums = Sums(runs=2, usd=0.5, unpriced=1, tokens=1234, seconds=3.5)
    assert told(sums) == "2 runs · 1,234 tokens · $0.5000 and 1 price unknown · 3.50 s of work"
    assert [lasted(seconds) for seconds in (119, 600, 7320)] == ["119 s of work", "10 minutes of work", "2 h 2 min of work"]


def test_how_two_runs_differ() -> None:
    second = replace(RUN, seconds=1.0, usage=Usage(prompt_tokens=5, cost_usd=0.1), workers=("b",), answer="42\n")
    said = differences(RUN, second)
    assert "Both gave the same answer." in said
    assert "Time: 2.00 s and 1.00 s, 50 % of it." in said
    assert "Cost: $0.2000 and $0.1000, 50 % of it." in said
    much = differences(RUN, replace(RUN, seconds=48.9, usage=Usage(cost_usd=0.51)))
    assert "Time: 2.00 s and 48.9 s, 24 times as much." in much
    assert "Cost: $0.2000 and $0.5100, 2.5 times as much." in much
    unknown = replace(second, usage=Usage(cost_usd=None), answer=None, failure="Cancelled")
    said = differences(RUN, unknown)
    assert "Cost: $0.2000 and price unknown." in said
    assert "The first one: answered; the second one: stopped." in said
