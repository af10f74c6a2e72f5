"""Spans reach a collector, under the caller's trace, without a word of what was asked."""

import asyncio
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from aiohttp import web

from podium.serving.telemetry import exporting
from podium.types import Call, Completion, ToolUse
from tests.serving.live import TWO_STEPS, Puppet, catalog_of, live, said
from tests.serving.test_chat_api import ASKED, client

trace = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2", reason="podium[otel] is not installed")


class Calls(Puppet):
    """A worker that calls a tool by itself."""

    async def __call__(self, call: Call) -> Completion:
        use = ToolUse(tool="add", arguments='{"a": "forty"}', result="forty-two", seconds=0.01)
        return replace(await super().__call__(call), tool_uses=(use,))


async def test_a_run_is_a_workflow_a_plan_and_a_chat_per_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    received: list[bytes] = []

    async def collect(request: web.Request) -> web.Response:
        received.append(await request.read())
        return web.Response(body=b"", content_type="application/x-protobuf")

    app = web.Application()
    app.router.add_post("/v1/traces", collect)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{runner.addresses[0][1]}")
    parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    try:
        with ExitStack() as stack:
            stack.enter_context(exporting())
            catalog = catalog_of(said(TWO_STEPS), said("Plan."), Calls(lambda call: "It is 42."))
            async with live(catalog, tmp_path) as server, client(server) as ai:
                await ai.chat.completions.create(model="podium", messages=ASKED, extra_headers={"traceparent": parent})
            # What is left is sent when exporting ends, and this loop is the collector's.
            await asyncio.to_thread(stack.close)
    finally:
        await runner.cleanup()
    found = []
    for body in received:
        for resource in trace.ExportTraceServiceRequest.FromString(body).resource_spans:
            found += [span for scope in resource.scope_spans for span in scope.spans]
    assert sorted(span.name for span in found) == ["chat w1", "chat w2", "execute_tool add", "invoke_workflow podium", "plan"]
    assert {span.trace_id.hex() for span in found} == {"0af7651916cd43dd8448eb211c80319c"}
    [whole] = [span for span in found if span.name.startswith("invoke")]
    assert whole.parent_span_id.hex() == "b7ad6b7169203331"
    [tool] = [span for span in found if span.name.startswith("execute_tool")]
    [step] = [span for span in found if span.name == "chat w2"]
    assert tool.parent_span_id == step.span_id
    assert all(span.parent_span_id == whole.span_id for span in found if span not in (whole, tool))
    assert not any(word in body for body in received for word in (b"It is 42", b"6 times 7", b"forty"))
