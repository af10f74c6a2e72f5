"""Second rounds are taught by what became of the first: keep what was right, plan anew where it was wrong.

The verdict on a first round is known before the second one is written, so nothing has to be found out by trying. Four things
make it something that carries over to questions nobody trained on (docs/log.md, "Second rounds in this world"):

- First rounds are written by the policy as it was when the run began, and the policy is held to write them as that one would.
  Both rounds are read by the same weights; without it the first one is unlearned while the second is learned.
- They are wrong because a question was misread, as they are later: words of another question stand in it
  (:func:`podium.training.word_dropout.mix_words`). So the question does not tell whether it was read well, and the answer does.
- The first line decides: it keeps an answer, or says how the question is read now. It is few tokens of many, so of most texts
  it is imitated alone.
- A new plan is what the policy writes in a first round for the whole question, and is not the plan that failed.

(Holding in place by distilling what one was: Li and Hoiem 2016, arXiv 1606.09282, "Learning without Forgetting".)
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from podium.errors import WorkflowError
from podium.training.collect import Writer
from podium.training.exploration import first_line
from podium.training.rollout import RolloutGroup
from podium.training.warm_start import KEPT
from podium.types import Brief, Generation, Transcript, ask
from podium.workflow.parse import format_workflow, parse
from podium.workflow.syntax import WorkflowSyntax

_EACH, _KEPT_TO_EACH = 24, 2
"""New plans per iteration, and kept answers to each of them, both at most."""
_WHOLE = 4
"""One in so many texts is imitated whole."""
_Any = TypeVar("_Any")


@dataclass(frozen=True, slots=True)
class AsItBegan:
    """First rounds are written by ``start``, all others by ``now``. Example: ``AsItBegan(start, engine)``."""

    start: Writer
    now: Writer

    def write_many(self, briefs: Sequence[Brief], n: int, forced_prefixes: Sequence[str] = ()) -> list[list[Generation]]:
        """``n`` workflows for each brief; all briefs are of the same round."""
        writer = self.now if any(brief.previous_rounds for brief in briefs) else self.start
        return writer.write_many(briefs, n, forced_prefixes)

    def prompt_ids(self, brief: Brief, forced_prefix: str = "") -> Sequence[int]:
        """The tokens a completion is conditioned on."""
        return self.now.prompt_ids(brief, forced_prefix)


def first_rounds(groups: Sequence[RolloutGroup]) -> list[tuple[Brief, str]]:
    """The first rounds of ``groups``, right or wrong, in which the policy is to be held; of most the first line alone."""
    return _shortened([(group.brief, rollout.turns[0].generation.text) for group in groups for rollout in group.rollouts])


def hindsight(groups: Sequence[RolloutGroup], start: Writer, syntax: WorkflowSyntax) -> list[tuple[Brief, str]]:
    """Second briefs with what the first round's verdict calls for: the text that keeps a right answer, and for a wrong one what
    ``start`` writes in a first round when it sees all of the question, where that begins otherwise.

    At most twice as many of the one as of the other: where a policy can hardly tell the two apart, a right answer that is planned
    anew is lost more surely than a wrong one is mended.
    """
    right: list[Brief] = []
    wrong: list[tuple[Brief, Brief, Transcript]] = []
    for group in groups:
        for first in (rollout.turns[0] for rollout in group.rollouts):
            if first.verdict is not None:
                brief = replace(group.brief, previous_rounds=(first.transcript,))
                if first.verdict.correct:
                    right.append(brief)
                else:
                    wrong.append((brief, replace(group.brief, question=ask(group.problem.question)), first.transcript))
    written = start.write_many([whole for _, whole, _ in wrong], 1) if wrong else []
    anew = [
        (brief, row[0].text)
        for (brief, whole, tried), row in zip(wrong, written, strict=True)
        if _is_another(row[0].text, whole, tried, syntax)
    ]
    each = min(len(right), len(anew), _EACH)
    keep = f"{KEPT}\n{format_workflow(None, syntax, round_number=2)}"
    kept = _spread(right, min(len(right), _KEPT_TO_EACH * each))
    return [(brief, keep) for brief in kept] + _shortened(_spread(anew, each))


def _is_another(text: str, brief: Brief, tried: Transcript, syntax: WorkflowSyntax) -> bool:
    """Whether ``text`` is a workflow that begins otherwise than the one ``tried``: workers asked alike err alike."""
    try:
        workflow = parse(text, brief, syntax)
    except WorkflowError:
        return False
    return workflow is not None and first_line(text) != first_line(tried.generation.text)


def _shortened(texts: Sequence[tuple[Brief, str]]) -> list[tuple[Brief, str]]:
    """Of all but every fourth text the first line alone."""
    return [(brief, text if index % _WHOLE == 0 else first_line(text) or text) for index, (brief, text) in enumerate(texts)]


def _spread(items: Sequence[_Any], n: int) -> list[_Any]:
    """``n`` of them, evenly over all groups."""
    return [items[index * len(items) // n] for index in range(n)]
