"""Multiple choice about words, kept out of training: recall one and pick its letter, like any other choice."""

from podium.gym.templates.template import Template
from podium.gym.templates.template import template as t

_WORDINGS = {
    "past_tense": (
        "What is the past tense of the verb {e}?",
        "Which word puts the verb {e} into the past?",
        "Yesterday takes another form of the verb {e}. Which one is it?",
    ),
    "plural": (
        "What is the plural of the noun {e}?",
        "Which word is used for more than one {e}?",
        "A dictionary gives which plural for the entry {e}?",
    ),
    "roman": (
        "Which Roman numeral stands for {e}?",
        "How is {e} written in Roman numerals?",
        "A clock maker engraves {e} with Roman letters. Which ones are they?",
    ),
    "opposite": (
        "What is the opposite of the word {e}?",
        "Which word means the contrary of the word {e}?",
        "A crossword asks for an antonym of the word {e}. What fits?",
    ),
}

TEMPLATES: tuple[Template, ...] = tuple(
    t(wording + " A) {A} B) {B} C) {C} D) {D}", f"{table}(e)", e=table)
    for table, wordings in _WORDINGS.items()
    for wording in wordings
)
