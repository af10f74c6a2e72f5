"""How Conductors of the gym read questions in words that nobody chose for them.

``python -m benchmarks.reading POLICY [POLICY ...]``: for every folder with a policy, of each kind the share of questions that the
likeliest first token takes for what they are. The wordings (``unseen_wordings.tsv``) were written by somebody who was told what
makes a kind and shown one or two examples of each, and saw neither the gym's templates nor what a start reads besides
(``gym_wordings.tsv``); three that had six words in a row of the latter are left out. Nothing is learned from them. The last line
is one JSON object.
"""

import argparse
import json
from collections import Counter
from pathlib import Path

import torch

from podium.gym.specialists import specialists
from podium.gym.world import World
from podium.policies.local import LocalPolicy
from podium.policies.sampling import padded
from podium.recipes.gym_start import NAMES
from podium.recipes.gym_wordings import other_questions, other_wordings
from podium.types import Brief, Problem, ask

WORDINGS = Path(__file__).with_name("unseen_wordings.tsv")
_EACH = 3
"""Questions made of a wording, in the mean."""


def main() -> None:
    """Measure, print, and end with the JSON line."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("policies", nargs="+", type=Path)
    options = arguments.parse_args()
    questions = other_questions(_EACH * len(other_wordings(WORDINGS)), seed=0, file=WORDINGS)
    found = []
    for folder in options.policies:
        right = _read(LocalPolicy.load(folder), questions)
        print(f"{folder!s:32}", "  ".join(f"{kind} {share:.3f}" for kind, share in right.items()))
        found.append({"policy": str(folder), "right": right})
    print(json.dumps({"policies": found}))


def _read(policy: LocalPolicy, questions: list[Problem]) -> dict[str, float]:
    """The share of each kind that is taken for what it is."""
    names = {policy.tokens.encode(name)[0]: kind for kind, name in NAMES.items()}
    cards = tuple(worker.card for worker in specialists(World()))
    asked, right = Counter[str](), Counter[str]()
    for problem in questions:
        tokens, lengths = padded([policy.prompt_ids(Brief(question=ask(problem.question), cards=cards))])
        with torch.no_grad():
            logits = policy.model.logits(policy.model.prompts(tokens, lengths).last)[0]
        asked[problem.kind] += 1
        right[problem.kind] += names[max(names, key=lambda token: float(logits[token]))] == problem.kind
    return {kind: round(right[kind] / count, 3) for kind, count in asked.items()}


if __name__ == "__main__":
    main()
