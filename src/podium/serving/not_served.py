"""Endpoints of OpenAI's and Anthropic's APIs that are not here: a client gets an error in the form of that API."""

from starlette.requests import Request
from starlette.responses import Response

from podium.serving.api_errors import ApiError
from podium.serving.wire import json_answer, problem_answer

_SERVED = "this server has POST /v1/chat/completions, POST /v1/responses and GET /v1/models"
_ALLOWED = {"/v1/chat/completions": "POST", "/v1/responses": "POST", "/v1/models": "GET"}
_ABOUT = {
    "embeddings": "embeddings are not served: this server answers questions in text",
    "completions": "legacy completions are not served: send the prompt as a message to /v1/chat/completions",
    "messages": "Anthropic's Messages API is not served yet: send the conversation to /v1/chat/completions",
    "images": "pictures are not served yet: this server takes and gives text only",
    "audio": "sound is not served: this server takes and gives text only",
    "moderations": "moderations are not served",
    "responses": "responses are not kept: POST /v1/responses with the whole conversation is all there is of this API",
    "conversations": "conversations are not kept: send the whole of one each time",
    "files": "files are not served: this server takes text only",
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
        return problem_answer(ApiError(status=405, message=message, kind=kind, code="method_not_allowed", headers=headers))
    name = path.removeprefix("/v1/").partition("/")[0]
    said = _ABOUT.get(name, f"there is no {request.method} {path[:200]}")
    problem = ApiError(
        status=404,
        message=f"{said}; {_SERVED}",
        kind="not_found_error" if name == "messages" else "invalid_request_error",
        code="not_served" if name in _ABOUT else "not_found",
    )
    # Anthropic's clients look for the first field, OpenAI's only for the second.
    return json_answer({"type": "error", **problem.body}, problem.status)
