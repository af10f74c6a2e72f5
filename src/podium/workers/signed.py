"""What a model thought before it called tools, with its provider's signature: given back unchanged, or not at all.

Anthropic's models refuse a tool's result where the thoughts before the call are missing, changed, or another model's. So
thoughts are kept with the turn that they led to, and only the model that had them takes them back. Where a turn of the loop is
another model's (a fallback), none are sent, and the model does not think for the rest of the loop: no thoughts are better than a
refusal.
"""

from collections.abc import Sequence
from dataclasses import replace

from pydantic_ai.messages import ModelResponse, TextPart, ThinkingPart

from podium.parts import Thought
from podium.types import Message, Thoughts

_HIDDEN = "redacted_thinking"
_PROVIDER = "anthropic"


def thoughts_of(response: ModelResponse, by: str) -> Thoughts:
    """The signed thoughts of a reply that calls tools; ``by`` is the model that made it."""
    found, at = [], 0
    for part in response.parts:
        if isinstance(part, TextPart):
            at += len(part.content)
        elif isinstance(part, ThinkingPart) and part.signature:
            found.append(Thought(text=part.content, signature=part.signature, at=at, is_hidden=part.id == _HIDDEN))
    return Thoughts(by=by, thoughts=tuple(found))


def with_own_thoughts(messages: Sequence[Message], by: str) -> tuple[list[Message], bool]:
    """``messages`` as ``by`` may be sent them, and whether it can think in the tool loop that they end with."""
    spoke = max((place for place, message in enumerate(messages) if message.role == "user"), default=-1)
    own = [message.thoughts for message in messages[spoke + 1 :] if message.tool_calls]
    thinks = bool(own) and all(each is not None and each.by == by for each in own) and bool(own[0] and own[0].thoughts)
    kept = spoke if thinks else len(messages)
    return [message if place > kept else replace(message, thoughts=None) for place, message in enumerate(messages)], thinks


def thought_and_said(message: Message) -> list[ThinkingPart | TextPart]:
    """The words of a turn with its thoughts in their places."""
    parts: list[ThinkingPart | TextPart] = []
    done = 0
    for thought in () if message.thoughts is None else message.thoughts.thoughts:
        if message.content[done : thought.at]:
            parts.append(TextPart(content=message.content[done : thought.at]))
        done = max(done, thought.at)
        parts.append(
            ThinkingPart(
                content=thought.text,
                signature=thought.signature,
                id=_HIDDEN if thought.is_hidden else None,
                provider_name=_PROVIDER,
            )
        )
    return [*parts, *([TextPart(content=message.content[done:])] if message.content[done:] else [])]
