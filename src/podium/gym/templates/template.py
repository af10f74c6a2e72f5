"""What a question template is: a text with slots, the plan that answers it, and what may fill the slots.

A slot's filling is written as data: ``(2, 9)`` a whole number in that range, ``"=b * q"`` a number worked out from other
slots, ``"legs"`` an entity of that table of :mod:`podium.gym.facts`. Slots with a fixed meaning need no entry: ``name``
and ``other`` are people, ``thing`` is a plural noun, ``f`` names a function and ``x y z`` its parameters.
"""

from typing import NamedTuple

NAMES = (
    "Ada", "Boris", "Clara", "Dmitri", "Elena", "Farid", "Greta", "Hugo", "Ines", "Jonas", "Kira", "Liam", "Mona", "Nils",
    "Olga", "Pavel", "Rosa", "Samir", "Tessa", "Umar", "Vera", "Willem", "Yara", "Zoe",
)  # fmt: skip
THINGS = (
    "apples", "books", "candles", "coins", "cups", "flowers", "marbles", "muffins", "pencils", "plates", "shells", "stamps",
    "stickers", "tiles", "tulips", "buttons",
)  # fmt: skip
FUNCTIONS = ("amount", "blend", "combine", "derive", "figure", "measure", "outcome", "rate", "score", "total", "value", "weigh")
PARAMETERS = (("a", "b", "c"), ("x", "y", "z"), ("p", "q", "r"), ("m", "n", "k"), ("u", "v", "w"))

WORDS = {"name": NAMES, "other": NAMES, "thing": THINGS, "f": FUNCTIONS}
VARIABLES = ("x", "y", "z")

Filling = tuple[int, int] | str


class Template(NamedTuple):
    """One template. Example: ``Template("{name} has {a} and {b} more. How many?", "a + b", {"a": (2, 9), "b": (2, 9)})``."""

    text: str
    plan: str
    """An expression over the slots, e.g. ``"a * legs(e)"``."""
    slots: dict[str, Filling]


def template(text: str, plan: str, **slots: Filling) -> Template:
    """A template from keyword slots. Example: ``template("What is {a} + {b}?", "a + b", a=(2, 9), b=(2, 9))``."""
    return Template(text, plan, slots)
