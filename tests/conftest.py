"""Shared by all tests: the folder of real data, and the rule that continuous integration skips nothing."""

import os
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings

# The machines are shared and slow at times; how long one example takes proves nothing.
settings.register_profile("podium", deadline=None)
settings.load_profile("podium")

DATA = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture
def data() -> Path:
    """Real benchmark questions and recorded model outputs, beside the checkout."""
    if not DATA.is_dir():
        pytest.skip("../shared/data is missing: the real questions and recorded outputs are not part of the repository")
    return DATA


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where PODIUM_NO_SKIPS is set, a skipped test is a failed one."""
    report = yield
    if os.environ.get("PODIUM_NO_SKIPS") and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
    return report
