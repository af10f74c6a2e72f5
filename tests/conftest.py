"""Shared by all tests: the folder of real data, and the rule that continuous integration skips nothing."""

import gc
import os
import shutil
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings

# Before anything imports numpy or torch, and for every process that a test starts: several tests run at once, and threads of one
# small matrix that wait for each other's turn on a busy core are several times dearer than none.
for _library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

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
def pytest_collection() -> Generator[None, object, object]:
    """What is loaded stays to the end, and there is much of it: no search for garbage goes through it, now or later."""
    gc.disable()
    found = yield
    gc.freeze()
    gc.enable()
    return found


NEEDS_SANDBOX = ("test_sandbox", "test_programming.py", "test_python_worker", "test_command_worker")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Without bubblewrap, tests that run programs are skipped, and say which command would end that."""
    if shutil.which("bwrap") is None:
        reason = "bubblewrap is missing, so programs can not be isolated: sudo apt-get install bubblewrap libseccomp2"
        for item in items:
            if item.path.name.startswith(NEEDS_SANDBOX):
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where PODIUM_NO_SKIPS is set, a skipped test is a failed one."""
    report = yield
    if os.environ.get("PODIUM_NO_SKIPS") and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
    return report
