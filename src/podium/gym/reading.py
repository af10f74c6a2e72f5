"""What can be read of a call: its turns, and of a response the labelled lines ``Plan:``, ``Fact:``, ``Answer:`` and programs.

A call is first laid out as the turns of a conversation, the way it is rendered for a chat endpoint: a user turn holds the
question, then ``Your task: <subtask>``; an assistant turn holds the response of an earlier step. Everything is read from
those turns (:mod:`podium.gym.scene`), so a worker behaves the same behind a socket.

Left out: system messages, and any meaning of a response beyond its labelled lines and programs.
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple, TypeVar

from podium.gym.expressions import ExpressionError, Node, Program, Value, parse, parse_program
from podium.types import Call, Question

MAX_TEXT = 20_000
"""How much of a response is read, in characters from its end."""
MAX_SUBTASK = 4_000
"""How much of a subtask is read, in characters from its start."""
MAX_NOTES = 20
"""How many labelled lines of a sort are read from one response."""

TASK = "Your task: "
"""What stands before the subtask in a rendered turn."""

_TASK = re.compile(rf"(?:^|\n\n){TASK}")
_LABELLED = re.compile(
    r"^[\s*_>#-]{0,8}(Plan|Fact|Answer)[*_]{0,2}:[*_]{0,2}[ \t]*(\S[^\n]{0,500})", re.MULTILINE | re.IGNORECASE
)
_FACT = re.compile(r"([a-z_]{1,40}\([A-Za-z][A-Za-z' -]{0,60}\))\s*=\s*([^\n]{1,60})")
_T = TypeVar("_T")


class Turn(NamedTuple):
    """One turn: what was said, and for a user's turn the subtask in it. Example: ``Turn("user", "6 times 7?", "Plan.")``."""

    role: str
    text: str
    task: str = ""


class Notes(NamedTuple):
    """What can be used of a response."""

    plans: tuple[Node, ...] = ()
    facts: tuple[tuple[str, Value], ...] = ()
    programs: tuple[Program, ...] = ()
    answers: tuple[str, ...] = ()


def turns_of(call: Call) -> list[Turn]:
    """The turns of a call: each visible step with its response, then the call's own question and subtask."""
    turns: list[Turn] = []
    for step in call.visible:
        turns += _user_turns(step.question, step.subtask)
        turns.append(Turn("assistant", step.response))
    return turns + _user_turns(call.question, call.subtask)


def _user_turns(question: Question, subtask: str) -> list[Turn]:
    turns = [_divided(message.role, message.content) for message in question]
    if subtask:
        if turns and turns[-1].role == "user":
            task = f"{turns[-1].task}\n\n{TASK}{subtask}" if turns[-1].task else subtask
            turns[-1] = turns[-1]._replace(task=task)
        else:
            turns.append(Turn("user", "", subtask))
    return turns


def _divided(role: str, content: str) -> Turn:
    parts = _TASK.split(content, maxsplit=1) if role == "user" else [content]
    return Turn(role, parts[0], parts[1] if len(parts) > 1 else "")


def notes_of(response: str) -> Notes:
    """The labelled lines and the last program of a response."""
    return _cached_notes(response) if len(response) < 4_000 else _notes(response[-MAX_TEXT:])


def _notes(response: str) -> Notes:
    plans: list[Node] = []
    facts: list[tuple[str, Value]] = []
    answers: list[str] = []
    for label, words in _LABELLED.findall(response)[-3 * MAX_NOTES :]:
        kind, line = label.lower(), words.strip().rstrip("*_`").strip("`").strip()
        if kind == "answer":
            answers.append(line.rstrip("."))
        elif kind == "fact":
            fact = _FACT.match(line)
            if fact is not None:
                value = fact[2].strip().rstrip(".")
                facts.append((fact[1], int(value) if value.isdecimal() and len(value) <= 15 else value))
        else:
            try:
                plans.append(parse(line.rstrip(".")))
            except ExpressionError:
                continue  # not a plan anyone can follow
    return Notes(tuple(plans[-MAX_NOTES:]), tuple(facts[-MAX_NOTES:]), _programs(response), tuple(answers[-MAX_NOTES:]))


def _programs(response: str) -> tuple[Program, ...]:
    if "def" not in response:
        return ()
    try:
        return (parse_program(response),)
    except ExpressionError:
        return ()


@lru_cache(maxsize=1 << 14)
def _cached_notes(response: str) -> Notes:
    return _notes(response)


def most_common(items: Sequence[_T]) -> _T | None:
    """The most frequent item, of equally frequent ones the latest; None of nothing."""
    if len(items) < 2:
        return items[0] if items else None
    counts = Counter(items)
    top = max(counts.values())
    return next(item for item in reversed(items) if counts[item] == top)
