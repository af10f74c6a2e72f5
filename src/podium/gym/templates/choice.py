"""Multiple-choice knowledge: recall one fact and pick its letter. The four options are added by the world."""

from podium.gym.templates.template import Template
from podium.gym.templates.template import template as t

_WORDINGS = {
    "capital": (
        "What is the capital of {e}?",
        "Which city is the seat of government shown as the capital of {e} on maps?",
        "The government of {e} sits in which of these capitals?",
        "A traveller wants to see the capital city of {e}. Where should the journey end?",
    ),
    "symbol": (
        "What is the chemical symbol for {e}?",
        "Which letters stand for {e} in the periodic table?",
        "A chemist writes {e} in a formula. Which symbol appears?",
        "In chemical notation, how is {e} abbreviated?",
    ),
    "continent": (
        "On which continent does {e} lie?",
        "To which continent does the country {e} belong?",
        "A globe is turned until {e} faces you. Which continent is in view?",
        "A stamp from {e} comes from which continent?",
    ),
    "currency": (
        "What is the currency of {e}?",
        "Which money would you use to pay in {e}?",
        "A bank changes dollars for a trip to {e}. What does it hand out?",
        "Prices in the shops of {e} are given in which currency?",
    ),
    "author": (
        "Who wrote the work called {e}?",
        "Which author is known for writing {e}?",
        "A library files {e} under which author?",
        "The title page of {e} names whom as its author?",
    ),
    "painter": (
        "Who painted the picture called {e}?",
        "Which artist is famous for the painting {e}?",
        "A museum label for {e} names which painter?",
        "By whose brush was the canvas {e} made?",
    ),
    "composer": (
        "Who composed the music of {e}?",
        "Which composer wrote the score of {e}?",
        "A concert programme lists {e}. Whose music is it?",
        "The score of {e} came from the pen of which composer?",
    ),
    "young": (
        "What is the young of a {e} called?",
        "Which word names a very young {e}?",
        "A zoo announces the birth or hatching of a {e}. What is the little one called?",
        "What do people call the offspring of a {e}?",
    ),
    "atomic_number": (
        "What is the atomic number of {e}?",
        "How many protons are in one atom of {e}?",
        "Which place number does {e} hold in the periodic table?",
        "Counting protons, where is {e} found among the chemical elements?",
    ),
}

TEMPLATES: tuple[Template, ...] = tuple(
    t(wording + " A) {A} B) {B} C) {C} D) {D}", f"{table}(e)", e=table)
    for table, wordings in _WORDINGS.items()
    for wording in wordings
)
