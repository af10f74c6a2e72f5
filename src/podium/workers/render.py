"""Call -> chat messages: all that a worker ever sees, in one place that can be diffed.

A step sees earlier steps as earlier turns of its own conversation, the way they happened (paper section 3.1): what that
step was asked, then what it answered. Podium adds no system prompt and no framing of its own; the one string that is not
somebody's text is ``Your task: ``, which tells the subtask apart from the user's question::

    user        What is 6 times 7?            the question, where the step may know it
                                              (a blank line)
                Your task: Plan.
    assistant   Multiply.                     an earlier step that this one may see
    user        Your task: Solve.             this step

A step that sees several earlier ones gets one such pair for each, in step order. Where it called tools of the client's, its
calls and their results follow.
"""

from dataclasses import replace

from podium.types import Call, Message, Question

TASK_PREFIX = "Your task: "
"""Stands before a subtask; worker programs that read the rendered text (the gym server) rely on it."""


def render(call: Call) -> tuple[Message, ...]:
    """The conversation that ``call`` puts before a worker; a plain call is exactly the user's own messages.

    Pure: equal calls render to equal messages. Example::

        render(Call(question=ask("6 times 7?"), subtask="Plan."))
        # (Message(role="user", content="6 times 7?\\n\\nYour task: Plan."),)
    """
    turns: list[Message] = []
    for step in call.visible:
        turns += _asked(step.question, step.subtask)
        turns.append(Message(role="assistant", content=step.response))
    turns += _asked(call.question, call.subtask)
    return (*turns, *call.turns)


def _asked(question: Question, subtask: str) -> tuple[Message, ...]:
    """What one step was asked: its question with the subtask as the last paragraph of the last user message."""
    if not subtask:
        return question
    task = f"{TASK_PREFIX}{subtask}"
    # A conversation ends with a user message; one that does not (it was cut, or prefilled) keeps its last turn as it is.
    if not question or question[-1].role != "user":
        return (*question, Message(role="user", content=task))
    *before, last = question
    return (*before, replace(last, content=f"{last.content}\n\n{task}"))
