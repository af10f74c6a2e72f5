"""Pictures and files, for workers that can not see them: words stand in their place.

A worker that sees says so (:attr:`podium.types.Card.sees`). Who may be given a question with pictures at all is decided before
anybody is asked (:mod:`podium.workflow.sight`); here is only what the others read instead.
"""

from collections.abc import Iterable
from dataclasses import replace

from podium.types import Attachment, Call, Message, Question


def has_attachments(messages: Iterable[Message]) -> bool:
    """Whether any turn holds a picture or a file."""
    return any(message.attachments for message in messages)


def needs_eyes(call: Call) -> bool:
    """Whether what is asked holds a picture or a file, what tools returned since not counted."""
    return has_attachments(call.question) or any(has_attachments(step.question) for step in call.visible)


def in_words(call: Call) -> Call:
    """``call`` for a worker that can not see: each picture and file is named where it stood."""
    return replace(
        call,
        question=all_told(call.question),
        visible=tuple(replace(step, question=all_told(step.question)) for step in call.visible),
        turns=all_told(call.turns),
    )


def all_told(messages: Question) -> Question:
    """``messages`` with words for pictures and files; the same object where there are none."""
    return tuple(told(message) for message in messages) if has_attachments(messages) else messages


def told(message: Message) -> Message:
    """``message`` without its pictures and files. Example: its content is then ``(a picture, image/png)What is this?``."""
    if not message.attachments:
        return message
    pieces, done = [], 0
    for attachment in message.attachments:
        pieces += [message.content[done : attachment.at], _words(attachment)]
        done = attachment.at
    return replace(message, content="".join([*pieces, message.content[done:]]), attachments=(), cache_points=())


def _words(attachment: Attachment) -> str:
    return f"(a {'picture' if attachment.is_picture else 'file'}, {attachment.media_type})"
