"""The nouns: frozen records that cross a folder's border.

Units are in the names (``seconds``, ``cost_usd``). Worker and step numbers count from 0. Methods are sums and look-ups only.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from podium.conditions import ALWAYS, Skipped, read_condition
from podium.errors import Blame, NotNeeded, NotYet, PodiumError, WorkerUnavailable, error_named
from podium.parts import Attachment as Attachment
from podium.parts import CachePoint as CachePoint
from podium.parts import Effort as Effort
from podium.parts import ResponseOptions as ResponseOptions
from podium.parts import Sampling as Sampling
from podium.parts import Thoughts as Thoughts
from podium.parts import Tool as Tool
from podium.parts import ToolCall as ToolCall
from podium.parts import ToolUse as ToolUse

Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One turn of a conversation. Example: ``Message(role="user", content="What is 6 times 7?")``."""

    role: Role
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    """Of an assistant's turn."""
    tool_call_id: str = ""
    """Of a tool's turn: which call this is the result of."""
    attachments: tuple[Attachment, ...] = ()
    """Pictures and files, in order. Of a user's turn, or of what a tool returned."""
    cache_points: tuple[CachePoint, ...] = ()
    """Marks for a provider's cache. They say nothing about the answer."""
    thoughts: Thoughts | None = None


Question = tuple[Message, ...]
"""What the user asks: a whole conversation that ends with a user message."""


def ask(text: str) -> Question:
    """A question of one user message. Example: ``ask("What is 6 times 7?")``."""
    return (Message(role="user", content=text),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens and dollars. ``cost_usd`` None means the price is unknown, never 0; a sum with an unknown is unknown.

    Example: ``Usage(prompt_tokens=120, completion_tokens=30, cost_usd=0.00021)``.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = 0.0
    cached_tokens: int = 0
    """Of the prompt tokens, those that the provider read from its cache."""

    def __add__(self, other: Usage) -> Usage:
        usd = None if self.cost_usd is None or other.cost_usd is None else self.cost_usd + other.cost_usd
        prompt, completion = self.prompt_tokens + other.prompt_tokens, self.completion_tokens + other.completion_tokens
        cached = self.cached_tokens + other.cached_tokens
        return Usage(prompt_tokens=prompt, completion_tokens=completion, cost_usd=usd, cached_tokens=cached)

    @property
    def tokens(self) -> int:
        """Prompt and completion tokens together."""
        return self.prompt_tokens + self.completion_tokens

    @staticmethod
    def total(usages: Iterable[Usage]) -> Usage:
        """The sum; of nothing, ``Usage()``, which is free."""
        return sum(usages, start=Usage())


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """An error as data, so that it can stand in a transcript and cross processes.

    Example: ``Failure(kind="WorkerUnavailable", blame=Blame.WORLD, message="429 ...", where="step 1, worker mistral")``.
    """

    kind: str
    blame: Blame
    message: str
    where: str
    retry_after: float | None = None
    """Seconds after which the provider said it may work again."""

    @staticmethod
    def of(error: PodiumError, where: str) -> Failure:
        """The record of ``error``, raised at ``where``."""
        kind, later = type(error).__name__, getattr(error, "retry_after", None)
        return Failure(kind=kind, blame=error.blame, message=str(error), where=where, retry_after=later)

    def error(self) -> PodiumError:
        """The failure as an exception again, of the class it was recorded from."""
        message = f"{self.where}: {self.message}" if self.where else self.message
        error_class = error_named(self.kind)
        if issubclass(error_class, WorkerUnavailable):
            return error_class(message, self.retry_after)
        return error_class(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of a workflow.

    Example: ``Step(worker=2, subtask="Check the sum.", access=(0, 1))`` asks worker 2 and shows it steps 0 and 1.
    """

    worker: int
    """Position in the pool *as shown to the policy*."""
    subtask: str
    access: tuple[int, ...] = ()
    """Earlier steps whose (subtask, response) pairs this step sees, ascending."""
    last_answer: bool = False
    """From round 2 on: this step also sees the final answer of the round before."""
    condition: str = ALWAYS
    """When it is carried out (:mod:`podium.conditions`); a step that is not passes on a response that it saw."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workflow:
    """What is to be done: at least one step, each looking only at earlier ones.

    Example: ``Workflow(steps=(Step(worker=0, subtask="Plan."), Step(worker=1, subtask="Solve.", access=(0,))))``.
    "Keep the last answer" is not a workflow but None, legal from round 2 on.
    """

    steps: tuple[Step, ...]

    def __post_init__(self) -> None:
        if not self.steps:
            raise ValueError("a workflow has at least one step")
        for index, step in enumerate(self.steps):
            if any(not 0 <= seen < index for seen in step.access):
                raise ValueError(f"step {index} may only look at earlier steps, not {step.access}")
            if list(step.access) != sorted(set(step.access)):
                raise ValueError(f"the access of step {index} must ascend without repeats: {step.access}")
            if misfit := read_condition(step.condition).misfit(len(step.access)):
                raise ValueError(f"step {index}: {misfit}")

    @property
    def waves(self) -> tuple[tuple[int, ...], ...]:
        """Steps grouped by the longest path of access that leads to them; steps of one wave are independent.

        Example: two independent solvers and a judge that sees both give ``((0, 1), (2,))``.
        """
        depth: list[int] = []
        for step in self.steps:
            depth.append(1 + max((depth[seen] for seen in step.access), default=-1))
        return tuple(tuple(i for i, d in enumerate(depth) if d == wave) for wave in range(max(depth) + 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class VisibleStep:
    """An earlier step as a later one sees it.

    Example: ``VisibleStep(question=ask("6 times 7?"), subtask="Plan.", response="Multiply.")``.
    """

    question: Question = ()
    """What it was shown besides its subtask: the user's conversation for the first step, else ()."""
    subtask: str
    response: str


Amend = Callable[[Workflow, tuple[str, ...]], Workflow]
"""(a workflow, the names its numbers stand for) -> the workflow that is carried out."""
TokenListener = Callable[[str | None], None]
"""Receives a call's text as it arrives; None means "forget what you had, a new attempt begins"."""
ToolListener = Callable[[ToolUse], None]
"""Receives each tool call that a worker made by itself, when it has its result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """Everything a worker is given. What is not in here, it can not know.

    Example, a later step: ``Call(subtask="Solve.", visible=(VisibleStep(subtask="Plan.", response="Multiply."),))``.
    """

    question: Question = ()
    """The user's conversation: for the first step of a workflow and for a plain call; else ()."""
    subtask: str = ""
    """What is asked of this worker; empty for a plain call."""
    visible: tuple[VisibleStep, ...] = ()
    turns: tuple[Message, ...] = ()
    """What came after that: this worker's own tool calls and what the client's tools returned."""
    sampling: Sampling = Sampling()
    response_options: ResponseOptions = ResponseOptions()
    """What the answer must be besides its text; of a workflow's steps the last one has to see to it."""
    depth: int = 0
    """How many Conductors stand above this call."""
    sample: tuple[int, ...] = ()
    """Tells apart draws that are otherwise the same call (repeat, round, occurrence); part of the cache key."""
    on_token: TokenListener | None = field(default=None, compare=False, repr=False)
    """Where to stream the text; not part of the call's identity."""
    plan_before: str = ""
    """Of a conversation that goes on: the workflow of the user's turn before, for the policy."""
    amend: Amend | None = field(default=None, compare=False, repr=False)
    """Of a call to a Conductor: may change a workflow before it is carried out."""
    on_tool: ToolListener | None = field(default=None, compare=False, repr=False)
    """Who is told of the tools that the worker calls by itself, each when it has its result; not part of the identity either."""
    tools_in_every_step: bool = False
    """Of a call to a Conductor: whether every step that the answer needs may call the client's tools, or only the last."""
    paused: PausedWorkflow | None = field(default=None, compare=False, repr=False)
    """Of a call to a Conductor: the workflow that goes on, instead of a new one."""
    on_progress: ProgressListener | None = field(default=None, compare=False, repr=False)
    """Of a call to a Conductor that has ``paused``: what is told how far it has come, before anything else is asked."""

    @staticmethod
    def plain(question: str | Question, sampling: Sampling = Sampling()) -> Call:
        """The bare question, as a user would put it to one model. Example: ``Call.plain("6 times 7?")``."""
        return Call(question=ask(question) if isinstance(question, str) else question, sampling=sampling)


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A step whose worker asked for tools: it goes on when the same call is made again with what came of them as ``turns``.

    Example: ``Waiting(worker="mistral", call=Call(subtask="Solve.", visible=(VisibleStep(subtask="Plan.", response="..."),)))``.
    """

    worker: str
    call: Call
    workflow: PausedWorkflow | None = None
    """The workflow that it is the last step of, where every step may call tools; else the step is all that is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskingStep:
    """A step before the last whose worker asked for the client's tools.

    Example: ``AskingStep(index=0, call=Call(subtask="Look."), asks=Message(role="assistant", content="", tool_calls=calls))``.
    """

    index: int
    call: Call
    """As it was made, but for its listener; to go on with, with what came since as its turns."""
    asks: Message | None = None
    """Its newest turn, with the calls that the client has not run yet; None where it goes on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PausedWorkflow:
    """A workflow that can only go on when its client has run tools, and how far it has come.

    Example: ``PausedWorkflow(workflow=workflow, workers=("boss", "ember"), results=(None, None), asking=(step,))``.
    """

    workflow: Workflow
    workers: tuple[str, ...]
    """The names that its numbers stand for."""
    results: tuple[StepResult | None, ...]
    """A place for each step; None of those that are not over."""
    asking: tuple[AskingStep, ...]
    round: int = 1
    last_answer: str | None = None
    sample: tuple[int, ...] = ()
    one_tool_call: bool = False
    """Whether the client runs one call at a time; then one step asks, and the others wait for their turn."""

    @property
    def handed_out(self) -> tuple[AskingStep, ...]:
        """The steps whose calls the client is given now."""
        asking = tuple(step for step in self.asking if step.asks is not None)
        return asking[:1] if self.one_tool_call else asking


ProgressListener = Callable[[PausedWorkflow], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What a worker returned.

    Example: ``Completion(text="42", usage=Usage(prompt_tokens=9, completion_tokens=1, cost_usd=1e-6), seconds=0.4)``.
    """

    text: str
    finish_reason: str = "stop"
    """As OpenAI names it: ``stop``, ``length``, ``content_filter``, ``tool_calls``."""
    usage: Usage = Usage()
    seconds: float = 0.0
    """Time the worker took for it, waiting for limits and retries not included."""
    price_source: str = ""
    """Where the price behind ``usage.cost_usd`` comes from, e.g. ``pool file`` or ``genai-prices 0.2.3``."""
    tool_calls: tuple[ToolCall, ...] = ()
    """What the worker wants run before it goes on; the text may be empty then."""
    check_passed: bool | None = None
    """Of a worker that checks what it sees, or runs it: whether that held; None where it checked nothing."""
    waiting: Waiting | None = None
    """Of a Conductor, where there are ``tool_calls``: the last step, where that made them, and so is the one that goes on."""
    paused: PausedWorkflow | None = None
    """Of a Conductor, where there are ``tool_calls`` of steps before the last: those of its ``handed_out``, in order."""
    transcripts: tuple[Transcript, ...] = ()
    """One per round where the worker was itself a Conductor: a tree, not a log."""
    tool_uses: tuple[ToolUse, ...] = ()
    """The tools that the worker called by itself, in order; those that it asks the client for are ``tool_calls``."""
    thoughts: Thoughts | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What the policy is told of a worker; its position in the brief is its id.

    Example: ``Card(name="calc", about="exact arithmetic", skills=(("arithmetic", 0.99),), prompt_usd=1e-6)``.
    """

    name: str
    about: str = ""
    skills: tuple[tuple[str, float], ...] = ()
    """Measured success rates in 0..1 by skill or task kind."""
    prompt_usd: float | None = None
    """Dollars per prompt token; None = unknown."""
    completion_usd: float | None = None
    """Dollars per completion token; None = unknown."""
    cached_usd: float | None = None
    """Dollars per prompt token that the provider reads from its cache; None = unknown, then it is worth ``prompt_usd``."""
    context_tokens: int | None = None
    """Tokens that the worker can read in one call; None = unknown."""
    sees: bool = False
    """Whether it can be shown pictures and files."""
    abilities: tuple[str, ...] = ()
    """What the worker does besides writing text, each in a few words: "runs the Python program it is shown"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """What a policy sees before it writes.

    Example: ``Brief(question=ask("6 times 7?"), cards=(Card(name="a"), Card(name="b")), max_steps=5)``.
    """

    question: Question
    cards: tuple[Card, ...]
    max_steps: int = 5
    budget_usd: float | None = None
    """Dollars left for this question; None = not limited."""
    previous_rounds: tuple[Transcript, ...] = ()
    """Finished rounds of this question, oldest first; empty in round 1."""
    plan_before: str = ""
    """The workflow of the user's turn before, where the conversation goes on."""
    tools: tuple[Tool, ...] = ()
    """The client's, where every step may call them."""
    sample: tuple[int, ...] = ()
    on_token: TokenListener | None = field(default=None, compare=False, repr=False)
    """Where to stream what is written, of one generation; not part of the brief's identity."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """What a policy wrote, and what writing it cost.

    Example: ``Generation(text="One worker will do. ...", usage=Usage(prompt_tokens=800, completion_tokens=60, cost_usd=None))``.
    """

    text: str
    token_ids: tuple[int, ...] = ()
    """(T,) Completion tokens; empty for policies behind an API."""
    logprobs: tuple[float, ...] = ()
    """(T,) Natural-log probability of each completion token under the policy that wrote it."""
    policy_version: str = ""
    finish_reason: str = "stop"
    usage: Usage = Usage()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StepResult:
    """How one step went: exactly one of ``completion`` and ``failure`` is set.

    Example: ``StepResult(step=step, worker="calc", completion=done, start_seconds=0.0, seconds=1.2)``.
    """

    step: Step
    worker: str
    completion: Completion | None = None
    failure: Failure | None = None
    start_seconds: float = 0.0
    """When it started, counted from the start of its workflow."""
    seconds: float = 0.0
    """Wall time from start to result, limits and retries included."""
    failed_rounds: tuple[Transcript, ...] = ()
    """Rounds of Conductors below this step that ended without an answer, so that they are in no completion."""
    skipped: Skipped | None = None
    """Set where nobody was asked: ``completion`` is then a response that the step saw, and is free."""
    kept: bool = False
    """Whether it is what an earlier request brought, and paid for, of a workflow that goes on."""

    @property
    def usage(self) -> Usage | None:
        """What is known to have been used, failed rounds included; None where nothing is known: unknown, not nothing."""
        known = [done.usage for done in (self.completion, *self.failed_rounds) if done is not None]
        return Usage.total(known) if known else None

    @property
    def was_needed(self) -> bool:
        """False where this one was stopped, or not started: nobody could use it, any more or yet. No fault of its worker's."""
        return self.failure is None or self.failure.kind not in (NotNeeded.__name__, NotYet.__name__)

    @property
    def was_asked(self) -> bool:
        """Whether somebody was asked for it, now, and needed to be."""
        return self.skipped is None and self.was_needed and not self.kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """One round, whole: enough to re-read, re-draw and re-verify it. One JSON line (``podium.jsonl``).

    ``workflow`` None means the policy kept the answer of the round before. Exactly one of ``answer`` and ``failure`` is
    set. Example: a two-step run has two ``results`` in step order, whatever order they finished in.
    """

    question: Question
    generation: Generation
    workflow: Workflow | None
    results: tuple[StepResult, ...] = ()
    answer: str | None = None
    failure: Failure | None = None
    seconds: float = 0.0

    @property
    def usage(self) -> Usage:
        """What this round is known to have used: the workers' completions, the rounds of Conductors below, and the writing."""
        return Usage.total([self.generation.usage, *(result.usage for result in self.results if result.usage is not None)])

    @property
    def asked(self) -> tuple[StepResult, ...]:
        """The steps that somebody was asked for: neither skipped, nor left out because nobody needed them any more, nor kept."""
        return tuple(each for each in self.results if each.was_asked)

    @property
    def critical_seconds(self) -> float:
        """What this round takes at least: the policy's time and the slowest chain of steps that wait for each other.

        Made of what workers report, so limits and retries are not in it, and a replayed or simulated run has the time it
        stands for.
        """
        done: list[float] = []
        for result in self.results:
            own = result.seconds if result.completion is None else result.completion.seconds
            last = len(done) if result.skipped is None else result.skipped.because[-1]
            done.append(own + max((done[seen] for seen in result.step.access if seen <= last), default=0.0))
        return self.generation.seconds + max(done, default=0.0)


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A question with a checkable answer.

    Example: ``Problem(question="6 times 7?", target="42", kind="story", source="gym", split="train")``.
    """

    question: str
    target: str
    """What the verifier of this kind compares with; never shown to a worker or a policy."""
    kind: str
    source: str
    split: str = ""

    @cached_property
    def id(self) -> str:
        """Content hash of kind, question and target: 16 hex digits, stable over machines and versions."""
        content = "\x1f".join((self.kind, self.question, self.target))
        return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A judgement and what it was passed on.

    Example: ``Verdict(correct=False, extracted="41", why="41 is not 42")``; ``extracted`` None means no answer was found.
    """

    correct: bool
    extracted: str | None
    why: str = ""
