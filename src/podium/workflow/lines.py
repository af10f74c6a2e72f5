"""A step's result in a line, as a terminal shows it while a workflow runs."""

from podium.types import StepResult, Workflow
from podium.workflow.draw import dollars, plain, said, sees


def result_line(workflow: Workflow | None, index: int, result: StepResult) -> str:
    """A finished step on one line."""
    shown = "" if workflow is None else f" (sees {sees(workflow, index)})"
    figures = f"{took(result):.2f} s {cost_of(result)}" if result.skipped is None else "skipped"
    return f"  step {index} {plain(result.worker, 24)}{shown}: {plain(said(result), 100)} [{figures}]"


def was_asked(result: StepResult) -> bool:
    """Whether somebody was asked for it, and needed to be."""
    return result.was_asked


def took(result: StepResult) -> float:
    """Wall time with its limits and retries; of a simulated worker, which answers at once, the time it stands for."""
    return max(result.seconds, 0.0 if result.completion is None else result.completion.seconds)


def cost_of(result: StepResult) -> str:
    """What it cost; "" where that is not known or nobody was asked."""
    return "" if result.usage is None or result.skipped is not None else dollars(result.usage)
