"""The shape of a workflow: one word for who sees whom, to count and to draw."""

from podium.types import Workflow

TOPOLOGIES = ("single", "chain", "fan-in", "tree", "mixed")
"""As the paper's figures sort them; ``fan-in`` is independent answers and one step that sees them all."""


def topology(workflow: Workflow) -> str:
    """One of :data:`TOPOLOGIES`.

    A chain where every step sees the one before it, a tree where every step is seen by exactly one later step, and mixed where
    steps are seen by several or by none. Example: two steps, the second of which sees the first, are a chain.
    """
    steps = workflow.steps
    last = len(steps) - 1
    if last == 0:
        return "single"
    if all(index - 1 in steps[index].access for index in range(1, last + 1)):
        return "chain"
    if not any(step.access for step in steps[:-1]) and len(set(steps[-1].access)) == last:
        return "fan-in"
    seen_by = [sum(index in set(step.access) for step in steps) for index in range(last)]
    return "tree" if all(count == 1 for count in seen_by) else "mixed"
