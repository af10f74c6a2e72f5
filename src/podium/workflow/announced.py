"""A step's call, with what happens in it reported as events."""

from dataclasses import replace

from podium.events import Listener, StepStarted, StepToken, ToolCalled
from podium.types import Call, TokenListener, ToolUse


def announced(
    call: Call, emit: Listener, round_number: int, index: int, worker: str, to_caller: TokenListener | None = None
) -> Call:
    """``call`` of step ``index`` with its tokens reported as events; a new attempt is reported as a new start.

    ``to_caller`` is told the tokens, too. Example: ``announced(call, print, 1, 0, "ember")``.
    """
    attempt = 1
    emit(StepStarted(round=round_number, index=index, worker=worker))

    def on_token(text: str | None) -> None:
        nonlocal attempt
        if text is None:
            attempt += 1
            emit(StepStarted(round=round_number, index=index, worker=worker, attempt=attempt))
        else:
            emit(StepToken(round=round_number, index=index, text=text))
        if to_caller is not None:
            to_caller(text)

    def on_tool(use: ToolUse) -> None:
        emit(ToolCalled(round=round_number, index=index, use=use))

    return replace(call, on_token=on_token, on_tool=on_tool)
