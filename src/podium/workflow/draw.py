"""Workflow and Transcript as text, Mermaid and SVG.

Everything a worker or a policy wrote is hostile here: control characters are dropped, markup is escaped, long texts are cut
(with an ellipsis, for display only).
"""

import re
from html import escape

from podium.conditions import ALWAYS
from podium.types import StepResult, ToolUse, Transcript, Usage, Workflow

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def plain(text: str, width: int | None = None) -> str:
    """``text`` without terminal escapes and characters that change the direction of text; with ``width``, on one line of at most
    that many characters.

    Example: ``plain("a\\x1b[31m\\nb", 20) == "a[31m b"``.
    """
    clean = _CONTROL.sub("", text)
    if width is None:
        return clean
    line = " ".join(clean.split())
    return line if len(line) <= width else line[: width - 1] + "…"


def counted(number: int, noun: str) -> str:
    """Example: ``counted(1, "step") == "1 step"``, ``counted(2000, "step") == "2,000 steps"``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def dollars(usage: Usage) -> str:
    """The cost as people write it. Example: ``dollars(Usage(cost_usd=None)) == "unknown"``."""
    if usage.cost_usd is None:
        return "unknown"
    return f"${usage.cost_usd:.6f}" if usage.cost_usd < 0.01 else f"${usage.cost_usd:.4f}"


def price(usage: Usage, paid_usd: float | None) -> str:
    """What an answer cost and, where that is another sum, what of it was paid now; the rest came from a journal.

    Example: ``price(Usage(cost_usd=0.5), 0.0) == "$0.5000, $0.000000 of it paid now"``.
    """
    if paid_usd is None or (usage.cost_usd is not None and abs(usage.cost_usd - paid_usd) < 1e-9):
        return dollars(usage)
    return f"{dollars(usage)}, {dollars(Usage(cost_usd=paid_usd))} of it paid now"


def sees(workflow: Workflow, index: int) -> str:
    """What step ``index`` is shown, in words, and its condition.

    Example: ``"question"``, ``"step 0, step 2 (unless 2 agree)"``, ``"its subtask only"``.
    """
    step = workflow.steps[index]
    parts = ["last answer"] if step.last_answer else ["question"] if index == 0 else []
    parts += [f"step {seen}" for seen in step.access]
    shown = ", ".join(parts) or "its subtask only"
    return shown if step.condition == ALWAYS else f"{shown} ({step.condition})"


def as_text(transcript: Transcript, width: int = 110) -> str:
    """One round as plain text, a block per step; for terminals, logs and the README."""
    if transcript.workflow is None:
        return "keeps the answer" if transcript.failure is None else f"no workflow: {plain(transcript.failure.message, width)}"
    lines: list[str] = []
    for index, result in enumerate(transcript.results):
        figures = unasked(result) or f"{_seconds(result):.2f} s"
        if result.usage is not None and not unasked(result):
            figures += f"  {dollars(result.usage)}"
        lines.append(f"step {index}  {plain(result.worker, 24)}   sees: {sees(transcript.workflow, index)}   {figures}")
        lines.append(f"  asked   {plain(result.step.subtask, width - 10)}")
        lines += [f"  calls   {plain(used(use), width - 10)}" for use in _uses(result)]
        lines.append(f"  says    {plain(said(result), width - 10)}")
    return "\n".join(lines)


def as_mermaid(workflow: Workflow, workers: tuple[str, ...]) -> str:
    """A Mermaid flow chart of ``workflow``; ``workers`` are the names its numbers stand for."""
    lines = ["flowchart LR", '  q(["question"])']
    for index, step in enumerate(workflow.steps):
        label = f"{index}: {plain(workers[step.worker], 24)}<br/>{_mermaid(plain(step.subtask, 48))}"
        label += "" if step.condition == ALWAYS else f"<br/>({_mermaid(step.condition)})"
        lines.append(f'  s{index}["{label}"]')
        lines += [f"  s{seen} --> s{index}" for seen in step.access]
    lines.append("  q --> s0")
    lines.append('  a(["answer"])')
    lines.append(f"  s{len(workflow.steps) - 1} --> a")
    return "\n".join(lines)


def planned(workflow: Workflow, workers: tuple[str, ...], width: int = 110) -> str:
    """A workflow that nobody carried out, as plain text, a block per step."""
    lines: list[str] = []
    for index, step in enumerate(workflow.steps):
        lines.append(f"step {index}  {plain(workers[step.worker], 24)}   sees: {sees(workflow, index)}")
        lines.append(f"  asked   {plain(step.subtask, width - 10)}")
    return "\n".join(lines)


_BOX_WIDTH, _BOX_HEIGHT, _GAP_X, _GAP_Y, _MARGIN, _DIP = 264, 112, 70, 36, 20, 44


def as_svg(transcript: Transcript) -> str:
    """One round as a self-contained SVG: columns are waves, a box per step with what it was asked and what it said.

    Raises ValueError where the round has no workflow to draw.
    """
    workflow = transcript.workflow
    if workflow is None:
        raise ValueError("this round has no workflow to draw")
    place: dict[int, tuple[int, int]] = {}
    tallest = max(len(wave) for wave in workflow.waves)
    for column, wave in enumerate(workflow.waves):
        for row, index in enumerate(wave):
            down = (2 * row + tallest - len(wave)) * (_BOX_HEIGHT + _GAP_Y) // 2
            place[index] = (_MARGIN + column * (_BOX_WIDTH + _GAP_X), 74 + down)
    width = max(640, max(x for x, _ in place.values()) + _BOX_WIDTH + _MARGIN)
    height = max(y for _, y in place.values()) + _BOX_HEIGHT + 84
    question = plain(transcript.question[-1].content, (width - 2 * _MARGIN) // 9)
    outcome = transcript.answer if transcript.answer is not None else _failed(transcript)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="system-ui, sans-serif" font-size="13" role="img">',
        f"<title>{escape(question)}</title>",
        '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0 L10 5 L0 10 z" fill="#64748b"/></marker></defs>',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        f'<text x="{_MARGIN}" y="30" font-size="15" font-weight="600" fill="#0f172a">{escape(question)}</text>',
        f'<text x="{_MARGIN}" y="52" fill="#475569">{counted(len(workflow.steps), "step")}, {transcript.critical_seconds:.2f} s, '
        f"{escape(dollars(transcript.usage))}</text>",
    ]
    for index, step in enumerate(workflow.steps):
        parts += [_arrow(place[seen], place[index]) for seen in step.access]
    for result, index in zip(transcript.results, range(len(workflow.steps)), strict=True):
        parts += _box(workflow, index, result, place[index])
    ending = plain(f"given to the user: {outcome}", (width - 2 * _MARGIN) // 8)
    parts.append(f'<text x="{_MARGIN}" y="{height - 20}" font-weight="600" fill="#0f172a">{escape(ending)}</text>')
    return "\n".join([*parts, "</svg>"])


def _box(workflow: Workflow, index: int, result: StepResult, place: tuple[int, int]) -> list[str]:
    x, y = place
    failed = result.failure is not None and result.was_needed
    cost = "" if result.usage is None else f"  {dollars(result.usage)}"
    asked = result.was_asked
    lines = [
        (f"{index}  {plain(result.worker, 22)}", "#0f172a", "600"),
        (f"sees {plain(sees(workflow, index), 34)}", "#475569", "400"),
        (plain(result.step.subtask, 36), "#475569", "400"),
        (plain(said(result), 36), "#b91c1c" if failed else "#0f766e" if asked else "#475569", "400"),
        (unasked(result) or f"{_seconds(result):.2f} s{cost}{_called(result)}", "#475569", "400"),
    ]
    fill, border = ("#fef2f2", "#b91c1c") if failed else ("#f8fafc", "#94a3b8")
    line = "" if asked else ' stroke-dasharray="5 4"'
    box = [f'<rect x="{x}" y="{y}" width="{_BOX_WIDTH}" height="{_BOX_HEIGHT}" rx="8" fill="{fill}" stroke="{border}"{line}/>']
    for row, (text, colour, weight) in enumerate(lines):
        style = f'fill="{colour}" font-weight="{weight}" font-size="12"'
        box.append(f'<text x="{x + 12}" y="{y + 22 + row * 20}" {style}>{escape(text)}</text>')
    return box


def _arrow(start: tuple[int, int], end: tuple[int, int]) -> str:
    """From box to box: sideways to the next column; below the row where a box of that row stands between."""
    style = 'fill="none" stroke="#64748b" marker-end="url(#tip)"'
    columns = (end[0] - start[0]) // (_BOX_WIDTH + _GAP_X)
    if columns > 1 and start[1] == end[1]:
        x1, x2, y = start[0] + _BOX_WIDTH // 2, end[0] + _BOX_WIDTH // 2, start[1] + _BOX_HEIGHT
        return f'<path d="M{x1} {y} C{x1} {y + _DIP} {x2} {y + _DIP} {x2} {y + 2}" {style}/>'
    x1, y1 = start[0] + _BOX_WIDTH, start[1] + _BOX_HEIGHT // 2
    x2, y2 = end[0] - 2, end[1] + _BOX_HEIGHT // 2
    bend = _GAP_X // 2
    return f'<path d="M{x1} {y1} C{x1 + bend} {y1} {x2 - bend} {y2} {x2} {y2}" {style}/>'


def said(result: StepResult) -> str:
    """What came of a step, in words: its text, or why there is none. Not yet safe to show; see :func:`plain`."""
    if result.completion is not None and result.skipped is not None:
        return f"(skipped, passes on step {result.skipped.passes_on}) {result.completion.text}"
    if result.completion is not None:
        return result.completion.text
    return "" if result.failure is None else f"{result.failure.kind}: {result.failure.message}"


def unasked(result: StepResult) -> str:
    """Why nobody was asked for a response that is there; "" where somebody was."""
    return "skipped" if result.skipped is not None else "answered before" if result.kept else ""


def used(use: ToolUse) -> str:
    """A tool call of a worker's own, in words; not yet safe to show. Example: ``'add {"a": 1, "b": 2} -> 3'``."""
    return f"{use.tool} {use.arguments} {'failed:' if use.failed else '->'} {use.result}"


def _called(result: StepResult) -> str:
    """How many tools a step called by itself."""
    number = len(_uses(result))
    return f"  {number} tool call{'s' if number > 1 else ''}" if number else ""


def _uses(result: StepResult) -> tuple[ToolUse, ...]:
    return () if result.completion is None else result.completion.tool_uses


def _seconds(result: StepResult) -> float:
    """The time the worker took; the wall time where it gave no answer."""
    return result.seconds if result.completion is None else result.completion.seconds


def _failed(transcript: Transcript) -> str:
    return "none" if transcript.failure is None else f"none ({transcript.failure.kind})"


def _mermaid(text: str) -> str:
    """Mermaid takes HTML entities by number; quotes and brackets would end the label."""
    return "".join(
        character if character.isalnum() or character in " .,:;+-*/=?!()…" else f"#{ord(character)};" for character in text
    )
