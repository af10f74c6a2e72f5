"""The questions of the gym as data: one file per kind, every third template held out of training."""

from podium.gym.templates import choice, code, comparison, conversion, fact, hinted, language, price, versus, word
from podium.gym.templates.template import Template

TEMPLATES: dict[str, tuple[Template, ...]] = {
    "word": word.TEMPLATES,
    "choice": choice.TEMPLATES,
    "fact": fact.TEMPLATES,
    "code": code.TEMPLATES,
    "conversion": conversion.TEMPLATES,
    "comparison": comparison.TEMPLATES,
    "story": hinted.STORY,
    "knowledge": hinted.KNOWLEDGE,
    "bundle": hinted.BUNDLE,
    "versus": versus.TEMPLATES,
    "measure": hinted.MEASURE,
    "price": price.TEMPLATES,
    "language": language.TEMPLATES,
}
"""Templates by kind, in a fixed order: a template is known by its kind and its position."""

KINDS = ("word", "choice", "fact", "code")
"""The kinds that are trained on."""
UNTRAINED_KINDS = ("conversion", "comparison")
"""The kinds that are kept out of training."""


def held_out(position: int) -> bool:
    """Whether the template at ``position`` of its kind is kept out of training: every third one."""
    return position % 3 == 2
