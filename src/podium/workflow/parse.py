"""A policy's text -> Workflow, or a named WorkflowError; ``format_workflow`` is the inverse.

A policy reasons freely, then writes the three lists (paper section 3.1)::

    model_id = [2, 0]
    subtasks = ["Work out a plan.", "Carry out the plan and give the answer."]
    access_list = [[], "all"]

In the language with conditions a fourth list follows, ``conditions = ["always", "if failed"]``.

Read tolerantly: ``=`` or ``:``, JSON objects, code fences, Markdown emphasis, smart quotes, lists over several lines, trailing
commas, ``"all"``, ``["all"]`` and ``all``. The last complete triple in this order counts, so that a plan quoted inside
the reasoning or cut off at the end does no harm. Text inside a string of a list is never taken for a list.

Nothing is clamped, taken modulo, cut or guessed: whatever breaks a rule is an error that names the rule.
"""

import re
from dataclasses import replace
from itertools import pairwise

from podium.conditions import ALWAYS, read_condition
from podium.errors import InvalidWorkflow, MalformedWorkflow
from podium.types import Brief, Step, Workflow
from podium.workflow.literals import Literal, NotALiteral, quote, read_list
from podium.workflow.syntax import FIXED_SUBTASK, WorkflowSyntax

_ASSIGNS = re.compile(r"[\"'`*”’]*+\s*+[:=]\s*+(?=\[)")

WORKER_IDS = r"model_id[\"'`*”’]*+\s*+[:=]\s*+\[([^\]]*)"
"""Pattern whose group 1 holds the worker ids of a workflow, for those who look at single tokens of a text."""
ACCESS = r"access_list[\"'`*”’]*+\s*+[:=]\s*+\[(.*)"
"""Pattern whose group 1 holds what each step sees, likewise."""
CONDITIONS = r"conditions[\"'`*”’]*+\s*+[:=]\s*+\[([^\]]*)"
"""Pattern whose group 1 holds when each step is carried out, likewise."""

MAX_MENTIONS = 1000
"""How often a text may assign a list: a real plan does it a few times."""
MAX_WORK = 8000
"""Work spent on items and on broken lists, in units of about a microsecond; bounds the time a hostile text can take."""


def parse(text: str, brief: Brief, syntax: WorkflowSyntax = WorkflowSyntax()) -> Workflow | None:
    """The workflow that ``text`` ends in, checked against ``brief`` (workers, ``max_steps``, round).

    None means "keep the answer of the round before": three empty lists, legal from round 2 on.
    Raises :class:`MalformedWorkflow` where the lists are not there, :class:`InvalidWorkflow` where they break a rule.
    """
    lists = dict(zip(syntax.names, _last_complete(text, syntax.names), strict=True))
    workers, access = lists["model_id"], lists["access_list"]
    subtasks: list[Literal] = lists.get("subtasks", [FIXED_SUBTASK] * len(workers))
    conditions: list[Literal] = lists.get("conditions", [ALWAYS] * len(workers))
    if not any(lists.values()):
        if brief.previous_rounds and brief.previous_rounds[-1].answer is not None:
            return None
        none = "the last round gave none" if brief.previous_rounds else "in round 1 there is none"
        raise InvalidWorkflow(f"the lists are empty; an empty workflow keeps the last answer, and {none}")
    if len({len(items) for items in lists.values()}) > 1:
        lengths = ", ".join(f"{name} has {len(items)}" for name, items in lists.items())
        raise InvalidWorkflow(f"the lists must have one entry per step each: {lengths}")
    if len(workers) > brief.max_steps:
        raise InvalidWorkflow(f"{len(workers)} steps; at most {brief.max_steps} are allowed")
    return Workflow(
        steps=tuple(
            _under(conditions[index], index, _step(index, workers[index], subtasks[index], access[index], brief, syntax))
            for index in range(len(workers))
        )
    )


def format_workflow(workflow: Workflow | None, syntax: WorkflowSyntax = WorkflowSyntax(), *, round_number: int = 1) -> str:
    """The lists as a policy would write them in ``round``; None gives empty lists.

    ``parse(format_workflow(w, syntax), brief, syntax) == w``. Raises ValueError where ``syntax`` can not say it.
    """
    steps = () if workflow is None else workflow.steps
    columns = {
        "model_id": ", ".join(str(step.worker) for step in steps),
        "subtasks": ", ".join(quote(step.subtask) for step in steps),
        "access_list": ", ".join(_format_access(index, step, syntax, round_number) for index, step in enumerate(steps)),
        "conditions": ", ".join(quote(step.condition) for step in steps),
    }
    if (
        not syntax.conditions
        and (index := next((i for i, step in enumerate(steps) if step.condition != ALWAYS), None)) is not None
    ):
        raise ValueError(f"step {index}: a language without conditions can not say {steps[index].condition!r}")
    return "\n".join(f"{name} = [{columns[name]}]" for name in syntax.names)


def _last_complete(text: str, names: tuple[str, ...]) -> list[list[Literal]]:
    """The last run of complete lists called ``names`` in this order."""
    found: list[tuple[str, list[Literal]]] = []
    broken: dict[str, str] = {}
    work = 0
    behind = 0  # everything before this position belongs to a list that was read
    for position, name, opening in _mentions(text, names):
        if position < behind:
            continue
        try:
            items, behind, cost = read_list(text, opening)
        except NotALiteral as error:
            broken[name] = f"{error.reason}, at {text[error.position : error.position + 20]!r}"
            work += error.work
        else:
            found.append((name, items))
            work += cost
        if work > MAX_WORK:
            raise MalformedWorkflow("too many lists, or lists too long, to be a plan")
    written = [name for name, _ in found]
    for end in range(len(found), len(names) - 1, -1):
        if tuple(written[end - len(names) : end]) == names:
            return [items for _, items in found[end - len(names) : end]]
    for name in names:
        if name not in written:
            if name in broken:
                raise MalformedWorkflow(f"{name} is not a list of literals: {broken[name]}")
            raise MalformedWorkflow(f"there is no list called {name}; write {' , '.join(f'{n} = [...]' for n in names)}")
    raise MalformedWorkflow(f"the lists {', '.join(names)} are not written one after the other in this order")


def _mentions(text: str, names: tuple[str, ...]) -> list[tuple[int, str, int]]:
    """Where a list is assigned to one of ``names``, and where it opens, in order; ``str.find`` because texts can be megabytes.

    A word of the question that a subtask repeats ("the conditions of the contract") is no mention, however often it stands there.
    """
    mentions: list[tuple[int, str, int]] = []
    for name in names:
        position = text.find(name)
        while position >= 0:
            before = text[position - 1 : position]
            assigns = None if before.isalnum() or before == "_" else _ASSIGNS.match(text, position + len(name))
            if assigns is not None:
                if len(mentions) >= MAX_MENTIONS:
                    raise MalformedWorkflow(f"the lists are assigned more than {MAX_MENTIONS} times")
                mentions.append((position, name, assigns.end()))
            position = text.find(name, position + len(name))
    return sorted(mentions)


def _step(index: int, worker: Literal, subtask: Literal, access: Literal, brief: Brief, syntax: WorkflowSyntax) -> Step:
    if not isinstance(worker, int):
        raise InvalidWorkflow(f"step {index}: the worker {_short(worker)} is not an integer")
    if not 0 <= worker < len(brief.cards):
        raise InvalidWorkflow(f"step {index}: there is no worker {worker}; workers are 0 to {len(brief.cards) - 1}")
    if not isinstance(subtask, str) or not subtask.strip():
        raise InvalidWorkflow(f"step {index}: the subtask {_short(subtask)} is not a text")
    if isinstance(access, str):
        access = [access]
    if not isinstance(access, list):
        raise InvalidWorkflow(f'step {index}: the access {_short(access)} is neither a list nor "all"')
    if len(access) == 1 and isinstance(access[0], str) and access[0].strip().lower() == "all":
        return Step(worker=worker, subtask=subtask, access=tuple(range(index)), last_answer=bool(brief.previous_rounds))
    if access and syntax.access == "binary":
        raise InvalidWorkflow(f'step {index}: the access {_short(access)} is neither [] nor "all"')
    return Step(worker=worker, subtask=subtask, access=_positions(index, access))


def _under(condition: Literal, index: int, step: Step) -> Step:
    """``step`` under ``condition``, in the one spelling that conditions have."""
    if not isinstance(condition, str):
        raise InvalidWorkflow(f"step {index}: the condition {_short(condition)} is not a text")
    try:
        read = read_condition(condition)
    except ValueError as error:
        raise InvalidWorkflow(f"step {index}: the condition {_short(condition)} is unknown: {error}") from None
    if misfit := read.misfit(len(step.access)):
        raise InvalidWorkflow(f"step {index}: {misfit}")
    return replace(step, condition=str(read))


def _positions(index: int, access: list[Literal]) -> tuple[int, ...]:
    positions: list[int] = []
    for seen in access:
        if not isinstance(seen, int):
            raise InvalidWorkflow(f"step {index}: the access entry {_short(seen)} is not an integer")
        if not 0 <= seen < index:
            raise InvalidWorkflow(f"step {index} can not see step {seen}: only earlier steps can be seen")
        positions.append(seen)
    positions.sort()
    if any(a == b for a, b in pairwise(positions)):
        raise InvalidWorkflow(f"step {index}: the access {_short(access)} names a step twice")
    return tuple(positions)


def _format_access(index: int, step: Step, syntax: WorkflowSyntax, round_number: int) -> str:
    everything = step.access == tuple(range(index))
    if step.last_answer and (round_number < 2 or not everything):
        raise ValueError(f"step {index}: the last answer is visible only from round 2 on and together with every step")
    if step.last_answer or (everything and index > 0 and round_number < 2):
        return '"all"'
    if step.access and syntax.access == "binary":
        raise ValueError(f"step {index}: the binary language can not say {list(step.access)} in round {round_number}")
    return str(list(step.access))


def _short(value: Literal) -> str:
    shown = repr(value)
    return shown if len(shown) <= 40 else shown[:37] + "..."
