"""A worker that checks: what it says of an answer, read as "passed" or "failed" instead of guessed from its words."""

import re
from dataclasses import replace

from podium.errors import UnworkableStep
from podium.protocols import Worker
from podium.types import Call, Completion

INSTRUCTION = "End with a line that says CHECK: PASSED if everything holds, or CHECK: FAILED if anything is wrong."

_VERDICT = re.compile(r"CHECK:\W{0,10}(PASSED|FAILED)\W{0,10}", re.IGNORECASE)


def verdict_of(text: str) -> bool | None:
    """Whether a check passed, by its last line; None where that is no verdict. Example: ``verdict_of("CHECK: PASSED")``."""
    lines = text.strip().splitlines()
    found = _VERDICT.fullmatch(lines[-1].strip(" \t*_`#>")) if lines else None
    return None if found is None else found[1].upper() == "PASSED"


def as_check(said: Completion, call: Call) -> Completion:
    """``said`` as a check of what ``call`` shows, where it ends with a verdict; anything else as it is."""
    passed = verdict_of(said.text) if call.visible and said.check_passed is None else None
    if passed is None:
        return said
    return replace(said, text=call.visible[-1].response if passed else said.text, check_passed=passed)


class Checking:
    """``worker``, told to end with a verdict, which becomes :attr:`podium.types.Completion.check_passed`.

    A check that fails says what is wrong. Any other says what it checked, so that the answer goes on and not the praise for it;
    without a verdict it neither passed nor failed. Raises :class:`UnworkableStep` where it is shown nothing to check.

    Example: ``(await Checking(model)(call)).check_passed is False``.
    """

    def __init__(self, worker: Worker) -> None:
        self._worker = worker

    def check_call(self, call: Call) -> None:
        """Raises :class:`UnworkableStep` where there is nothing to check."""
        if not call.visible:
            raise UnworkableStep("there is nothing to check: the check may see no step; let it see the answer")

    async def __call__(self, call: Call) -> Completion:
        """Check the newest response."""
        self.check_call(call)
        said = await self._worker(replace(call, subtask=f"{call.subtask} {INSTRUCTION}".strip(), on_token=None))
        passed = verdict_of(said.text)
        checked = replace(said, text=said.text if passed is False else call.visible[-1].response, check_passed=passed)
        if call.on_token is not None:
            call.on_token(checked.text)
        return checked
