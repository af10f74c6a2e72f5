"""The drills of ``benchmarks/``, small: requests made up from the OpenAPI document, clients that leave."""

import pytest

pytest.importorskip("schemathesis", reason="schemathesis is not installed")

from benchmarks.leaving import drill
from benchmarks.server_fuzz import fuzz


def test_no_request_is_a_bug() -> None:
    figures = fuzz(150)
    assert figures["cases"] > 100
    assert (figures["unhandled"], figures["shapeless"]) == (0, 0), figures
    assert figures["statuses"]["200"] > 3


def test_who_leaves_stops_what_they_would_have_paid_for() -> None:
    figures = drill(clients=40, seconds=2.5)
    assert figures["left"] == figures["answered"] == figures["cut_off"] == 40
    assert figures["still_under_way"] == 0
    assert figures["drift_calls"] == 0
    assert figures["open_usd"] == 0
