"""What a worker sees: a call, or the same call as chat messages, read into one scene.

Unlike a heap of notes, a scene keeps every response apart, because what is seen and not needed distracts.
"""

from functools import lru_cache
from typing import NamedTuple

from podium.gym.matters import kinds_named, sort_named, works_alone
from podium.gym.questions import ParsedQuestion, find_question, without_question
from podium.gym.reading import MAX_SUBTASK, Notes, Turn, notes_of, turns_of
from podium.gym.subtasks import verbs_in
from podium.types import Call


class Scene(NamedTuple):
    """All that a worker knows of the situation it is in."""

    asked: ParsedQuestion | None
    verbs: frozenset[str]
    kinds: frozenset[str]
    """What kinds of question the subtask is worded for."""
    sort: str
    """What sort of facts it asks for; "" for all."""
    alone: bool
    """Whether it asks to use nothing of the responses; they are seen all the same."""
    responses: tuple[Notes, ...]
    characters: int
    """Length of everything shown."""


def scene_of(call: Call) -> Scene:
    """Read a call."""
    asked: ParsedQuestion | None = None
    responses: list[Notes] = []
    turns = turns_of(call)
    for turn in turns:
        if turn.role == "user":
            for part in (turn.text, turn.task):
                found = find_question(part) if part else None
                if found is not None:
                    if asked is not None and asked.text != found.text:
                        responses.clear()
                    asked = found
        elif turn.role == "assistant":
            responses.append(notes_of(turn.text))
    if asked is None:  # a response may have quoted the question
        quoted = [find_question(turn.text) for turn in turns if turn.role == "assistant"]
        asked = next((found for found in reversed(quoted) if found is not None), None)
    last = next((turn for turn in reversed(turns) if turn.role == "user"), Turn("user", ""))
    verbs, kinds, sort, alone = told(last.task or last.text, asked)
    return Scene(
        asked=asked,
        verbs=verbs,
        kinds=kinds,
        sort=sort,
        alone=alone,
        responses=tuple(responses),
        characters=sum(len(turn.text) + len(turn.task) for turn in turns),
    )


@lru_cache(maxsize=1 << 14)
def told(task: str, asked: ParsedQuestion | None) -> tuple[frozenset[str], frozenset[str], str, bool]:
    """What a subtask asks for: verbs, the kinds it is worded for, a sort of facts, and whether to use nothing of others."""
    words = without_question(task, asked)[:MAX_SUBTASK]
    return verbs_in(words), kinds_named(words), sort_named(words), works_alone(words)
