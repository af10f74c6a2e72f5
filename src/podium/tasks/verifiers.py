"""One verifier for problems of many kinds."""

from collections.abc import Mapping

from podium.errors import ConfigError
from podium.protocols import Verifier
from podium.types import Problem, Verdict


class VerifierByKind:
    """Hands a problem to the verifier of its kind. Example: ``VerifierByKind({"countdown": CountdownVerifier()})``.

    Raises :class:`ConfigError` for a kind that it has none for.
    """

    def __init__(self, by_kind: Mapping[str, Verifier]) -> None:
        self._by_kind = dict(by_kind)

    async def __call__(self, problem: Problem, answer: str) -> Verdict:
        """Judge ``answer`` against ``problem.target``."""
        return await self.of(problem.kind)(problem, answer)

    def of(self, kind: str) -> Verifier:
        """Who judges problems of this kind."""
        if kind not in self._by_kind:
            raise ConfigError(f"nothing judges the kind {kind!r} here; there are {', '.join(sorted(self._by_kind))}")
        return self._by_kind[kind]
