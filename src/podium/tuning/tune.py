"""``tune``: for users of the package, with the pool's kinds and the right verifier found."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from podium.errors import ConfigError
from podium.pools.opened import OpenPool
from podium.pools.verifiers import open_verifiers
from podium.tuning.catalogue import GENERAL, Catalogue
from podium.tuning.result import Tuned
from podium.tuning.run import MAX_CALLS, OnProgress, tune_pool
from podium.types import Problem


async def tune(
    pool: OpenPool,
    problems: Sequence[Problem],
    out: Path | str,
    *,
    max_calls: int = MAX_CALLS,
    max_usd: float | None = None,
    prefer: str = "balanced",
    seed: int = 0,
    gate: bool = True,
    about: Mapping[str, str] | None = None,
    catalogue: Catalogue = GENERAL,
    conductor: str | None = None,
    reflector: str | None = None,
    unsafe_local: bool = False,
    on_progress: OnProgress | None = None,
) -> Tuned:
    """Find a workflow for every kind of question, and write it to the folder ``out``.

    ``max_calls`` is never passed. ``max_usd`` says how long to search; the dollars that may never be passed are the budget the
    pool was opened with, and where that ends the search, what was found is written all the same. ``prefer`` is ``accuracy``,
    ``balanced`` (gives up one point of accuracy for a lower price) or ``cheap`` (three points). What comes back has the policy
    and the sealed test.

    Kinds are those of the problems where there are several, else they are found. ``about`` says what a kind is about, for the
    workers to be told; a kind it does not name is called by its own name. ``catalogue`` has the roles and plans to try.

    ``conductor`` names a worker that is tuned as the prompted Conductor as well (``prompted:FOLDER``), with half of the calls;
    ``reflector`` is who rewrites its advice, else the same worker. Plans are proposed by it, else by the pool's ``[conductor]``,
    else by the chat model that is right most often alone.

    Where some 300 calls show that the other workers add nothing to the best one, it ends with that; ``gate=False`` searches all
    the same.

    Example: ``ours = await podium.tune(pool, problems, "runs/mine"); podium.conductor(pool, ours.policy)``. Raises
    :class:`ConfigError` for problems that can show nothing, for an unknown kind in ``about`` and an unknown worker.
    """
    kinds = {pool.sort_of(problem) for problem in problems}
    are_found = len(kinds) < 2
    if are_found and about:
        raise ConfigError(f"all problems are of one kind, so kinds are found; nothing can be said about {min(about)!r} before")
    if unknown := sorted({*(about or {})} - kinds):
        raise ConfigError(f"nothing is of the kind {unknown[0]!r}; the kinds are {', '.join(sorted(kinds))}")
    named = {} if are_found else {kind: kind.replace("_", " ") for kind in kinds}
    own = None if pool.conductor is None else pool.conductor.worker
    named_proposer = conductor or own
    async with open_verifiers({problem.kind for problem in problems}, unsafe_local=unsafe_local) as verifier:
        return await tune_pool(
            pool.workers,
            problems,
            verifier,
            Path(out),
            kind_of=None if are_found else pool.sort_of,
            about={**named, **(about or {})},
            catalogue=catalogue,
            max_calls=max_calls,
            max_usd=max_usd,
            prefer=prefer,
            seed=seed,
            gate=gate,
            conductor=conductor,
            reflector=reflector,
            proposers=pool.chat_workers if named_proposer is None else (named_proposer,),
            on_progress=on_progress,
        )
