"""``POST /v1/responses/compact``: a long conversation, cut down to what its user said and a summary of the rest."""

from dataclasses import replace
from functools import partial

from starlette.requests import Request
from starlette.responses import Response

from podium.errors import ConfigError
from podium.serving.accounts import Accounts
from podium.serving.chat_api import answered
from podium.serving.conversation import ParsedRequest, checked
from podium.serving.headers import run_headers
from podium.serving.kept_responses import with_kept
from podium.serving.responses_answers import response_usage
from podium.serving.responses_conversation import merged, said_turns
from podium.serving.responses_requests import CompactRequest
from podium.serving.service import RequestService
from podium.serving.shown import podium_object
from podium.serving.store.keys import Key
from podium.serving.summaries import closed_summary
from podium.serving.tasks import COMPACTION
from podium.serving.toolbox import Toolbox
from podium.serving.wire import json_answer, unless_left
from podium.types import Call, Message
from podium.workers.seeing import told

_ASKED = (
    "The conversation above is about to be cut. Write down, for whoever goes on with it, what was asked for, what was done and "
    "found out, what was decided and why, which files and names matter, and what is still to be done. Call no tools."
)


async def parsed_compaction(accounts: Accounts, key: Key | None, body: CompactRequest) -> ParsedRequest:
    """``body`` as a call for a summary. Raises :class:`ApiErrorException` (404) and :class:`ConfigError`."""
    whole, before = await with_kept(accounts, key, body)
    instructions = [] if body.instructions is None else [Message(role="system", content=body.instructions)]
    said = [*before, *said_turns(whole.input, Toolbox())]
    if not said:
        raise ConfigError("there is nothing to compact: send input, previous_response_id, or both")
    question = checked(merged([*instructions, *said, Message(role="user", content=_ASKED)]))
    return ParsedRequest(model=body.model, call=Call(question=question), options=body.podium, task=COMPACTION)


async def compact(service: RequestService, request: Request, key: Key | None, parsed: ParsedRequest) -> Response:
    """Answer ``parsed``. Raises what :func:`podium.serving.app.make_app` turns into error objects."""
    async with service.admitted(key, parsed, request.headers, patience=partial(unless_left, request)) as active:
        [done] = await answered(service, request, active)
        run = active.run.removeprefix("run_")
        kept = [replace(told(turn), tool_calls=()) for turn in parsed.call.question[:-1] if turn.role == "user"]
        output: list[dict[str, object]] = [
            {
                "id": f"msg_{index}_{run}",
                "type": "message",
                "role": "user",
                "status": "completed",
                "content": [{"type": "input_text", "text": turn.content}],
            }
            for index, turn in enumerate(kept)
        ]
        summary = closed_summary(done.completion.text)
        output.append({"id": f"cmp_{run}", "type": "compaction", "encrypted_content": summary})
        body = {
            "id": f"resp_{run}",
            "object": "response.compaction",
            "created_at": int(active.created.timestamp()),
            "output": output,
            "usage": response_usage([done.completion]),
            "podium": podium_object(active.run, done.completion, active.admission.budget, active.told_session),
        }
        return json_answer(body, headers=run_headers(active, [done]))
