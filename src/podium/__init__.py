"""Podium: one better, cheaper endpoint over several LLMs. An open implementation of the RL Conductor (arXiv 2512.04388).

Everything a user of the package needs is here, and is loaded when it is first named, so that ``import podium`` costs nothing::

    import podium

    async with podium.open_pool("pool.toml", budget=podium.Budget(usd=5), journal="calls.db") as pool:
        answer = await podium.conductor(pool).ask("Why is the sky blue?")

Functions that wait for models are coroutines. Each has a twin for notebooks and scripts, with ``_sync`` behind its name, which
waits for the result (:mod:`podium.sync`).
"""

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

if TYPE_CHECKING:
    from podium.conduct import Conductor
    from podium.errors import PodiumError
    from podium.evaluation.metrics import summarise
    from podium.evaluation.report import markdown_table
    from podium.events import (
        Answered,
        Event,
        PlanStarted,
        PlanToken,
        StepFinished,
        StepStarted,
        StepToken,
        ToolCalled,
        WorkflowWritten,
    )
    from podium.hosting import serve
    from podium.policies.chat import ChatPolicy
    from podium.policies.fixed import FixedPolicy, FunctionPolicy, consensus, mixture_of_agents, self_reflection, solo
    from podium.pools.conducting import conductor
    from podium.pools.evaluating import evaluate
    from podium.pools.open import open_pool
    from podium.pools.opened import OpenPool
    from podium.pools.problems import ProblemSource, load_problems
    from podium.protocols import Policy, Verifier, Worker
    from podium.registry import register
    from podium.studies.report import StudyReport
    from podium.studies.run import run_study
    from podium.sync import ask_sync, run_sync
    from podium.training.config import TrainConfig
    from podium.training.run import train
    from podium.tuning.result import Tuned
    from podium.tuning.tune import tune
    from podium.types import (
        Brief,
        Call,
        Card,
        Completion,
        Failure,
        Generation,
        Message,
        Problem,
        Sampling,
        Step,
        ToolUse,
        Transcript,
        Usage,
        Verdict,
        Workflow,
        ask,
    )
    from podium.workers.budget import Budget
    from podium.workers.pool import Member, WorkerPool
    from podium.workers.scripted import Scripted
    from podium.workers.vote import MajorityVote
    from podium.workflow.draw import as_mermaid, as_svg, as_text
    from podium.workflow.parse import format_workflow, parse
    from podium.workflow.syntax import WorkflowSyntax

_MODULES = {
    "podium.conduct": "Conductor",
    "podium.errors": "PodiumError",
    "podium.evaluation.metrics": "summarise",
    "podium.evaluation.report": "markdown_table",
    "podium.events": "Answered Event PlanStarted PlanToken StepFinished StepStarted StepToken ToolCalled WorkflowWritten",
    "podium.hosting": "serve",
    "podium.policies.chat": "ChatPolicy",
    "podium.policies.fixed": "FixedPolicy FunctionPolicy consensus mixture_of_agents self_reflection solo",
    "podium.pools.conducting": "conductor",
    "podium.pools.evaluating": "evaluate",
    "podium.pools.open": "open_pool",
    "podium.pools.opened": "OpenPool",
    "podium.pools.problems": "ProblemSource load_problems",
    "podium.protocols": "Policy Verifier Worker",
    "podium.registry": "register",
    "podium.studies.report": "StudyReport",
    "podium.studies.run": "run_study",
    "podium.sync": "ask_sync run_sync",
    "podium.training.config": "TrainConfig",
    "podium.training.run": "train",
    "podium.tuning.result": "Tuned",
    "podium.tuning.tune": "tune",
    "podium.types": (
        "Brief Call Card Completion Failure Generation Message Problem Sampling Step ToolUse Transcript Usage Verdict "
        "Workflow ask"
    ),
    "podium.workers.budget": "Budget",
    "podium.workers.pool": "Member WorkerPool",
    "podium.workers.scripted": "Scripted",
    "podium.workers.vote": "MajorityVote",
    "podium.workflow.draw": "as_mermaid as_svg as_text",
    "podium.workflow.parse": "format_workflow parse",
    "podium.workflow.syntax": "WorkflowSyntax",
}
"""Module -> the public names in it."""
_WHERE = {name: module for module, names in _MODULES.items() for name in names.split()}

_NEEDS = {"run_study": "stats", "StudyReport": "stats", "serve": "serve", "train": "train", "tune": "stats", "Tuned": "stats"}
"""Names behind which stands more than the core, and the extra that brings it."""

__all__ = [
    "Answered", "Brief", "Budget", "Call", "Card", "ChatPolicy", "Completion", "Conductor", "Event", "Failure", "FixedPolicy",
    "FunctionPolicy", "Generation", "MajorityVote", "Member", "Message", "OpenPool", "PlanStarted", "PlanToken", "PodiumError",
    "Policy", "Problem", "ProblemSource", "Sampling", "Scripted", "Step", "StepFinished", "StepStarted", "StepToken",
    "StudyReport", "ToolCalled", "ToolUse", "TrainConfig", "Transcript", "Tuned", "Usage", "Verdict", "Verifier", "Worker",
    "WorkerPool", "Workflow", "WorkflowSyntax", "WorkflowWritten",
    "as_mermaid", "as_svg", "as_text", "ask", "ask_sync", "conductor", "consensus", "evaluate", "format_workflow",
    "load_problems", "markdown_table", "mixture_of_agents", "open_pool", "parse", "register", "run_study", "run_sync",
    "self_reflection", "serve", "solo", "summarise", "train", "tune",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Load the module behind ``name``."""
    if name not in _WHERE:
        raise AttributeError(f"module 'podium' has no attribute {name!r}")
    try:
        found = getattr(importlib.import_module(_WHERE[name]), name)
    except ModuleNotFoundError as error:
        if name not in _NEEDS:
            raise
        extra = f"pip install 'podium[{_NEEDS[name]}]'"
        raise ImportError(f"podium.{name} needs {error.name}, which is not installed: {extra}") from error
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
