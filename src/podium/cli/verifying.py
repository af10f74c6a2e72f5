"""Which verifiers a set of problems needs, opened and closed around the command that judges with them."""

from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager

from podium.gym.templates import KINDS, UNTRAINED_KINDS
from podium.gym.verify import GymVerifier
from podium.protocols import Verifier
from podium.tasks.mathematics import MathVerifier
from podium.tasks.programming import ProgramVerifier
from podium.tasks.sandbox import Sandbox
from podium.tasks.verifiers import VerifierByKind, verifiers

ANY_QUESTION = "question"
"""Kind of a user's problem that names none: judged as mathematics, which compares plain texts too."""


@asynccontextmanager
async def open_verifiers(kinds: Iterable[str], *, unsafe_local: bool = False) -> AsyncIterator[VerifierByKind]:
    """Verifiers for problems of these kinds; mathematics gets its processes, programming its sandbox, if they are needed.

    Raises :class:`ConfigError` for a kind nothing judges and :class:`SandboxError` where programs can not be isolated.
    """
    wanted = set(kinds)
    async with AsyncExitStack() as stack:
        mathematics: Verifier | None = None
        programming: Verifier | None = None
        if wanted & {"mathematics", ANY_QUESTION}:
            mathematics = await stack.enter_async_context(MathVerifier())
        if "programming" in wanted:
            sandbox = await stack.enter_async_context(Sandbox(unsafe_local=unsafe_local))
            await sandbox.probe()
            programming = ProgramVerifier(sandbox)
        more: dict[str, Verifier] = dict.fromkeys((*KINDS, *UNTRAINED_KINDS), GymVerifier())
        if mathematics is not None:
            more[ANY_QUESTION] = mathematics
        judges = verifiers(mathematics=mathematics, programming=programming).also(more)
        for kind in sorted(wanted):
            judges.of(kind)
        yield judges
