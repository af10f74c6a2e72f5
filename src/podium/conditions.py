"""When a step is carried out: ``always``, ``unless 2 agree``, ``if failed``.

A condition looks at the steps that its step may see, and at nothing else. A step whose condition does not hold is skipped:
nobody is asked, and it passes on a response that it saw. The text of a condition is what a policy writes;
:func:`read_condition` takes it apart, and everybody who decides or checks something goes through it.
"""

import re
from dataclasses import dataclass

ALWAYS = "always"
IF_FAILED = "if failed"
FORMS = f'"{ALWAYS}", "unless K agree" with K from 2 to 99, or "{IF_FAILED}"'

_UNLESS = re.compile(r"unless ([1-9][0-9]?) agree")


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A condition, taken apart. Example: ``read_condition("unless 2 agree") == Condition(agree=2)``."""

    agree: int | None = None
    """The step runs unless so many of the steps it sees gave the same answer."""
    if_failed: bool = False
    """The step runs if a step it sees failed, or reported a failing check."""

    def __str__(self) -> str:
        """The text that a policy writes."""
        return IF_FAILED if self.if_failed else ALWAYS if self.agree is None else f"unless {self.agree} agree"

    def misfit(self, seen: int) -> str:
        """Why a step that sees ``seen`` steps can not have this condition; "" where it can."""
        if self.if_failed and seen == 0:
            return f'"{self}" needs a step to look at, and the step sees none'
        if self.agree is not None and seen < self.agree:
            return f'"{self}" can never come about: the step sees {seen}'
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """Why nobody was asked. Example: ``Skipped(passes_on=0, because=(0, 2))``: steps 0 and 2 agreed."""

    passes_on: int
    """The step whose response stands for the skipped one."""
    because: tuple[int, ...]
    """The steps that agreed; of "if failed", those that went well. After the last of them it was known."""


def agree(count: int) -> str:
    """The text of a condition. Example: ``agree(2) == "unless 2 agree"``. Raises ValueError where there is no such condition."""
    return str(read_condition(f"unless {count} agree"))


def read_condition(text: str) -> Condition:
    """The condition that ``text`` says, in small or capital letters. Raises ValueError, which names the conditions there are."""
    words = " ".join(text.split()).lower() if len(text) <= 200 else ""
    if words == ALWAYS:
        return Condition()
    if words == IF_FAILED:
        return Condition(if_failed=True)
    found = _UNLESS.fullmatch(words)
    if found is None or int(found[1]) < 2:
        raise ValueError(f"it is none of {FORMS}")
    return Condition(agree=int(found[1]))
