"""What a subtask says about the matter: which kind of question it is worded for, and which sort of facts it asks for.

A worker that is told what it is about does better than one that is told "make a plan" (:class:`Habits.needs_words`). Any
wording that names the matter will do, in any place of the subtask; one that names several matters says no more than one that
names none. And it may ask for an opinion of one's own, whatever others said.
"""

import re
from functools import lru_cache

_KINDS = {
    "story": r"stor(?:y|ies)|tales?|narrat\w*|events?",
    "choice": r"options?|choices?|letters?|multiple[ -]choice",
    "knowledge": r"knowledge|trivia|unsaid|well[ -]known",
    "code": r"functions?|programs?|code|python|implement\w*",
    "bundle": r"units?|packs?|dozens?|bundles?|batch(?:es)?",
    "versus": r"both|two|compar\w*|sides?|gap|versus",
}
_SORTS = {
    "nature": r"nature|natural|animals?|creatures?|elements?|atoms?|legs|living",
    "made": r"man-?made|people made|games?|instruments?|shapes?|objects|artificial",
}
_ALONE = re.compile(r"\b(?:on your own|independently|by yourself|regardless of what was said)\b", re.IGNORECASE)
_KIND_WORDS = {kind: re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for kind, words in _KINDS.items()}
_SORT_WORDS = {sort: re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for sort, words in _SORTS.items()}


@lru_cache(maxsize=1 << 14)
def kinds_named(subtask: str) -> frozenset[str]:
    """The kinds of question that ``subtask`` is worded for. Example: ``kinds_named("Plan the story.") == {"story"}``."""
    return frozenset(kind for kind, words in _KIND_WORDS.items() if words.search(subtask))


@lru_cache(maxsize=1 << 14)
def sort_named(subtask: str) -> str:
    """The one sort of facts that is asked for, or "". Example: ``sort_named("Recall the facts of nature.") == "nature"``."""
    found = [sort for sort, words in _SORT_WORDS.items() if words.search(subtask)]
    return found[0] if len(found) == 1 else ""


@lru_cache(maxsize=1 << 14)
def works_alone(subtask: str) -> bool:
    """Whether ``subtask`` asks to use nothing of what others said. Example: ``works_alone("Answer on your own.")``."""
    return _ALONE.search(subtask) is not None
