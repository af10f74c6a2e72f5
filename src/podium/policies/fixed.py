"""Hand-written baselines as policies: each writes its workflow in the same language, through the same parser, executor,
meter and table as a trained policy, so that a comparison can hardly be unfair by accident.

Workers are numbers: positions in the pool. Steps after the first do not see the question unless they may see the first
step, so independent steps carry the question in their subtask.
"""

import random
from collections.abc import Callable, Mapping, Sequence

from podium.errors import ConfigError
from podium.policies.named import NamedPolicy, PolicyRequest, PolicySetup
from podium.policies.voting import with_vote
from podium.registry import register
from podium.types import Brief, Generation, Question, Step, Workflow
from podium.workflow.parse import format_workflow
from podium.workflow.syntax import WorkflowSyntax

_ANSWER = "Answer the question. Show your work, then give the final answer."


class FixedPolicy:
    """Always writes the same text: the scripted double of a policy. Example: ``FixedPolicy(Workflow(steps=...))``."""

    def __init__(self, text: str | Workflow, syntax: WorkflowSyntax = WorkflowSyntax()) -> None:
        self._text = text if isinstance(text, str) else format_workflow(text, syntax)

    async def write(self, brief: Brief, n: int = 1) -> list[Generation]:
        """Write it ``n`` times."""
        return [Generation(text=self._text)] * n


class FunctionPolicy:
    """Writes ``workflow(brief)``; the baselines below are such functions. It keeps the first round's answer."""

    def __init__(self, workflow: Callable[[Brief], Workflow], syntax: WorkflowSyntax = WorkflowSyntax()) -> None:
        self.workflow = workflow
        self.syntax = syntax

    async def write(self, brief: Brief, n: int = 1) -> list[Generation]:
        """Write it ``n`` times; empty lists from round 2 on."""
        workflow = None if brief.previous_rounds else self.workflow(brief)
        return [Generation(text=format_workflow(workflow, self.syntax))] * n


def solo(worker: int) -> FunctionPolicy:
    """One step: worker ``worker`` answers."""
    return FunctionPolicy(lambda brief: alone(worker))


def alone(worker: int) -> Workflow:
    """The workflow of one step in which ``worker`` answers."""
    return Workflow(steps=(Step(worker=worker, subtask=_ANSWER),))


def self_reflection(worker: int, calls: int = 5) -> FunctionPolicy:
    """A chain (paper section 4.1, "5x self-reflection"): the worker answers, then checks and improves all it has said."""
    again = "Check the answer so far for mistakes, correct it where it is wrong, and give the final answer."

    def workflow(brief: Brief) -> Workflow:
        steps = [Step(worker=worker, subtask=_ANSWER)]
        steps += [Step(worker=worker, subtask=again, access=tuple(range(index))) for index in range(1, calls)]
        return Workflow(steps=tuple(steps))

    return FunctionPolicy(workflow)


def consensus(worker: int, judge: int, samples: int = 5) -> FunctionPolicy:
    """A fan-in (paper section 4.1, "5x consensus"): ``samples`` independent answers of one worker; ``judge`` takes the most
    common one. Best with a :class:`podium.workers.vote.MajorityVote` as judge, which costs nothing and counts right.
    """
    return FunctionPolicy(lambda brief: _layer(brief, [worker] * samples, judge, "Give the answer that most of them agree on."))


def mixture_of_agents(aggregator: int, layer: Sequence[int] | None = None) -> FunctionPolicy:
    """Two layers (Wang et al. 2024, arXiv 2406.04692, with one layer of proposers as in the paper's baseline): the workers
    of ``layer`` (None: all) answer, ``aggregator`` makes one answer of theirs; with a vote as aggregator, a majority.
    """
    merge = "Check these answers against each other, correct what is wrong in them, and give the final answer."
    return FunctionPolicy(
        lambda brief: _layer(brief, list(range(len(brief.cards)) if layer is None else layer), aggregator, merge)
    )


def by_kind(kind_of: Callable[[str], str], workflows: Mapping[str, Workflow]) -> FunctionPolicy:
    """The workflow of the question's kind, e.g. the known best ones of the gym.

    Raises :class:`ConfigError` for a question whose kind has none.
    """

    def workflow(brief: Brief) -> Workflow:
        kind = kind_of(brief.question[-1].content)
        if kind not in workflows:
            raise ConfigError(f"no workflow is known for questions of kind {kind!r}")
        return workflows[kind]

    return FunctionPolicy(workflow)


def at_random() -> FunctionPolicy:
    """One to five steps, each with any worker, who sees everything before it or nothing: what needs no knowledge at all.

    The same question always gets the same workflow; ``max_steps`` of the brief is kept.
    """

    def workflow(brief: Brief) -> Workflow:
        rng = random.Random(f"0 {_as_text(brief.question)} {brief.sample}")
        length = rng.randint(1, min(5, brief.max_steps))
        return Workflow(
            steps=tuple(
                Step(
                    worker=rng.randrange(len(brief.cards)),
                    subtask=_ANSWER if index == 0 else f"{_as_text(brief.question)}\n\n{_ANSWER}",
                    access=tuple(range(index)) if rng.random() < 0.5 else (),
                )
                for index in range(length)
            )
        )

    return FunctionPolicy(workflow)


def independent(brief: Brief, workers: Sequence[int]) -> list[Step]:
    """A step for each of ``workers``, none of which sees another; all but the first have the question in their subtask."""
    return [
        Step(worker=worker, subtask=_ANSWER if index == 0 else f"{_as_text(brief.question)}\n\n{_ANSWER}")
        for index, worker in enumerate(workers)
    ]


def _layer(brief: Brief, workers: Sequence[int], last: int, subtask: str) -> Workflow:
    steps = independent(brief, workers)
    return Workflow(steps=(*steps, Step(worker=last, subtask=subtask, access=tuple(range(len(steps))))))


def _as_text(question: Question) -> str:
    if len(question) == 1:
        return question[0].content
    return "\n\n".join(f"{message.role}: {message.content}" for message in question)


def _solo(asked: PolicyRequest) -> PolicySetup:
    last = asked.worker()
    return PolicySetup(policy=solo(last), workers=asked.workers, max_steps=asked.steps, answering=(last,))


def _reflection(asked: PolicyRequest) -> PolicySetup:
    last = asked.worker()
    return PolicySetup(policy=self_reflection(last), workers=asked.workers, max_steps=5, answering=(last,))


def _consensus(asked: PolicyRequest) -> PolicySetup:
    judge = len(asked.workers)
    policy = consensus(asked.worker(), judge=judge)
    return PolicySetup(policy=policy, workers=with_vote(asked.workers), max_steps=6, answering=(judge,))


def _mixture(asked: PolicyRequest) -> PolicySetup:
    last = asked.worker(default=asked.workers.names[0])
    return PolicySetup(policy=mixture_of_agents(last), workers=asked.workers, max_steps=len(asked.workers) + 1, answering=(last,))


for _name, _named in {
    "solo": NamedPolicy(form="solo:NAME", about="worker NAME answers, one step", make=_solo),
    "reflection": NamedPolicy(
        form="reflection:NAME", about="worker NAME answers and checks itself, five steps in a chain", make=_reflection
    ),
    "consensus": NamedPolicy(
        form="consensus:NAME", about="five independent answers of worker NAME, the most common one wins", make=_consensus
    ),
    "mixture": NamedPolicy(
        form="mixture[:NAME]", about="every worker answers, NAME makes one answer of them (default: the first)", make=_mixture
    ),
    "random": NamedPolicy(
        form="random",
        about="any number of steps, any workers: what needs no knowledge at all",
        make=lambda asked: PolicySetup(policy=at_random(), workers=asked.workers, max_steps=asked.steps),
        is_baseline=True,
    ),
}.items():
    register("policies", _name)(_named)
