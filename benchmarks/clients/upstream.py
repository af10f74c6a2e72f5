"""A provider of three models on loopback: ``boss`` writes workflows, ``planner`` plans, ``solver`` works with the client's tools.

The solver knows nothing but the messages it is sent. Where any are missing it begins again, as real models do, so a server that
forgets what was said makes an agent loop for ever; :data:`MOST` requests end that.
"""

import json
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MOST = 60
TURN = re.compile(r"Turn (\d+):")
"""Begins what the user says; nothing else does."""
TWO_STEPS = 'First plan.\nmodel_id = [1, 2]\nsubtasks = ["Plan the work.", "Do the work."]\naccess_list = [[], "all"]'
ONE_STEP = 'model_id = [2]\nsubtasks = ["Do the work."]\naccess_list = [[]]'
WORKERS = ("boss", "planner", "solver", "other")
"""``other`` costs what ``solver`` costs: after the first turn the boss names it without a reason, so it is never to be asked."""
Step = tuple[str, dict[str, Any]]


@dataclass(slots=True)
class Provider:
    """What was asked, and what the solver does in a turn: ``steps`` with the client's tools, if it has any, and then ``text``."""

    steps: Sequence[Step]
    text: str
    asked: dict[str, int] = field(default_factory=lambda: dict.fromkeys(WORKERS, 0))
    forgotten: int = 0
    """Requests to the solver that lacked a call, a result or the user's words."""
    aside: int = 0
    """Requests that belong to no turn: titles, summaries."""
    requests: int = 0
    """Everything that was asked and answered: what is to be paid."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, body: dict[str, Any]) -> tuple[str, list[Step]]:
        """What the model of ``body`` says, and what it calls."""
        model, messages = body["model"], body["messages"]
        turns = [(i, found[1]) for i, message in enumerate(messages) if (found := TURN.search(_text(message)))]
        with self.lock:
            if sum(self.asked.values()) >= MOST:
                raise RuntimeError(f"asked {MOST} times: the agent does not finish")
            self.requests += 1
            if model == "solver" and (not turns or (self.steps and not body.get("tools"))):
                self.aside += 1
                return "A title", []
            self.asked[model] += 1
        if model == "boss":
            text = json.dumps(messages)
            plan = ONE_STEP if "at most 1 step" in text else TWO_STEPS
            again = max(map(int, TURN.findall(text)), default=1) > 1
            return (plan.replace("2]\nsub", "3]\nsub") if again else plan), []
        if model == "planner":
            return "Step by step.", []
        since, number = turns[-1]
        results = [_text(message) for message in messages[since:] if message["role"] == "tool"]
        calls = [call for message in messages[since:] for call in message.get("tool_calls") or ()]
        if len(calls) != len(results) or len({number for _, number in turns}) != int(number):
            with self.lock:
                self.forgotten += 1
        if len(results) < len(self.steps):
            return "", [self.steps[len(results)]]
        return self.text.replace("NUMBER", number), []


def _text(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


@contextmanager
def serving(provider: Provider) -> Iterator[str]:
    """The base URL of ``provider``'s API, which is up inside the block."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            try:
                text, calls = provider.answer(body)
            except RuntimeError as error:
                self._send(json.dumps({"error": {"message": str(error), "type": "x", "code": "x"}}), "application/json", 400)
                return
            stream = bool(body.get("stream"))
            self._send(*(_events(text, calls) if stream else _whole(text, calls)), 200)

        def _send(self, text: str, kind: str, status: int) -> None:
            content = text.encode()
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class calls it so
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


ANEW, CACHED, WRITTEN = 1000, 8000, 20
"""Tokens of each answer: of its prompt, those that were read anew and from a cache, and those of the answer."""
USAGE = {
    "prompt_tokens": ANEW + CACHED,
    "completion_tokens": WRITTEN,
    "total_tokens": ANEW + CACHED + WRITTEN,
    "prompt_tokens_details": {"cached_tokens": CACHED},
}
CALL_USD = (ANEW * 1.0 + CACHED * 0.1 + WRITTEN * 10.0) / 1e6
"""What each request costs at the prices of the pool file (``__main__``)."""
HEAD = {"id": "chatcmpl-1", "created": 1, "model": "scripted"}


def _called(calls: Sequence[Step]) -> list[dict[str, Any]]:
    return [
        {"index": i, "id": f"call_{i}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for i, (name, arguments) in enumerate(calls)
    ]


def _whole(text: str, calls: Sequence[Step]) -> tuple[str, str]:
    message = {"role": "assistant", "content": text or None, **({"tool_calls": _called(calls)} if calls else {})}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
    return json.dumps({**HEAD, "object": "chat.completion", "choices": [choice], "usage": USAGE}), "application/json"


def _events(text: str, calls: Sequence[Step]) -> tuple[str, str]:
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": piece} for piece in re.findall(r"\S+\s*|\s+", text)]
    deltas += [{"role": "assistant", "tool_calls": _called(calls)}] if calls else []
    head = {**HEAD, "object": "chat.completion.chunk"}
    chunks: list[dict[str, Any]] = [
        {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas
    ]
    chunks.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls" if calls else "stop"}]})
    chunks.append({**head, "choices": [], "usage": USAGE})
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n", "text/event-stream"
