"""``/v1/questions``: what steps of the kind ``human`` wait for on this server, and the answers to it.

It takes a key with the scope "answer", because a question shows what a user asked. A question waits at the replica that carries
out its step; an answer that another replica is sent finds no question there.
"""

from dataclasses import asdict

from fastapi import FastAPI, Request
from pydantic import BaseModel, ConfigDict
from starlette.responses import Response

from podium.acting.human import DESK
from podium.serving.accounts import Accounts
from podium.serving.api_errors import ApiError, ApiErrorException
from podium.serving.credentials import authorization
from podium.serving.wire import json_answer


class Answer(BaseModel):
    """What a person says. Example: ``{"answer": "Yes, but not before Monday."}``."""

    model_config = ConfigDict(extra="forbid", strict=True)

    answer: str


def question_routes(app: FastAPI, accounts: Accounts) -> None:
    """Add the two routes to ``app``."""

    @app.get("/v1/questions", tags=["Podium"])
    async def list_questions(request: Request) -> Response:
        """The questions that wait for a person at this replica, the oldest first. It takes a key with the scope "answer"."""
        await accounts.identify(authorization(request.headers), "answer")
        return json_answer({"object": "list", "data": [asdict(question) for question in DESK.waiting()]})

    @app.post("/v1/questions/{question}", tags=["Podium"])
    async def answer_question(question: str, body: Answer, request: Request) -> Response:
        """Answer one of them; the step goes on with it."""
        await accounts.identify(authorization(request.headers), "answer")
        if not DESK.answer(question, body.answer):
            raise ApiErrorException(
                ApiError(
                    status=404,
                    message="no such question waits here: it was answered, its time is up, or it waits at another replica",
                    kind="invalid_request_error",
                    code="question_not_found",
                )
            )
        return json_answer({"id": question, "object": "question", "answered": True})
