"""OpenTelemetry spans of a run, with the ``gen_ai`` names: invoke_workflow around a plan and a chat per step.

Made from the finished transcripts, with the times they hold, so that nothing waits for an exporter. No content goes into them.
Without ``OTEL_EXPORTER_OTLP_ENDPOINT``, or where OpenTelemetry is not installed, nothing happens.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from podium.errors import ConfigError
from podium.serving.store.runs import Run
from podium.types import StepResult, Transcript, Usage
from podium.workflow.draw import unasked

_NANO = 1_000_000_000
_tracers: list[Any] = []
"""The tracer of this process, while :func:`exporting`."""


@contextmanager
def exporting() -> Iterator[None]:
    """Send spans to the OTLP endpoint of the environment inside the block; what is left is sent at its end.

    Raises :class:`ConfigError` where an endpoint is set and the packages for it are missing.
    """
    if not (os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT") or os.environ.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")):
        yield
        return
    if find_spec("opentelemetry.sdk") is None or find_spec("opentelemetry.exporter") is None:
        raise ConfigError("OTEL_EXPORTER_OTLP_ENDPOINT is set, and spans need: pip install 'podium[otel]'")
    trace = import_module("opentelemetry.sdk.trace")
    export = import_module("opentelemetry.sdk.trace.export")
    otlp = import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
    resources = import_module("opentelemetry.sdk.resources")
    named = resources.Resource.create({"service.name": os.environ.get("OTEL_SERVICE_NAME", "podium")})
    provider = trace.TracerProvider(resource=named)
    provider.add_span_processor(export.BatchSpanProcessor(otlp.OTLPSpanExporter()))
    _tracers.append(provider.get_tracer("podium"))
    try:
        yield
    finally:
        _tracers.clear()
        provider.shutdown()


def record(run: Run, transcripts: Sequence[Transcript], headers: Mapping[str, str]) -> None:
    """The spans of ``run``; ``headers`` of the request may name the trace it belongs to (``traceparent``)."""
    if not _tracers:
        return
    api = import_module("opentelemetry.trace")
    context = import_module("opentelemetry.propagate").extract(dict(headers))
    tracer = _tracers[0]
    begin = int(run.created.timestamp() * _NANO)
    about = {
        "gen_ai.operation.name": "invoke_workflow",
        "gen_ai.workflow.name": run.model,
        "podium.run": run.id,
        "podium.key": run.key,
    }
    whole = tracer.start_span(
        "invoke_workflow " + run.model, context=context, start_time=begin, attributes=about | _usage(run.usage)
    )
    if run.paid_usd is not None:
        whole.set_attribute("podium.paid_usd", run.paid_usd)
    if run.failure:
        whole.set_attribute("error.type", run.failure)
        whole.set_status(api.StatusCode.ERROR)
    inside = api.set_span_in_context(whole)
    at = begin
    for number, transcript in enumerate(transcripts, start=1):
        written = at + int(transcript.generation.seconds * _NANO)
        plan = {"gen_ai.operation.name": "plan", "podium.round": number, **_usage(transcript.generation.usage)}
        tracer.start_span("plan", context=inside, start_time=at, attributes=plan).end(written)
        for index, result in enumerate(transcript.results):
            _step(tracer, api, inside, written, number, index, result)
        at = written + int(transcript.seconds * _NANO)
    whole.end(begin + int(run.seconds * _NANO))


def _step(tracer: Any, api: Any, inside: Any, begin: int, number: int, index: int, result: StepResult) -> None:
    start = begin + int(result.start_seconds * _NANO)
    operation = "skip" if unasked(result) else "chat"  # a model was asked, or not
    about = {
        "gen_ai.operation.name": operation,
        "gen_ai.request.model": result.worker,
        "podium.round": number,
        "podium.step": index,
    }
    if result.usage is not None:
        about |= _usage(result.usage)
    if result.completion is not None:
        about |= {"gen_ai.response.finish_reasons": (result.completion.finish_reason,)}
    span = tracer.start_span(f"{operation} {result.worker}", context=inside, start_time=start, attributes=about)
    if result.skipped is not None:
        span.set_attribute("podium.skipped", True)
    elif not result.was_needed:
        span.set_attribute("podium.needed", False)
    elif result.failure is not None:
        span.set_attribute("error.type", result.failure.kind)
        span.set_status(api.StatusCode.ERROR)
    for use in () if result.completion is None else result.completion.tool_uses:
        called = start + int(use.start_seconds * _NANO)
        what = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": use.tool}
        tool = tracer.start_span(
            f"execute_tool {use.tool}", context=api.set_span_in_context(span), start_time=called, attributes=what
        )
        if use.failed:
            tool.set_status(api.StatusCode.ERROR)
        tool.end(called + int(use.seconds * _NANO))
    span.end(start + int(result.seconds * _NANO))


def _usage(usage: Usage) -> dict[str, Any]:
    found = {"gen_ai.usage.input_tokens": usage.prompt_tokens, "gen_ai.usage.output_tokens": usage.completion_tokens}
    return found if usage.cost_usd is None else {**found, "podium.cost_usd": usage.cost_usd}
