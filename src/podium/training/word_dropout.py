"""Questions with words left out: what the policy is shown of some questions, so that it learns to plan under doubt.

A policy that has only ever seen one wording of a question is sure of what it is, and wrong about it in other words. With
words missing it is unsure, and reward teaches it which plan is right for all the things that the question may be. (Word
dropout: Iyyer et al. 2015, "Deep Unordered Composition Rivals Syntactic Methods for Text Classification".)
"""

import random


def drop_words(text: str, rng: random.Random, most: float = 0.5) -> str:
    """``text`` without some of its words, at most about a share of ``most``, never without all of them."""
    words = text.split(" ")
    share = rng.random() * most
    return " ".join([word for word in words if rng.random() >= share] or words)
