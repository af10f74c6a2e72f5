"""Endpoints of OpenAI's and Anthropic's APIs that are not here: a client gets an error in the form of that API."""

from starlette.requests import Request
from starlette.responses import Response

from podium.serving.api_errors import ApiError
from podium.serving.wire import problem_answer

_SERVED = "this server has POST /v1/chat/completions, POST /v1/responses, POST /v1/messages and GET /v1/models"
_ALLOWED = {
    "/v1/chat/completions": "POST",
    "/v1/responses": "POST",
    "/v1/responses/compact": "POST",
    "/v1/messages": "POST",
    "/v1/messages/count_tokens": "POST",
    "/v1/models": "GET",
}
_ABOUT = {
    "embeddings": "embeddings are not served: this server answers questions in text",
    "completions": "legacy completions are not served: send the prompt as a message to /v1/chat/completions",
    "messages": "of Anthropic's Messages API only POST /v1/messages and POST /v1/messages/count_tokens are served",
    "images": "pictures are not made here: this server answers in text",
    "audio": "sound is not served: this server takes text, pictures and files, and answers in text",
    "moderations": "moderations are not served",
    "responses": "of kept responses there are GET and DELETE /v1/responses/ID, and previous_response_id",
    "conversations": "conversations are not kept: send the whole of one each time",
    "files": "files are not kept: send one in the message that speaks of it",
    "batches": "batches are not served: podium ask --file answers many questions at once",
    "assistants": "assistants are not served: use /v1/responses",
    "threads": "threads are not served: use /v1/responses",
}


def not_served(request: Request) -> Response:
    """404 (405 where only the method is another), with a sentence that says what there is instead."""
    path = request.url.path
    if path in _ALLOWED:
        message = f"{path} takes {_ALLOWED[path]} only"
        kind, headers = "invalid_request_error", {"Allow": _ALLOWED[path]}
        return problem_answer(ApiError(status=405, message=message, kind=kind, code="method_not_allowed", headers=headers), path)
    name = path.removeprefix("/v1/").partition("/")[0]
    said = _ABOUT.get(name, f"there is no {request.method} {path[:200]}")
    problem = ApiError(
        status=404,
        message=f"{said}; {_SERVED}",
        kind="invalid_request_error",
        code="not_served" if name in _ABOUT else "not_found",
    )
    return problem_answer(problem, path)
