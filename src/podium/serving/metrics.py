"""What a scraper of metrics is told: counts, seconds, tokens, dollars. Names of models and workers only, no content."""

import statistics
from collections import defaultdict, deque

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from podium.serving.store.runs import Run

_SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)
_RECENT = 100
"""Calls of a worker that its median is taken over."""


class Metrics:
    """Prometheus metrics of one server. Example: ``metrics.finished(run); metrics.text()``."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._runs = Counter("podium_runs", "Runs, by model and outcome.", ["model", "outcome"], registry=self._registry)
        self._seconds = Histogram(
            "podium_run_seconds", "From question to answer.", ["model"], buckets=_SECONDS, registry=self._registry
        )
        self._steps = Counter("podium_steps", "Steps carried out, by model.", ["model"], registry=self._registry)
        self._skipped = Counter(
            "podium_steps_skipped", "Steps for which nobody was asked, by model.", ["model"], registry=self._registry
        )
        self._tokens = Counter(
            "podium_tokens", "Tokens, by model and direction.", ["model", "direction"], registry=self._registry
        )
        self._usd = Counter("podium_usd", "Dollars of runs whose price is known, by model.", ["model"], registry=self._registry)
        self._unpriced = Counter("podium_unpriced_runs", "Runs whose price is unknown.", ["model"], registry=self._registry)
        self._step_seconds = Histogram(
            "podium_step_seconds", "How long a worker took for a step.", ["worker"], buckets=_SECONDS, registry=self._registry
        )
        self._recent: defaultdict[str, deque[float]] = defaultdict(lambda: deque(maxlen=_RECENT))
        self._responses = Counter("podium_http_responses", "Answers by status.", ["status"], registry=self._registry)
        self._inside = Gauge("podium_requests_in_flight", "Requests being worked on.", registry=self._registry)
        self._waiting = Gauge("podium_requests_waiting", "Requests waiting for room.", registry=self._registry)

    def finished(self, run: Run) -> None:
        """Count a run."""
        self._runs.labels(run.model, run.failure or "answered").inc()
        self._seconds.labels(run.model).observe(run.seconds)
        self._steps.labels(run.model).inc(run.steps)
        self._tokens.labels(run.model, "prompt").inc(run.usage.prompt_tokens)
        self._tokens.labels(run.model, "completion").inc(run.usage.completion_tokens)
        if run.usage.cost_usd is None:
            self._unpriced.labels(run.model).inc()
        else:
            self._usd.labels(run.model).inc(run.usage.cost_usd)

        for transcript in run.transcripts:
            self._skipped.labels(run.model).inc(len(transcript.results) - len(transcript.asked))
            for result in transcript.asked:
                if result.completion is not None:
                    self._step_seconds.labels(result.worker).observe(result.completion.seconds)
                    self._recent[result.worker].append(result.completion.seconds)

    def latency(self, worker: str) -> tuple[float, int] | None:
        """Median seconds of the latest calls of ``worker`` here, and how many those are; None before the first."""
        recent = self._recent.get(worker)
        return None if recent is None else (statistics.median(recent), len(recent))

    def responded(self, status: int) -> None:
        """Count an HTTP answer."""
        self._responses.labels(str(status)).inc()

    def text(self, inside: int, waiting: int) -> bytes:
        """Everything in Prometheus' text format."""
        self._inside.set(inside)
        self._waiting.set(waiting)
        return generate_latest(self._registry)
