"""What a model thought before it called the client's tools, kept until the results come: no client sends it back.

Chat completions have no place for it, and of the other APIs many clients leave it out. Kept is the whole loop of calls with each
round, under the calls that the client was given, for as long as a step waits; another key's can not even be named.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from podium.errors import ConfigError
from podium.jsonl import loads
from podium.types import Completion, Message, Question, Thoughts

log = logging.getLogger("podium.serving")
_MARK = "thoughts before"
"""Among the ids that they are kept under, so that they are told from the step that waits for the same calls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptThoughts:
    """Of a loop. Example: ``KeptThoughts(before={"call_1": Thoughts(by="anthropic:claude at ...")})``."""

    before: Mapping[str, Thoughts]
    """First call of a turn -> what was thought for it, and by whom."""


def thoughts_of(conversation: Question, completion: Completion) -> KeptThoughts | None:
    """What to keep for the round that answers ``completion``'s calls; None where nobody signs what he thinks."""
    loop = [
        *_since_user(conversation),
        Message(role="assistant", content="", tool_calls=completion.tool_calls, thoughts=completion.thoughts),
    ]
    before = {turn.tool_calls[0].id: turn.thoughts for turn in loop if turn.tool_calls and turn.thoughts is not None}
    return KeptThoughts(before=before) if any(each.thoughts for each in before.values()) else None


def place_of(ids: Sequence[str]) -> tuple[str, ...]:
    """Under which ids they are kept."""
    return (_MARK, *ids)


def rounds_of(conversation: Question) -> Iterator[tuple[str, ...]]:
    """The calls whose results ``conversation`` brings: those of the newest turn that made any, then with those of the turn before
    it, and so on until the user speaks."""
    ids: set[str] = set()
    for turn in reversed(conversation):
        if turn.role == "user":
            return
        if turn.role == "tool":
            ids.add(turn.tool_call_id)
        elif turn.tool_calls:
            yield tuple(sorted(ids))


def given_back(conversation: Question, state: str | None) -> Question:
    """``conversation`` with the thoughts that were kept as ``state``, each with the calls it led to."""
    if state is None:
        return conversation
    try:
        kept = loads(KeptThoughts, state)
    except ConfigError as error:  # kept by another version of Podium: the model goes on without
        log.warning("thoughts that were kept can not be read: %s", error)
        return conversation
    return tuple(
        replace(turn, thoughts=kept.before.get(turn.tool_calls[0].id)) if turn.tool_calls else turn for turn in conversation
    )


def _since_user(conversation: Question) -> Question:
    spoke = max((place for place, turn in enumerate(conversation) if turn.role == "user"), default=-1)
    return conversation[spoke + 1 :]
