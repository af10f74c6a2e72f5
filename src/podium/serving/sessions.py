"""What a session is called, who acts in it, and what it may cost.

A session is told by the client, in this order: ``X-Podium-Session``, ``prompt_cache_key`` (or the session in Anthropic's
``metadata.user_id``), the headers of agents (Codex, opencode, Claude Code), else by the history of the conversation
(:mod:`podium.serving.histories`). It belongs to its key: another key's session of the same name is another one.

Several conversations may go on in one session (an agent and those it sends out); where each stands is kept beside the others, by
its first turn of the user.
"""

import hashlib
import json
import re
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from podium.conditions import ALWAYS
from podium.errors import BudgetExceeded, ConfigError
from podium.jsonl import dumps, loads
from podium.serving.conversation import ParsedRequest
from podium.serving.figures import prompt_size
from podium.serving.paused_step import last_said
from podium.serving.staying import Acting, TurnState, acting, after, is_abler
from podium.types import Card, Completion, Step, Transcript, Usage, Workflow
from podium.workers.budget import Budget
from podium.workers.seeing import needs_eyes

SESSION_HEADER = "x-podium-session"
AGENTS_HEADERS = (
    "x-opencode-session",
    "session_id",
    "session-id",
    "x-session-id",
    "x-session-affinity",
    "x-claude-code-session-id",
)
_HEADERS = frozenset({SESSION_HEADER, *AGENTS_HEADERS})
MOST_CONVERSATIONS = 16
"""Of one session whose state is kept."""
_LONGEST_PLAN = 4_000
_ID_DIGITS = 24
_CHECK_DIGITS = 16
_SESSION_ID = re.compile(rf"ses_([0-9a-f]{{{_ID_DIGITS}}})[0-9a-f]{{{_CHECK_DIGITS}}}")
_CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionState:
    """Where the conversations of a session stand, the latest last, by the hash of their first turn."""

    conversations: dict[str, TurnState] = field(default_factory=dict)


@dataclass(slots=True, eq=False, kw_only=True)
class Session:
    """A session, while a request of it is worked on."""

    id: str
    """As it is kept, and as a client is told."""
    keeps_words: bool
    """Whether what workers and users wrote may be kept: a plan holds some of it."""
    beginning: str
    state: SessionState
    turn: TurnState
    """Of this conversation, before the request."""
    said: str
    asked: str
    """Which model, policy and workers the client chooses."""
    spent_usd: float | None
    """Before the request; None where a price was unknown."""
    budget: Budget
    """What its calls may cost; without a cap it only counts."""
    limit_usd: float | None
    acting: Acting | None = None
    is_tool_round: bool = False
    """Whether results of tools go back to the step that asked for them."""
    plan: str = ""
    is_return: bool = False
    is_new: bool = False
    """Whether it begins with this request, so that nothing is kept of it yet."""
    is_named: bool = True
    """Whether the client says which one it is; else that is told by the history."""

    @property
    def plan_before(self) -> str:
        """The plan of the user's turn before, where this is another one."""
        return self.turn.plan if self.is_new_turn else ""

    @property
    def is_new_turn(self) -> bool:
        """Whether the user has said something since."""
        return not self.is_tool_round and self.turn.said != self.said

    @property
    def costs_usd(self) -> float | None:
        """What this request has cost, and may have, calls under way included; None where a price is unknown."""
        spent = self.budget.spent.cost_usd
        return None if spent is None else spent + self.budget.uncertain_usd + self.budget.reserved_usd

    def amended(self, workflow: Workflow, names: Sequence[str], cards: Mapping[str, Card], parsed: ParsedRequest) -> Workflow:
        """``workflow`` with the worker that acts: the one it names for its last step, or the one that acted before."""
        self.plan = _in_words(workflow)
        last = workflow.steps[-1]
        name = names[last.worker]
        if (proposed := cards.get(name)) is None:  # a Conductor may have workers that the server does not list
            self.acting = Acting(worker=name, proposed=name, why="as the workflow says: nothing is known of this worker's price")
            return workflow
        if self.turn.worker and self.turn.asked != self.asked:
            why = "switches: the client chose another model, policy or workers"
            self.acting = Acting(worker=proposed.name, proposed=proposed.name, why=why)
            return workflow
        before = cards.get(self.turn.worker)
        usable = {name: card for name, card in cards.items() if name in names}
        size = prompt_size(parsed.call) // _CHARACTERS_PER_TOKEN
        if needs_eyes(parsed.call):
            usable = {name: card for name, card in usable.items() if card.sees or not proposed.sees}
        usable = {
            name: card for name, card in usable.items() if name == proposed.name or size < (card.context_tokens or size + 1)
        }
        self.is_return = before is not None and is_abler(proposed, before)
        self.acting = acting(self.turn, proposed, usable, size, time.time())
        if self.acting.worker == proposed.name:
            return workflow
        steps: tuple[Step, ...] = (*workflow.steps[:-1], replace(last, worker=list(names).index(self.acting.worker)))
        return replace(workflow, steps=steps)

    def goes_on(self, worker: str) -> None:
        """The results of tools go to the worker that asked for them."""
        self.is_tool_round = True
        self.acting = Acting(worker=worker, proposed=worker, why="stays: a tool round goes on where it was")

    def after(self, completion: Completion) -> str | None:
        """What to keep of the session once it was answered; None where nobody is known to have acted."""
        worker, usage = _acted(completion.transcripts)
        if completion.paused is not None:  # who acts has not been asked yet
            turn = replace(
                self.turn,
                said=self.turn.said if self.is_tool_round else self.said,
                number=self.turn.number + self.is_new_turn,
                plan=self.turn.plan if self.is_tool_round else self.plan if self.keeps_words else "",
                asked=self.asked,
                worker="" if self.acting is None else self.acting.worker,
            )
            return self._kept(turn)
        if not worker:
            return None
        turn = after(
            self.turn,
            said=self.turn.said if self.is_tool_round else self.said,
            plan=self.plan if self.keeps_words else "",
            asked=self.asked,
            worker=worker,
            prompt_tokens=usage.prompt_tokens,
            answer_tokens=usage.completion_tokens,
            now=time.time(),
            is_return=self.is_return,
        )
        return self._kept(turn)

    def _kept(self, turn: TurnState) -> str:
        others = {name: state for name, state in self.state.conversations.items() if name != self.beginning}
        kept = dict(list({**others, self.beginning: turn}.items())[-MOST_CONVERSATIONS:])
        return dumps(SessionState(conversations=kept))

    def object(self) -> dict[str, object]:
        """What a client is told, as ``session`` in ``podium``."""
        told: dict[str, object] = {
            "id": self.id,
            "turn": self.turn.number + self.is_new_turn,
            "cost_usd": None if self.spent_usd is None or self.costs_usd is None else self.spent_usd + self.costs_usd,
            "limit_usd": self.limit_usd,
        }
        if self.acting is not None:
            told |= {
                "worker": self.acting.worker,
                "proposed": self.acting.proposed,
                "why": self.acting.why,
                "saves_usd": self.acting.saves_usd,
            }
        return told


def session_name(parsed: ParsedRequest, headers: Mapping[str, str]) -> str:
    """What the client calls its session; "" where it does not say."""
    given: dict[str, str] = {}
    for name, value in headers.items():  # once, because to look a header up is to go through all of them
        if name in _HEADERS:
            given.setdefault(name, value)
    named = [given.get(SESSION_HEADER), parsed.session, *(given.get(name) for name in AGENTS_HEADERS)]
    return next((name for name in named if name), "")


def session_id(key: str, name: str) -> str:
    """The id of the session that ``key`` calls ``name``: by its id, as an answer told it, or by a word of its own."""
    made = _SESSION_ID.fullmatch(name)
    if made is not None and name == _with_check(key, made[1]):
        return name
    return _with_check(key, hashlib.sha256(json.dumps([key, name]).encode("ascii")).hexdigest()[:_ID_DIGITS])


def new_session_id(key: str) -> str:
    """The id of a session that the client does not name."""
    return _with_check(key, secrets.token_hex(_ID_DIGITS // 2))


def _with_check(key: str, digits: str) -> str:
    """An id of a session of ``key``'s: another key that sends it does not name that session, but one of its own."""
    return f"ses_{digits}{hashlib.sha256(json.dumps([key, digits]).encode('ascii')).hexdigest()[:_CHECK_DIGITS]}"


def beginning_of(parsed: ParsedRequest) -> str:
    """A hash of the first thing that the user said. System prompts are left out: some clients put the time into theirs."""
    first = next((index for index, turn in enumerate(parsed.call.question) if turn.role == "user"), 0)
    return last_said(parsed.call.question[: first + 1])


def opened(
    parsed: ParsedRequest,
    session: str,
    *,
    keeps_words: bool,
    kept: str,
    spent_usd: float | None,
    limit_usd: float | None,
) -> Session:
    """The session whose id is ``session``, as ``kept`` and ``spent_usd`` say that it stands.

    Raises :class:`BudgetExceeded` where its limit is reached, :class:`ConfigError` where that can not be told.
    """
    state = SessionState()
    if kept:
        try:
            state = loads(SessionState, kept)
        except ConfigError:  # kept by another version of Podium: the session goes on without what that knew
            state = SessionState()
    beginning = beginning_of(parsed)
    left = None
    if limit_usd is not None and spent_usd is None:
        raise ConfigError("what this session has cost is unknown, so its limit can not be kept: begin another session")
    if limit_usd is not None and spent_usd is not None:
        left = limit_usd - spent_usd
        if left <= 0:
            raise session_exceeded(limit_usd, spent_usd)
    return Session(
        id=session,
        keeps_words=keeps_words,
        beginning=beginning,
        state=state,
        turn=state.conversations.get(beginning, TurnState()),
        said=_said(parsed),
        asked=_asked(parsed),
        spent_usd=spent_usd,
        budget=Budget(left, name="session"),
        limit_usd=limit_usd,
    )


def session_exceeded(limit_usd: float, spent_usd: float) -> BudgetExceeded:
    """What a client is told whose session has reached its limit."""
    return BudgetExceeded(
        f"this session may cost ${limit_usd:g}; ${spent_usd:.6g} of it are spent or set aside for calls under way: begin another "
        "session, or raise session_usd"
    )


def _acted(transcripts: Sequence[Transcript]) -> tuple[str, Usage]:
    """Who gave the answer, or asked for tools, and what that call read and wrote."""
    for transcript in reversed(transcripts):
        for result in reversed(transcript.results):
            while result.skipped is not None:
                result = transcript.results[result.skipped.passes_on]
            if result.completion is not None and result.was_asked:
                return result.worker, result.completion.usage
    return "", Usage()


def _said(parsed: ParsedRequest) -> str:
    """What the user said last, and after how many turns: "go on" twice is two turns."""
    turns = sum(turn.role == "user" for turn in parsed.call.question)
    return f"{turns} {last_said(parsed.call.question)}"


def _asked(parsed: ParsedRequest) -> str:
    """What the client chose, so that a choice of its own is never overruled by what was chosen before."""
    options = parsed.options
    chosen = [parsed.model, options.policy, sorted(options.workers or ()), sorted(options.exclude_workers)]
    return hashlib.sha256(json.dumps(chosen).encode("ascii")).hexdigest()[:16]


def _in_words(workflow: Workflow) -> str:
    lines = [
        f"step {index}: model {step.worker}, sees {', '.join(map(str, step.access)) or 'no step'}"
        f"{'' if step.condition == ALWAYS else f' ({step.condition})'}: {step.subtask}"
        for index, step in enumerate(workflow.steps)
    ]
    text = "\n".join(lines)
    return text if len(text) <= _LONGEST_PLAN else f"{text[:_LONGEST_PLAN]} (cut here)"
