"""The kinds of question and the parts of the work that each takes.

A part is done by one worker at one level. ``nature`` and ``made`` are two sorts of facts, where a question needs one of each.
"""

KINDS = ("story", "choice", "knowledge", "code", "bundle", "versus")
"""The kinds that are trained on."""
SHORT_KINDS = ("story", "choice", "code")
"""The kinds of a short run, as podium demo trains one: their best plans have one or two steps, which are learned soonest."""
UNTRAINED_KINDS = ("price", "language", "measure")
"""The kinds that are kept out of training."""
PARTS: dict[str, tuple[str, ...]] = {
    "story": ("plan", "compute"),
    "choice": ("recall",),
    "knowledge": ("plan", "recall", "compute"),
    "code": ("write", "review"),
    "bundle": ("plan", "nature", "made", "compute"),
    "versus": ("plan", "nature", "made", "compute"),
}
"""Kind -> the parts of the work, in the order in which they are done."""
RELATIVES = {"price": "story", "language": "choice", "measure": "bundle"}
"""Untrained kind -> the trained one that is like it: whoever is good at the one is about as good at the other."""
_NATURE = frozenset(("legs", "atomic_number"))


def home(kind: str) -> str:
    """The trained kind that ``kind`` is, or is like."""
    return RELATIVES.get(kind, kind)


def recall_part(kind: str, reference: str) -> str:
    """Which part of the work recalling ``reference`` is. Example: ``recall_part("bundle", "legs(ants)") == "nature"``."""
    return domain_of(reference) if "nature" in PARTS[home(kind)] else "recall"


def domain_of(reference: str) -> str:
    """``nature`` or ``made``. Example: ``domain_of("pieces_in(dozen)") == "made"``."""
    return "nature" if reference.split("(")[0] in _NATURE else "made"
