"""Small things that clients slip in beside what the user asks: titles, summaries, cutting a conversation down.

They are told by words that the clients themselves begin such requests with. Where the pool file names a ``task_worker`` under
``[server]``, it gets them, so that a title does not cost a plan; else they are answered as anything else.
"""

import re

from podium.serving.conversation import ParsedRequest

TITLE, SUMMARY, COMPACTION = "title", "summary", "compaction"
_SYSTEM = (
    (TITLE, r"you are a title generator\b"),
    (
        TITLE,
        r"generate a (?:[\w,-]+ ){0,3}title (?:\([^)]*\) )?(?:for|that captures) .{0,60}\b(?:session|conversation|thread)",
    ),
    (SUMMARY, r"you are a helpful ai assistant tasked with summarizing conversations"),
    (SUMMARY, r"summari[sz]e this (?:coding )?(?:conversation|session|chat)\b"),
)
"""What a system prompt of such a request begins with."""
_LAST = (
    (COMPACTION, r"you are performing a context checkpoint compaction"),
    (COMPACTION, r"your task is to create a detailed summary of (?:the|our) conversation"),
    (COMPACTION, r"provide a detailed prompt for continuing our conversation"),
    (SUMMARY, r"\*briefly\* summarize this partial conversation"),
    (SUMMARY, r"summari[sz]e this (?:coding )?conversation\b"),
    (TITLE, r"### task:\s*generate a concise, 3-5 word title"),
    (TITLE, r"generate a title for this conversation"),
)
"""What its last turn begins with."""
_PREAMBLE = r"\s*(?:critical: [^\n]*\n\s*)*"


def task_of(parsed: ParsedRequest) -> str:
    """``title``, ``summary``, ``compaction``, or "" where it is the user who asks.

    A request that may call tools is the user's, unless its last turn asks for a compaction: agents send their tools along.
    """
    if parsed.task:
        return parsed.task
    first, last = parsed.call.question[0], parsed.call.question[-1]
    options = parsed.call.response_options
    offers_tools = bool(options.tools) and options.tool_choice != "none"
    for turn, role, marks in ((last, "user", _LAST), (first, "system", _SYSTEM)):
        for task, words in marks if turn.role == role else ():
            if offers_tools and task != COMPACTION:
                continue
            if re.match(_PREAMBLE + words, turn.content, re.IGNORECASE):
                return task
    return ""
