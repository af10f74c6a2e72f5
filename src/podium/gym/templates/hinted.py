"""Questions that say, most of them, what they take: a closing sentence lets a reader tell their kind.

Without such a sentence a story that leaves a fact unsaid can hardly be told from one that does not. One in five says nothing
of use.
"""

from collections.abc import Sequence

from podium.gym.templates.template import Template

STORY = ("Give the number.", "Everything is said.", "Say how many.", "All the numbers are given.", "Give the number.")
KNOWLEDGE = (
    "One number has to be known.",
    "What is left unsaid is common knowledge.",
    "Give the number.",
    "The missing number is well known.",
    "It takes something that one knows or looks up.",
)
UNITS = (
    "Mind the unit.",
    "The unit has to be known.",
    "Reckon in the smaller unit.",
    "Give the number.",
    "A unit is made of smaller ones.",
)


def with_hints(templates: Sequence[Template], hints: Sequence[str]) -> tuple[Template, ...]:
    """Each template with the next of the hints behind its text."""
    return tuple(
        template._replace(text=f"{template.text} {hints[position % len(hints)]}") for position, template in enumerate(templates)
    )
