"""Pictures of a run: complete, and safe against what workers write."""

import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from podium.conduct import Conductor
from podium.errors import WorkerUnavailable
from podium.policies.fixed import FixedPolicy
from podium.types import Call, Step, ToolUse, Transcript, Usage, Workflow
from podium.workflow.draw import as_mermaid, as_svg, as_text, dollars, plain
from tests.workflows import pool_of

HOSTILE = "</text><script>alert(1)</script> \x1b[31mred\x07 \u202egnp.exe & \"quoted\" 'x' \ud800 ]]> "
PLAN = Workflow(
    steps=(
        Step(worker=0, subtask=f"Plan. {HOSTILE}"),
        Step(worker=1, subtask="Try it alone."),
        Step(worker=0, subtask="Decide.", access=(0, 1)),
    )
)


async def transcript() -> Transcript:
    conductor = Conductor(FixedPolicy(PLAN), pool_of(lambda call: f"answer {HOSTILE}", "alone"))
    return (await conductor(Call.plain(f"6 times 7? {HOSTILE}"))).transcripts[0]


async def test_the_svg_is_one_well_formed_document_without_script() -> None:
    svg = as_svg(await transcript())
    root = ET.fromstring(svg)
    names = {element.tag.split("}")[1] for element in root.iter()}
    assert names <= {"svg", "title", "defs", "marker", "path", "rect", "text"}
    texts = " ".join(element.text or "" for element in root.iter())
    assert all(word in texts for word in ("w0", "w1", "step 0, step 1", "its subtask only", "question"))
    assert svg.count("marker-end") == 2  # one arrow for each pair a step sees


@pytest.mark.parametrize("draw", [as_svg, as_text])
async def test_no_control_characters_reach_a_terminal_or_a_page(draw: object) -> None:
    drawn = draw(await transcript())  # type: ignore[operator]
    assert not any(character in drawn for character in "\x1b\x07\u202e\ud800")


async def test_text_says_who_saw_what_and_what_came_of_it() -> None:
    text = as_text(await transcript())
    assert "step 2  w0   sees: step 0, step 1" in text
    assert "says    alone" in text


async def test_tools_that_a_worker_called_by_itself_are_shown() -> None:
    shown = await transcript()
    [*before, last] = shown.results
    assert last.completion is not None
    uses = (
        ToolUse(tool="add", arguments='{"a": 1}', result=f"3 {HOSTILE}", seconds=0.1),
        ToolUse(tool="look", arguments="{}", result="no such file", failed=True),
    )
    used = replace(shown, results=(*before, replace(last, completion=replace(last.completion, tool_uses=uses))))
    text = as_text(used)
    assert 'calls   add {"a": 1} -> 3 </text>' in text
    assert "calls   look {} failed: no such file" in text
    assert "\x1b" not in text
    assert "2 tool calls" in as_svg(used)
    assert "tool call" not in as_svg(shown)


async def test_a_failed_step_says_why() -> None:
    def down(call: Call) -> str:
        raise WorkerUnavailable("busy <b>")

    with pytest.raises(WorkerUnavailable) as raised:
        await Conductor(FixedPolicy(PLAN), pool_of("plan", down))(Call.plain("q"))
    failed = raised.value.transcripts[0]
    assert "WorkerUnavailable: busy <b>" in as_text(failed)
    assert "busy &lt;b&gt;" in as_svg(failed)


def test_mermaid_labels_can_not_break_out() -> None:
    chart = as_mermaid(PLAN, ("w0", "w1"))
    assert chart.count("-->") == 4
    assert "<script" not in chart


def test_unknown_cost_is_said() -> None:
    assert dollars(Usage(cost_usd=None)) == "unknown"
    assert dollars(Usage(cost_usd=0.00012)) == "$0.000120"


def test_plain_cuts_for_display() -> None:
    assert plain("a b\nc" * 50, 10) == "a b ca b …"
