"""Which session a conversation without a name goes on in: the one whose requests gave it its history.

A request of a conversation brings everything that was said so far. So what is remembered of an answer is a hash of the whole
conversation that ends with it, and a request belongs to the session of the answer that it goes on from. Two conversations that
begin alike are told apart as soon as anything in them differs.

System prompts are left out: some clients put the time into theirs. So is what tools returned, which agents cut short later: the
ids of their calls, which this server draws, say more. Space around a text is left out, too, because clients cut it off.
"""

import hashlib
from collections.abc import Sequence

from podium.serving.asking import ChoiceDone
from podium.serving.conversation import ParsedRequest
from podium.serving.stop_sequences import StopSequences
from podium.types import Message


def begins(parsed: ParsedRequest) -> bool:
    """Whether nothing was answered yet in this conversation."""
    return all(turn.role in ("system", "user") for turn in parsed.call.question)


def came_from(key: str, parsed: ParsedRequest) -> str:
    """The hash of what the request goes on from: everything up to the last turn of the assistant's. ``key`` is the key's id."""
    question = parsed.call.question
    last = max((index for index, turn in enumerate(question) if turn.role == "assistant"), default=-1)
    return history_hash(key, question[: last + 1])


def ends(key: str, parsed: ParsedRequest, dones: Sequence[ChoiceDone]) -> tuple[str, ...]:
    """The hashes of the conversations that end with these answers, as the client got them."""
    stop = parsed.call.response_options.stop
    found = []
    for done in dones:
        stopping = StopSequences(stop)
        text = stopping.feed(done.completion.text) + stopping.rest()
        answer = Message(role="assistant", content=text, tool_calls=done.completion.tool_calls)
        found.append(history_hash(key, (*parsed.call.question, answer)))
    return tuple(dict.fromkeys(found))


def history_hash(key: str, turns: Sequence[Message]) -> str:
    """``at_`` and 60 hex digits. Of another key's conversation it is another one, also where the words are the same."""
    digest = hashlib.sha256(key.encode())
    for turn in turns:
        if turn.role == "system":
            continue
        parts = [turn.tool_call_id] if turn.role == "tool" else [turn.content.strip(), *(call.id for call in turn.tool_calls)]
        parts += [part for each in turn.attachments for part in (each.data, each.url)] if turn.role == "user" else []
        for part in (turn.role, str(len(parts)), *parts):
            said = part.encode("utf-8", "surrogatepass")
            digest.update(b"%d:" % len(said))
            digest.update(said)
    return f"at_{digest.hexdigest()[:60]}"
