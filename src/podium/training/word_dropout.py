"""Questions with words left out, or replaced: what the policy is shown of some questions, so that it learns to plan under doubt.

A policy that has only ever seen one wording of a question is sure of what it is, and wrong about it in other words. With
words missing it is unsure, and reward teaches it which plan is right for all the things that the question may be. (Word
dropout: Iyyer et al. 2015, "Deep Unordered Composition Rivals Syntactic Methods for Text Classification".)

A question in which words of another one stand is read as the one or as the other, and nothing in it says which is right. Only
what becomes of it does: so a second round learns to look at the answer.
"""

import random


def drop_words(text: str, rng: random.Random, most: float = 0.5) -> str:
    """``text`` without some of its words, at most about a share of ``most``, never without all of them."""
    words = text.split(" ")
    share = rng.random() * most
    return " ".join([word for word in words if rng.random() >= share] or words)


def mix_words(text: str, other: str, rng: random.Random, longest: int = 5) -> str:
    """``text`` with any share of its words replaced by those that stand there in ``other``, up to ``longest`` in a row.

    Example: ``mix_words("How many legs have ants?", "What do coats cost?", rng)`` may be ``"How many coats cost? ants?"``.
    """
    words, others = text.split(" "), other.split(" ")
    share = rng.random()
    mixed: list[str] = []
    at = 0
    while at < max(len(words), len(others)):
        run = rng.randint(1, longest)
        mixed += (others if rng.random() < share else words)[at : at + run]
        at += run
    return " ".join(mixed or words)
