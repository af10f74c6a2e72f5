"""The dialect a policy is taught and held to: one value for the prompt and the parser, so that they can not disagree."""

from dataclasses import dataclass
from typing import Literal

FIXED_SUBTASK = "Solve the user's question and give the final answer."
"""What every worker is told where the policy writes no subtasks (ablation of the paper, Table 10)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowSyntax:
    """The variants of the workflow language that the paper compares (sections 3.1 and 5.3), and one with conditions.

    Example: ``WorkflowSyntax(access="binary", few_shot="none")``.
    """

    access: Literal["binary", "positions"] = "positions"
    """``binary``: a step sees nothing or everything before it. ``positions``: also lists such as ``[0, 2]``."""
    subtasks: bool = True
    """False: the policy writes two lists only and every worker gets :data:`FIXED_SUBTASK`."""
    few_shot: Literal["none", "in_distribution", "out_of_distribution"] = "out_of_distribution"
    """Which examples the prompt shows; the paper's best setting is the default."""
    conditions: bool = False
    """A fourth list says when each step is carried out (:mod:`podium.conditions`); the paper's language has three."""
    cards: bool = False
    """Show each worker's name, description, skills and price. False (as in the paper): numbers only, so that no prior
    about a brand leaks in."""

    @property
    def names(self) -> tuple[str, ...]:
        """The lists a policy writes, in order."""
        paper = ("model_id", "subtasks", "access_list") if self.subtasks else ("model_id", "access_list")
        return (*paper, "conditions") if self.conditions else paper
