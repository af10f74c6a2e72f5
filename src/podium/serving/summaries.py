"""The item ``compaction`` of a conversation that was cut down: a summary that clients hand back and do not read.

It is written so that clients leave it whole, not to keep it from them: it says nothing but what they said or were told before.
"""

import base64
import binascii

from podium.body import is_broken

_MARK = "podium-summary-1:"
SUMMARY_HEAD = "Summary of the conversation up to here:\n\n"


def closed_summary(text: str) -> str:
    """``text`` as ``encrypted_content``."""
    return _MARK + base64.b64encode(text.encode("utf-8", "replace")).decode("ascii")


def opened_summary(content: str) -> str | None:
    """The summary; None where this is another server's. Example: ``opened_summary(closed_summary("It works."))``."""
    if not content.startswith(_MARK):
        return None
    try:
        text = base64.b64decode(content.removeprefix(_MARK), validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return None
    return None if is_broken(text) else text
