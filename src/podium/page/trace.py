"""A run as a tree: rounds, the writing of each workflow, steps, the tools they called, the rounds of Conductors below them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from podium.page.following import ended_as, is_stopped, nobody_planned
from podium.page.shown import figures, line, took
from podium.types import StepResult, Transcript
from podium.workflow.draw import said, sees, unasked

DEEPEST = 8
MOST_BELOW = 200
"""Nodes of one list that are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One thing that happened. Example: ``Node(id="1.0", name="step 0 atlas", figures="0.64 s", said="Answer: 42")``."""

    id: str
    """Its place in the tree: rounds count from 1, as everywhere, steps from 0, as workflows do."""
    name: str
    figures: str = ""
    asked: str = ""
    saw: str = ""
    said: str = ""
    failed: bool = False
    stopped: bool = False
    """Whether somebody stopped it, and nothing is wrong."""
    below: tuple["Node", ...] = ()


def trace(transcripts: Sequence[Transcript], place: str = "", depth: int = 0) -> tuple[Node, ...]:
    """The rounds and what is below them; of a tree that is deeper than any sensible one the top."""
    if depth > DEEPEST:
        return ()
    return tuple(_round(each, f"{place}{number}", number, depth) for number, each in enumerate(transcripts[:MOST_BELOW], 1))


def every(nodes: Sequence[Node]) -> Iterator[Node]:
    """All nodes, from the top down."""
    for node in nodes:
        yield node
        yield from every(node.below)


def _round(transcript: Transcript, place: str, number: int, depth: int) -> Node:
    written, failure = transcript.generation, transcript.failure
    writing = Node(
        id=f"{place}.w",
        name="the workflow is written",
        figures=figures(written.seconds, written.usage),
        said=written.text,
        failed=transcript.workflow is None and failure is not None and not is_stopped(failure),
        stopped=transcript.workflow is None and is_stopped(failure),
    )
    steps = [_step(transcript, result, f"{place}.{index}", index, depth) for index, result in enumerate(transcript.results)]
    return Node(
        id=place,
        name=f"Round {number}",
        figures=figures(transcript.critical_seconds, transcript.usage),
        asked="\n\n".join(message.content for message in transcript.question),
        said=transcript.answer or ("" if failure is None else f"{failure.kind}: {failure.message}"),
        failed=failure is not None and not is_stopped(failure),
        stopped=is_stopped(failure),
        below=(*(() if nobody_planned(transcript) else (writing,)), *steps[:MOST_BELOW]),
    )


def _step(transcript: Transcript, result: StepResult, place: str, index: int, depth: int) -> Node:
    completion, ended = result.completion, ended_as(result)
    seconds = max(result.seconds, 0.0 if completion is None else completion.seconds)
    uses = () if completion is None or result.skipped is not None else completion.tool_uses
    tools = tuple(
        Node(id=f"{place}.t{number}", name=f"calls {line(use.tool, 40)}", asked=use.arguments, said=use.result, failed=use.failed)
        for number, use in enumerate(uses[:MOST_BELOW])
    )
    nested = () if completion is None or result.skipped is not None else completion.transcripts
    used = took(seconds) if result.usage is None else figures(seconds, result.usage)
    return Node(
        id=place,
        name=f"step {index} {line(result.worker, 40)}",
        figures=unasked(result) or (used if result.was_needed else "not needed, or not yet"),
        asked=result.step.subtask,
        saw="" if transcript.workflow is None else sees(transcript.workflow, index),
        said=said(result),
        failed=ended == "failed",
        stopped=ended == "cut",
        below=(*tools, *trace((*result.failed_rounds, *nested), f"{place}.", depth + 1)),
    )
