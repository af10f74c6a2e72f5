"""The verifiers that a set of problems needs, opened with their processes and closed again."""

from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager

from podium.gym.kinds import KINDS, UNTRAINED_KINDS
from podium.gym.verify import GymVerifier
from podium.protocols import Verifier
from podium.registry import register
from podium.tasks.kinds import Opener, ProblemKind, always, problem_kind
from podium.tasks.verifiers import VerifierByKind

_GYM = ProblemKind(open=always(GymVerifier))
for _name in (*KINDS, *UNTRAINED_KINDS):
    register("verifiers", _name)(_GYM)


@asynccontextmanager
async def open_verifiers(kinds: Iterable[str], *, unsafe_local: bool = False) -> AsyncIterator[VerifierByKind]:
    """A verifier for problems of these kinds; mathematics gets its processes, programs their sandbox, where they are needed.

    Example: ``async with open_verifiers({"mathematics"}) as verifier: ...``. Raises :class:`ConfigError` for a kind that nothing
    judges, before anything is asked, and :class:`SandboxError` where programs can not be isolated.
    """
    wanted = {name: problem_kind(name) for name in sorted(set(kinds))}
    async with AsyncExitStack() as stack:
        opened: dict[Opener, Verifier] = {}
        for kind in wanted.values():
            if kind.open not in opened:
                opened[kind.open] = await stack.enter_async_context(kind.open(unsafe_local))
        yield VerifierByKind({name: opened[kind.open] for name, kind in wanted.items()})
