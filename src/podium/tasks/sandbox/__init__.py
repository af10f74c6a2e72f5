"""Running untrusted programs: one isolated sandbox per submission, one fork per test.

    async with Sandbox(slots=2) as sandbox:                      # probes; refuses to run where it can not isolate
        async with sandbox.submission("def add(a, b): return a + b") as submission:
            outcome = await submission.run(Job(kind="call", entry="add", args=[3, 4]))
    assert outcome.status == "ok" and outcome.value == "7"

"The program failed" is an :class:`Outcome`; "the sandbox failed" is a ``podium.errors.SandboxError``, never an outcome.
"""

from podium.tasks.sandbox.job import Job, Outcome
from podium.tasks.sandbox.limits import SandboxLimits
from podium.tasks.sandbox.slots import Sandbox
from podium.tasks.sandbox.submission import Submission

__all__ = ["Job", "Outcome", "Sandbox", "SandboxLimits", "Submission"]
