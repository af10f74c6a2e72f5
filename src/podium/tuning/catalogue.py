"""What workflows are put together of: roles with their wordings, and the plans that a search begins with.

A role is a part of the work with one fixed wording. The general catalogue is for any pool and any question; a catalogue of
one's own takes its place where one knows better what the work falls into.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from podium.errors import ConfigError

Plan = tuple[tuple[str, tuple[int, ...]], ...]
"""Roles and what each sees."""
SOLVE = "solve"
"""The role of a worker that does everything alone."""
_LONGEST_SUBJECT = 80
"""Characters; longer ones are instructions and no subject."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """Roles and plans. Example: ``replace(GENERAL, name="ours", roles={**GENERAL.roles, "quote": "Quote the law."})``.

    Raises :class:`ConfigError` where a plan names an unknown role or ends with one that does not answer, where no role is
    called :data:`SOLVE`, or where a subject is blank or longer than 80 characters.
    """

    name: str
    roles: Mapping[str, str]
    """Role -> how it is asked for."""
    answering: frozenset[str]
    """Roles whose response is an answer, so that a workflow can end there."""
    plans: tuple[Plan, ...]
    """Ways to divide a task."""
    prepared: tuple[tuple[str, ...], tuple[str, ...]]
    """Roles that prepare an answer: those tried first, and those tried only where the first leave much to gain."""
    subjects: tuple[str, ...] = ()
    """What a task may be about: tried where it is not known, after words of the questions."""
    swept: tuple[Plan, ...] = ()
    """Plans that are known to fit, the short ones first: who takes which place of them is found before anything else is tried."""

    def __post_init__(self) -> None:
        """Check what it says."""
        used = (
            {role for plan in (*self.plans, *self.swept) for role, _ in plan}
            | {role for roles in self.prepared for role in roles}
            | self.answering
        )
        if unknown := sorted(used - self.roles.keys()):
            raise ConfigError(f"catalogue {self.name!r} has no wording for the role {unknown[0]!r}")
        if bad := [plan for plan in (*self.plans, *self.swept) if not plan or plan[-1][0] not in self.answering]:
            raise ConfigError(f"catalogue {self.name!r}: a plan has to end with a role that answers, unlike {bad[0]!r}")
        if SOLVE not in self.answering:
            raise ConfigError(f"catalogue {self.name!r} has no role {SOLVE!r} that answers; workers are compared by it")
        if isinstance(self.subjects, str) or [one for one in self.subjects if not one.strip() or len(one) > _LONGEST_SUBJECT]:
            raise ConfigError(
                f"catalogue {self.name!r}: subjects are a few words each, of {_LONGEST_SUBJECT} characters at most: "
                '("algebra", "computer code")'
            )


_SUBJECTS = (
    "arithmetic", "algebra", "logical reasoning", "common sense", "computer code", "multiple choice", "reading comprehension",
    "narrative understanding", "translation", "causal reasoning", "physical reasoning", "social reasoning",
)  # fmt: skip
"""Twelve of the keywords by which BIG-bench (A. Srivastava and others, arXiv 2206.04615) sorts its tasks."""
_TOPICS = {
    "people": "people",
    "places": "places",
    "events": "events",
    "nature": "nature",
    "products": "things people made",
    "numbers": "numbers and units",
}
"""Sorts of things that facts are about: the top of the Extended Named Entity Hierarchy (S. Sekine, K. Sudo, C. Nobata, 2002),
which was made for newspapers. Which of them a question falls into is for the search to find."""
_TOPICAL = {
    f"recall {name}": f"Recall the facts about {topic} that are needed. Do not answer yet." for name, topic in _TOPICS.items()
}

GENERAL = Catalogue(
    name="general",
    roles={
        SOLVE: "Solve the task and give the final answer.",
        "plan": "Write a plan for the task as one expression or a list of steps. Do not compute it.",
        "recall": "Recall the facts that are needed. Do not answer yet.",
        "compute": "Carry out the plan: compute its result and give the final answer.",
        "write": "Write the program that the task asks for.",
        "review": "Check the work so far, correct every mistake in the answer, and write it out in full.",
        "compare": "Weigh the answers so far against each other, and write out the right one in full.",
        **_TOPICAL,
    },
    answering=frozenset({SOLVE, "compute", "write", "review", "compare"}),
    plans=(
        (("solve", ()),),
        (("write", ()),),
        (("plan", ()), ("compute", (0,))),
        (("recall", ()), ("solve", (0,))),
        (("solve", ()), ("review", (0,))),
        (("plan", ()), ("write", (0,))),
        (("write", ()), ("review", (0,))),
        (("recall", ()), ("plan", (0,)), ("compute", (0, 1))),
        (("recall", ()), ("plan", ()), ("compute", (0, 1))),
        (("plan", ()), ("recall", (0,)), ("compute", (0, 1))),
        (("plan", ()), ("compute", (0,)), ("review", (0, 1))),
        (("plan", ()), ("write", (0,)), ("review", (0, 1))),
        (("recall", ()), ("solve", (0,)), ("review", (0, 1))),
        (("solve", ()), ("solve", ()), ("compare", (0, 1))),
        (("recall", ()), ("plan", (0,)), ("compute", (0, 1)), ("review", (0, 1, 2))),
    ),
    prepared=(("plan", "recall"), ("recall", *_TOPICAL)),
    subjects=_SUBJECTS,
)
"""For any pool and any question."""
