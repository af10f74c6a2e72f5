"""Which verifier judges which kind of problem: one Verifier for all, that looks at ``Problem.kind``.

Kinds that need a resource (a process pool for mathematics, a sandbox for programs) are passed in by whoever owns the
resource and closes it; the others are made here.
"""

from collections.abc import Mapping

from podium.errors import ConfigError
from podium.protocols import Verifier
from podium.tasks.countdown import CountdownVerifier
from podium.tasks.free_form import FreeFormVerifier
from podium.tasks.judge import Judge
from podium.tasks.multiple_choice import MultipleChoiceVerifier
from podium.tasks.output_prediction import OutputVerifier
from podium.types import Problem, Verdict

_NEEDS = {
    "mathematics": "verifiers(mathematics=MathVerifier(...))",
    "programming": "a sandbox: verifiers(programming=ProgramVerifier(sandbox))",
}


class VerifierByKind:
    """Hands a problem to the verifier of its kind.

    Example: ``VerifierByKind({"countdown": CountdownVerifier()})``. Raises :class:`ConfigError` for a kind it has none for: that
    is the user's to mend before anything is paid for, see :meth:`check`.
    """

    def __init__(self, by_kind: Mapping[str, Verifier]) -> None:
        self._by_kind = dict(by_kind)

    async def __call__(self, problem: Problem, answer: str) -> Verdict:
        """Judge ``answer`` against ``problem.target``."""
        return await self.of(problem.kind)(problem, answer)

    def of(self, kind: str) -> Verifier:
        """The verifier of ``kind``. Raises :class:`ConfigError` where there is none."""
        if kind not in self._by_kind:
            needs = _NEEDS.get(kind, f"known kinds are {', '.join(sorted(self._by_kind))}")
            raise ConfigError(f"nothing verifies problems of the kind {kind!r}; it needs {needs}")
        return self._by_kind[kind]

    def also(self, more: Mapping[str, Verifier]) -> "VerifierByKind":
        """One that judges the kinds in ``more`` too, and these as ``more`` does.

        Example: ``verifiers().also({"word": GymVerifier()})``.
        """
        return VerifierByKind({**self._by_kind, **more})

    def check(self, problems: list[Problem]) -> None:
        """Return only where every kind in ``problems`` has a verifier; call it before the first question is asked."""
        for kind in sorted({problem.kind for problem in problems}):
            self.of(kind)


def verifiers(
    *, mathematics: Verifier | None = None, programming: Verifier | None = None, judge: Judge | None = None
) -> VerifierByKind:
    """The verifiers of every kind in the registry of benchmarks; without ``mathematics`` or ``programming``, all others.

    Example: ``verifiers(mathematics=MathVerifier(pool), programming=ProgramVerifier(sandbox), judge=judge)``.
    """
    by_kind: dict[str, Verifier] = {
        "multiple_choice": MultipleChoiceVerifier(),
        "free_form": FreeFormVerifier(judge),
        "countdown": CountdownVerifier(),
        "output-prediction": OutputVerifier(),
    }
    if mathematics is not None:
        by_kind["mathematics"] = mathematics
    if programming is not None:
        by_kind["programming"] = programming
    return VerifierByKind(by_kind)
