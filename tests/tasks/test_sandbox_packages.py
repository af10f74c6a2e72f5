"""Packages that a sandbox brings along: programs that need them are judged, and see nothing else of where they come from."""

import site
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from podium.errors import ConfigError, VerifierError
from podium.evaluation.verifier_identity import verifier_identity
from podium.tasks.kinds import problem_kind
from podium.tasks.programming.target import AssertTests, CallCase, CallTests, ProgramTests, StdinCase, StdinTests, UnittestTests
from podium.tasks.programming.verifier import ProgramVerifier
from podium.tasks.sandbox import Job, Sandbox
from podium.tasks.sandbox.packages import SETTING, Packages, installed
from podium.types import Problem, Verdict

pytest.importorskip("numpy")

CALLS = CallTests(entry="add", cases=(CallCase(args=(20, 22), expected=42),))
ASSERTS = AssertTests(asserts=("assert add(20, 22) == 42", "assert add(1, 2) == 3"))
UNITTEST = UnittestTests(
    code=("import unittest\n\n\nclass T(unittest.TestCase):\n    def test(self):\n        self.assertEqual(add(20, 22), 42)\n",)
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandbox() -> AsyncIterator[Sandbox]:
    async with Sandbox(slots=2, packages=("numpy",)) as sandbox:
        yield sandbox


pytestmark = pytest.mark.asyncio(loop_scope="module")


async def judged(sandbox: Sandbox, tests: ProgramTests, code: str) -> Verdict:
    problem = Problem(question="?", target=tests.to_json(), kind="programming", source="test")
    return await ProgramVerifier(sandbox)(problem, f"```python\n{code}\n```")


async def ran(sandbox: Sandbox, code: str) -> str:
    async with sandbox.submission(code) as submission:
        outcome = await submission.run(Job(kind="script"))
    return (outcome.stdout + outcome.stderr).decode()


@pytest.mark.parametrize("tests", [CALLS, ASSERTS, UNITTEST])
@pytest.mark.parametrize(
    ("code", "right"),
    [
        ("import numpy as np\ndef add(a, b):\n    return int(np.add(a, b))", True),
        ("import numpy as np\ndef add(a, b):\n    return int(np.array([a, b]).sum() + 1)", False),
        ("from numpy.linalg import norm\ndef add(a, b):\n    return a * b", False),
    ],
)
async def test_a_program_with_numpy_is_right_or_wrong_as_any_other(
    sandbox: Sandbox, tests: ProgramTests, code: str, right: bool
) -> None:
    assert (await judged(sandbox, tests, code)).correct is right


async def test_tests_that_use_a_package_themselves(sandbox: Sandbox) -> None:
    """Away from the program's objects they can; beside them the judge loads the standard library only, so nobody judges."""
    add = "import numpy as np\ndef add(a, b):\n    return int(np.add(a, b))"
    loop = "import numpy as np\nfor n in np.arange(3):\n    assert add(int(n), 2) == n + 2"
    assert (await judged(sandbox, AssertTests(asserts=(loop,)), add)).correct
    assert not (await judged(sandbox, AssertTests(asserts=(loop,)), add.replace("np.add", "np.multiply"))).correct
    beside = UnittestTests(code=(UNITTEST.code[0].replace("import unittest", "import unittest, numpy"),))
    with pytest.raises(VerifierError, match="use numpy on the program's own objects"):
        await judged(sandbox, beside, add)


async def test_a_returned_number_of_numpys_is_that_number(sandbox: Sandbox) -> None:
    assert (await judged(sandbox, CALLS, "import numpy as np\ndef add(a, b):\n    return np.int64(a) + b")).correct
    assert not (await judged(sandbox, CALLS, "import numpy as np\ndef add(a, b):\n    return np.array([a + b])")).correct


async def test_matrices_are_multiplied_within_the_limits(sandbox: Sandbox) -> None:
    code = "import numpy as np\na = np.ones((300, 300))\nprint(int((a @ a).sum()), np.linalg.matrix_rank(a))"
    tests = StdinTests(cases=(StdinCase(stdin="", stdout="27000000 1"),))
    assert (await judged(sandbox, tests, code)).correct


async def test_nothing_but_the_package_can_be_seen(sandbox: Sandbox) -> None:
    seen = await ran(sandbox, "import os, sys\nprint(sorted(os.listdir('/packages')), sys.path[-1])")
    assert "numpy" in seen
    for foreign in ("pytest", "podium", "pydantic", "sympy"):
        assert foreign not in seen
        assert "ModuleNotFoundError" in await ran(sandbox, f"import {foreign}")
    for place in (*site.getsitepackages(), str(Path(__file__).parents[2]), sys.prefix):
        assert "FileNotFoundError" in await ran(sandbox, f"import os\nos.listdir({place!r})")
    for wrong in (
        "open('/packages/numpy/x', 'w')",
        "open('/packages/x.py', 'w')",
        "__import__('os').remove('/packages/numpy/__init__.py')",
    ):
        assert "OSError: [Errno 30]" in await ran(sandbox, wrong)


async def test_what_one_test_does_to_a_package_the_next_does_not_see(sandbox: Sandbox) -> None:
    code = (
        "import numpy as np\nnp.calls = getattr(np, 'calls', 0) + 1\ndef add(a, b):\n    np.calls += 1\n    return 40 + np.calls"
    )
    for _ in range(2):
        assert (await judged(sandbox, CALLS, code)).correct


async def test_without_being_asked_for_nothing_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Sandbox(slots=1) as bare:
        assert "ModuleNotFoundError" in await ran(bare, "import numpy")
    identities = set()
    for names in ("", "numpy", " numpy ,"):
        monkeypatch.setenv(SETTING, names)
        async with problem_kind("programming").open(False) as verifier:
            identities.add(verifier_identity(verifier, "programming"))
    assert len(identities) == 2, "what the sandbox has is part of what judges"


async def test_a_program_on_the_host_has_the_package_too() -> None:
    async with Sandbox(slots=1, unsafe_local=True, packages=("numpy",)) as sandbox:
        assert "42" in await ran(sandbox, "import numpy\nprint(int(numpy.int64(42)))")
        assert "ModuleNotFoundError" in await ran(sandbox, "import pydantic")


async def test_only_what_is_installed_can_be_brought_and_podium_never() -> None:
    with pytest.raises(ConfigError, match=r"'no-such-package'.*is not installed.*PODIUM_SANDBOX_PACKAGES"):
        Sandbox(packages=("numpy", "no-such-package"))
    for name in ("podium", "PODIUM", "../../etc"):
        with pytest.raises(ConfigError):
            Sandbox(packages=(name,))
    pandas = pytest.importorskip("pandas")
    found = installed(["pandas"])
    assert {"pandas", "numpy"} <= {path.name for path in found.paths}, "with what it needs"
    assert f"pandas {pandas.__version__}" in found.versions


async def test_a_package_that_others_may_not_read_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    folder = tmp_path / "closed"
    (folder / "numpy").mkdir(parents=True)
    for mode, closed in ((0o755, False), (0o700, True)):
        folder.chmod(mode)
        found = Packages(paths=(folder / "numpy",)).closed_to_others()
        assert (found is not None) or not closed
