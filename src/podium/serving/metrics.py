"""What a scraper of metrics is told: counts, seconds, tokens, dollars. Names of models and workers only, no content."""

import statistics
from collections import defaultdict, deque
from collections.abc import Mapping
from functools import partial
from typing import Any, TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from podium.serving.heartbeat import JobState
from podium.serving.store.runs import Run

Metric = TypeVar("Metric", Counter, Histogram)
_SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)
_RECENT = 100
"""Calls of a worker that its median is taken over."""


class Metrics:
    """Prometheus metrics of one server. Example: ``metrics.finished(run); metrics.text()``."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        count, gauge = partial(Counter, registry=self._registry), partial(Gauge, registry=self._registry)
        seconds = partial(Histogram, buckets=_SECONDS, registry=self._registry)
        self._runs = count("podium_runs", "Runs, by model and outcome.", ["model", "outcome"])
        self._seconds = seconds("podium_run_seconds", "From question to answer.", ["model"])
        self._steps = count("podium_steps", "Steps carried out, by model.", ["model"])
        self._skipped = count("podium_steps_skipped", "Steps for which nobody was asked, by model.", ["model"])
        self._tokens = count("podium_tokens", "Tokens, by model and direction.", ["model", "direction"])
        self._usd = count("podium_usd", "What the work behind runs cost, where its price is known, by model.", ["model"])
        paid = "What runs paid themselves, replies from a journal not included, by model."
        self._paid = count("podium_paid_usd", paid, ["model"])
        self._unpriced = count("podium_unpriced_runs", "Runs whose price is unknown.", ["model"])
        self._step_seconds = seconds("podium_step_seconds", "How long a worker took for a step.", ["worker"])
        self._recent: defaultdict[str, deque[float]] = defaultdict(lambda: deque(maxlen=_RECENT))
        self._responses = count("podium_http_responses", "Answers by status.", ["status"])
        self._kept: dict[tuple[object, tuple[str, ...]], Any] = {}
        self._inside = gauge("podium_requests_in_flight", "Requests being worked on.")
        self._waiting = gauge("podium_requests_waiting", "Requests waiting for room.")
        self._job_age = gauge("podium_heartbeat_age_seconds", "Since each job of the heartbeat was last done.", ["job"])
        self._job_failures = gauge("podium_heartbeat_failures", "How often each job of the heartbeat failed.", ["job"])

    def finished(self, run: Run) -> None:
        """Count a run."""
        of = self._labelled
        of(self._runs, run.model, run.failure or "answered").inc()
        of(self._seconds, run.model).observe(run.seconds)
        of(self._steps, run.model).inc(run.steps)
        of(self._tokens, run.model, "prompt").inc(run.usage.prompt_tokens)
        of(self._tokens, run.model, "completion").inc(run.usage.completion_tokens)
        if run.usage.cost_usd is None:
            of(self._unpriced, run.model).inc()
        else:
            of(self._usd, run.model).inc(run.usage.cost_usd)
        if run.paid_usd is not None:
            of(self._paid, run.model).inc(run.paid_usd)

        for transcript in run.transcripts:
            self._skipped.labels(run.model).inc(sum(not (each.was_asked or each.kept) for each in transcript.results))
            for result in transcript.asked:
                if result.completion is not None:
                    of(self._step_seconds, result.worker).observe(result.completion.seconds)
                    self._recent[result.worker].append(result.completion.seconds)

    def latency(self, worker: str) -> tuple[float, int] | None:
        """Median seconds of the latest calls of ``worker`` here, and how many those are; None before the first."""
        recent = self._recent.get(worker)
        return None if recent is None else (statistics.median(recent), len(recent))

    def responded(self, status: int) -> None:
        """Count an HTTP answer."""
        self._labelled(self._responses, str(status)).inc()

    def _labelled(self, metric: Metric, *labels: str) -> Metric:
        """``metric.labels(*labels)``, which is slow, kept: as many as the metric itself keeps."""
        key = (metric, labels)
        if key not in self._kept:
            self._kept[key] = metric.labels(*labels)
        found: Metric = self._kept[key]
        return found

    def text(self, inside: int, waiting: int, jobs: Mapping[str, JobState]) -> bytes:
        """Everything in Prometheus' text format; ``jobs`` are those of the heartbeat."""
        self._inside.set(inside)
        self._waiting.set(waiting)
        for name, state in jobs.items():
            self._job_age.labels(name).set(state.age_seconds)
            self._job_failures.labels(name).set(state.failures)
        return generate_latest(self._registry)
