"""Podium: one better, cheaper endpoint over several LLMs. An open implementation of the RL Conductor (arXiv 2512.04388).

The names here load in a blink. What needs an adapter library, a price list or a server is imported from its own module:
``podium.workers.chat``, ``podium.workers.metered``, ``podium.gym.server``, ``podium.evaluation.evaluate``.
"""

from podium.conduct import Conductor
from podium.errors import PodiumError
from podium.events import Answered, Event, StepFinished, StepStarted, StepToken, WorkflowWritten
from podium.policies.chat import ChatPolicy
from podium.policies.fixed import Written, consensus, mixture_of_agents, self_reflection, solo
from podium.protocols import Policy, Verifier, Worker
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
    Transcript,
    Usage,
    Verdict,
    Workflow,
    ask,
)
from podium.workers.pool import Member, WorkerPool
from podium.workers.scripted import Scripted
from podium.workers.vote import MajorityVote
from podium.workflow.draw import as_mermaid, as_svg, as_text
from podium.workflow.language import Language
from podium.workflow.parse import format_workflow, parse

__version__ = "0.1.0"

__all__ = [
    "Answered",
    "Brief",
    "Call",
    "Card",
    "ChatPolicy",
    "Completion",
    "Conductor",
    "Event",
    "Failure",
    "Generation",
    "Language",
    "MajorityVote",
    "Member",
    "Message",
    "PodiumError",
    "Policy",
    "Problem",
    "Sampling",
    "Scripted",
    "Step",
    "StepFinished",
    "StepStarted",
    "StepToken",
    "Transcript",
    "Usage",
    "Verdict",
    "Verifier",
    "Worker",
    "WorkerPool",
    "Workflow",
    "WorkflowWritten",
    "Written",
    "as_mermaid",
    "as_svg",
    "as_text",
    "ask",
    "consensus",
    "format_workflow",
    "mixture_of_agents",
    "parse",
    "self_reflection",
    "solo",
]
