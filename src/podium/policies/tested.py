"""``tested:NAME,PYTHON[,MENDER]``: a worker writes a program, another runs it, and it is mended while that fails, at most twice.

PYTHON is a worker of the kind ``python``, or any other that sets :attr:`podium.types.Completion.check_passed`.
"""

from podium.conditions import IF_FAILED
from podium.errors import ConfigError
from podium.policies.fixed import FunctionPolicy, alone
from podium.policies.named import NamedPolicy, PolicyRequest, PolicySetup
from podium.policies.rules import CONDITIONAL
from podium.registry import register
from podium.types import Brief, Step, Workflow

_RUN = "Run the program above on the examples of the question."
_MEND = "The program failed when it was run, as shown above. Correct it and give it again, whole."


def run_and_mend(worker: int, python: int, mender: int) -> FunctionPolicy:
    """``worker`` writes, ``python`` runs, ``mender`` mends where that failed; then both once more where it fails again."""

    def workflow(brief: Brief) -> Workflow:
        [draft] = alone(worker).steps
        return Workflow(
            steps=(
                draft,
                Step(worker=python, subtask=_RUN, access=(0,)),
                Step(worker=mender, subtask=_MEND, access=(0, 1), condition=IF_FAILED),
                Step(worker=python, subtask=_RUN, access=(0, 1, 2), condition=IF_FAILED),
                # Not step 1, whose failure is mended by now: what counts is the second run.
                Step(worker=mender, subtask=_MEND, access=(0, 2, 3), condition=IF_FAILED),
            )
        )

    return FunctionPolicy(workflow, CONDITIONAL)


def _make(asked: PolicyRequest) -> PolicySetup:
    names = [name.strip() for name in asked.spec.argument.split(",")]
    if not 2 <= len(names) <= 3:
        raise ConfigError("tested:NAME,PYTHON[,MENDER] takes two or three workers: who writes, who runs it, and who mends it")
    worker, python, mender = (asked.workers.names.index(asked.workers.named(name).name) for name in (*names, names[0])[:3])
    return PolicySetup(
        policy=run_and_mend(worker, python, mender), workers=asked.workers, max_steps=5, syntax=CONDITIONAL, answering=(mender,)
    )


register("policies", "tested")(
    NamedPolicy(
        form="tested:NAME,PYTHON[,MENDER]",
        about="NAME writes a program, PYTHON runs it; it is mended only while it fails, twice at most",
        make=_make,
    )
)
