"""The questions of the gym as data: one file per kind, every third template held out of training."""

from podium.gym.templates import bundle, choice, code, hinted, knowledge, language, measure, price, story, versus
from podium.gym.templates.template import Template

TEMPLATES: dict[str, tuple[Template, ...]] = {
    "choice": choice.TEMPLATES,
    "code": code.TEMPLATES,
    "story": hinted.with_hints(story.TEMPLATES, hinted.STORY),
    "knowledge": hinted.with_hints(knowledge.TEMPLATES, hinted.KNOWLEDGE),
    "bundle": hinted.with_hints(bundle.TEMPLATES, hinted.UNITS),
    "versus": versus.TEMPLATES,
    "measure": hinted.with_hints(measure.TEMPLATES, hinted.UNITS),
    "price": price.TEMPLATES,
    "language": language.TEMPLATES,
}
"""Templates by kind, in a fixed order: a template is known by its kind and its position."""


def held_out(position: int) -> bool:
    """Whether the template at ``position`` of its kind is kept out of training: every third one."""
    return position % 3 == 2
