"""Plans that a chat model of the pool proposes, from a few training questions of each kind: candidates like any other.

They are written in the workflow language and read by its parser, and their wordings become roles. What is no workflow, repeats
a question, or is too long is dropped and counted. Those left are raced like other teams, on problems that were not chosen.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from podium.errors import Blame, BudgetExceeded, PodiumError
from podium.policies.chat import ChatPolicy
from podium.policies.tuned_record import LONGEST
from podium.tuning.candidates import Candidate, Part
from podium.tuning.catalogue import SOLVE
from podium.tuning.search import Search
from podium.tuning.split import is_text
from podium.types import Brief, Workflow, ask
from podium.workflow.parse import parse
from podium.workflow.syntax import WorkflowSyntax

SYNTAX = WorkflowSyntax(cards=True)
EACH = 2
"""Proposals of a kind."""
KINDS = 8
"""Kinds that plans are proposed for, at most."""
SHOWN, LONGEST_SHOWN = 4, 800
"""Questions of a kind that are shown, and the characters of each that are."""
LONGEST_SUBTASK = 1_000
REPEATED = 40
"""So many characters of a question in a row make a wording one that is for this question only."""

ASK = """\
Below are tasks of one kind. Others of this kind will be asked, one at a time. Write one workflow that fits all of them: word \
every subtask generally and repeat nothing of the tasks below. They are examples; do not answer them.

{tasks}"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposals:
    """What came of asking for plans."""

    by: str
    """The worker that proposed."""
    asked: int
    tried: int
    """Proposals that became candidates."""
    dropped: int
    """Replies without a plan that can be used."""
    failed: int
    """Requests that got no reply."""


async def with_proposals(search: Search, proposers: Sequence[str], left: Callable[[], float]) -> Proposals | None:
    """Ask the one of ``proposers`` that is right most often alone, and race what it proposes, as long as calls are ``left()``.

    None where none of them can be asked. Raises what is the user's to mend, but for a budget that ends.
    """
    bench, names = search.bench, search.bench.workers.names
    able = [name for name in proposers if names.index(name) in search.workers]
    if not able:
        return None
    best = max(able, key=lambda name: (_right_alone(search, names.index(name)), -names.index(name)))
    policy = ChatPolicy(bench.workers.named(best).worker, syntax=SYNTAX)
    asked = tried = dropped = failed = 0
    for kind, problems in list(search.by_kind.items())[:KINDS]:
        shown = [problem.question for problem in problems[:SHOWN]]
        teams: dict[Candidate, None] = {}
        for number in range(EACH):
            if left() <= 0 or bench.is_exhausted:
                break
            asked += 1
            brief = _brief(shown, search, number)
            try:
                [generation] = await policy.write(brief)
                proposed = parse(generation.text, brief, SYNTAX)
            except BudgetExceeded:
                bench.is_exhausted = True
                break
            except PodiumError as error:
                if error.blame is Blame.USER:
                    raise
                dropped, failed = dropped + (error.blame is Blame.POLICY), failed + (error.blame is Blame.WORLD)
                continue
            if proposed is None or not _is_general(proposed, shown):
                dropped += 1
                continue
            tried += 1
            teams[_as_candidate(proposed, search, f"proposed {tried}")] = None
        if teams and not bench.is_exhausted:
            await search.race(kind, list(teams), left())
    return Proposals(by=best, asked=asked, tried=tried, dropped=dropped, failed=failed)


def _right_alone(search: Search, worker: int) -> float:
    solos = [trial for trial in search.trials if [(part.role, part.worker) for part in trial.candidate] == [(SOLVE, worker)]]
    return (sum(trial.outcome.right for trial in solos) + 0.5) / (len(solos) + 1)


def _brief(shown: Sequence[str], search: Search, number: int) -> Brief:
    tasks = "\n\n".join(f"TASK {n}\n{text[:LONGEST_SHOWN]}" for n, text in enumerate(shown, 1))
    cards = search.bench.workers.cards
    return Brief(question=ask(ASK.format(tasks=tasks)), cards=cards, max_steps=LONGEST, sample=(number,))


def _is_general(proposed: Workflow, shown: Sequence[str]) -> bool:
    return all(_is_wording(step.subtask) and not any(_repeats(step.subtask, text) for text in shown) for step in proposed.steps)


def _is_wording(text: str) -> bool:
    return is_text(text) and len(text) <= LONGEST_SUBTASK


def _repeats(text: str, question: str) -> bool:
    size = min(REPEATED, len(question))
    return any(question[start : start + size] in text for start in range(len(question) - size + 1))


def _as_candidate(proposed: Workflow, search: Search, name: str) -> Candidate:
    """``proposed`` with a role of its own for every step, which the catalogue has from now on."""
    catalogue = search.bench.catalogue
    roles = {f"{name}.{number}": step.subtask for number, step in enumerate(proposed.steps, 1)}
    last = f"{name}.{len(proposed.steps)}"
    search.bench.catalogue = replace(catalogue, roles={**catalogue.roles, **roles}, answering=catalogue.answering | {last})
    return tuple(
        Part(role=role, worker=step.worker, access=step.access) for role, step in zip(roles, proposed.steps, strict=True)
    )
