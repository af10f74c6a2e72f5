"""One thing of nature against one that people made: recall both, then compare. Frames by pairs of tables.

Every frame is asked of four of the eight pairs, so that held-out templates are other combinations of frame and pair.
"""

from podium.gym.templates.template import Template
from podium.gym.templates.template import template as t

_NATURE = {"legs": "the legs of {a} {e}", "atomic_number": "the protons in {a} atoms of {e}"}
_MADE = {
    "strings": "the strings on {b} instruments of the kind {g}",
    "players": "the players in {b} full sides of {g}",
    "sides": "the sides of {b} drawings of a {g}",
    "count": "{b} times the number of {g}",
}
_FRAMES = (
    ("Compare two quantities: {left} and {right}. How much larger is the larger one?", "abs({l} - {r})"),
    ("Compare two quantities: {left} and {right}. What do you get from the larger one twice and the smaller one once?",
     "{l} + {r} + max({l}, {r})"),
    ("By how much do {left} and {right} differ? Give the plain difference of the two.", "abs({l} - {r})"),
    ("On one side of a scale of numbers stand {left}, on the other side {right}. How far apart are the two?", "abs({l} - {r})"),
    ("{name} bets on {left}, {other} bets on {right}. The winner gets as many coins as the two numbers are apart. How many?",
     "abs({l} - {r})"),
    ("{name} claims that {left} are more than {right}. By how many does the claim hold or fail?", "abs({l} - {r})"),
    ("Put {left} against {right}: how large is the gap between the two counts?", "abs({l} - {r})"),
    ("Of two counts, {left} on the one hand and {right} on the other, take the larger one twice and the smaller one once. "
     "What is the sum?", "{l} + {r} + max({l}, {r})"),
    ("Of two counts, {left} on the one hand and {right} on the other, take the smaller one twice and the larger one once. "
     "What is the sum?", "{l} + {r} + min({l}, {r})"),
)  # fmt: skip


def _templates() -> tuple[Template, ...]:
    pairs = [(nature, made) for made in _MADE for nature in _NATURE]
    made: list[Template] = []
    for number, (frame, plan) in enumerate(_FRAMES):
        for left, right in pairs[number % 2 :: 2]:
            text = frame.replace("{left}", _NATURE[left]).replace("{right}", _MADE[right])
            formula = plan.replace("{l}", f"a * {left}(e)").replace("{r}", f"b * {right}(g)")
            made.append(t(text, formula, e=left, g=right, a=(11, 48), b=(7, 39)))
    return tuple(made)


TEMPLATES = _templates()
