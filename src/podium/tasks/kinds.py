"""The kinds of problem: one record each says how an answer is judged and what a question of that kind asks for.

A new kind is a :class:`ProblemKind`, registered in the group ``verifiers``, here or in another package. Its problems come from a
benchmark (:mod:`podium.tasks.benchmarks`), a file, or Python.
"""

import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, replace

from podium.errors import ConfigError
from podium.protocols import Verifier
from podium.registry import register, registered
from podium.tasks.countdown import CountdownVerifier
from podium.tasks.free_form import FreeFormVerifier
from podium.tasks.graded import GradedVerifier
from podium.tasks.mathematics import MathVerifier
from podium.tasks.multiple_choice import MultipleChoiceVerifier
from podium.tasks.output_prediction import OutputVerifier
from podium.tasks.programming.verifier import ProgramVerifier
from podium.tasks.sandbox import Sandbox
from podium.tasks.sandbox.packages import named_in
from podium.types import Problem

Opener = Callable[[bool], AbstractAsyncContextManager[Verifier]]
"""(whether programs may run without isolation) -> a verifier, with the processes it needs, to be closed afterwards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemKind:
    """A kind of problem. Example: ``ProblemKind(open=always(CountdownVerifier), instruction="Put one expression in ...")``."""

    open: Opener
    """Kinds with the same opener share one verifier."""
    instruction: str = ""
    """One sentence behind a benchmark's question: the form of answer that the verifier can read."""


def always(make: Callable[[], Verifier]) -> Opener:
    """The opener of a verifier that needs no processes and nothing closed."""
    return lambda unsafe_local: nullcontext(make())


def _mathematics(unsafe_local: bool) -> AbstractAsyncContextManager[Verifier]:
    return MathVerifier()


@asynccontextmanager
async def _programming(unsafe_local: bool) -> AsyncIterator[Verifier]:
    async with Sandbox(unsafe_local=unsafe_local, packages=named_in(os.environ.items())) as sandbox:
        await sandbox.probe()
        yield ProgramVerifier(sandbox)


for _name, _kind in {
    "mathematics": ProblemKind(open=_mathematics, instruction="Reason step by step and put the final answer in \\boxed{}."),
    # A user's problem that names no kind: judged as mathematics, which compares plain texts too.
    "question": ProblemKind(open=_mathematics),
    "multiple_choice": ProblemKind(
        open=always(MultipleChoiceVerifier),
        instruction="Exactly one option is right. Reason step by step and put its letter in \\boxed{}.",
    ),
    "free_form": ProblemKind(
        open=always(FreeFormVerifier),
        instruction="Reason step by step and put the final answer, with its unit if it has one, in \\boxed{}.",
    ),
    "programming": ProblemKind(
        open=_programming,
        instruction="Write a complete Python program or function, imports included, in one ```python block at the end.",
    ),
    "countdown": ProblemKind(
        open=always(CountdownVerifier),
        instruction="Put one arithmetic expression in \\boxed{}, for example \\boxed{(8 - 2) * 4}.",
    ),
    "graded": ProblemKind(open=always(GradedVerifier)),
    "output-prediction": ProblemKind(
        open=always(OutputVerifier),
        instruction='End with a line "Answer: " followed by the returned value as a Python literal.',
    ),
}.items():
    register("verifiers", _name)(_kind)


def problem_kind(name: str) -> ProblemKind:
    """The kind called ``name``. Raises :class:`ConfigError` where there is none."""
    known = registered("verifiers", ProblemKind)
    if name not in known:
        raise ConfigError(f"nothing judges problems of the kind {name!r}; there are {', '.join(sorted(known))}")
    return known[name]


def instructed(problem: Problem) -> Problem:
    """``problem`` with the sentence of its kind behind the question, after an empty line.

    The sentence is added last, when problems go to workers: the same problem from two copies keeps one id, train and test
    compare by what is asked and not by how, and a policy is shown the bare question. The id changes with it, on purpose: an
    answer to other words is another answer. Example: ``[instructed(problem) for problem in load("gsm8k", split="test")]``.
    """
    sentence = problem_kind(problem.kind).instruction
    return replace(problem, question=f"{problem.question}\n\n{sentence}") if sentence else problem
