"""How sure one can be of a question's kind: judged by classifiers that have not seen it.

Whoever chooses by kind does so by what is likely, and hedges where it is not sure. Bounds on calls and dollars hold only where
they are reckoned the same way.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from podium.policies.kinds import KindClassifier

FOLDS = 3
MOST = 900
"""Questions that are looked at, spread over all."""


def unseen_posteriors(questions: Sequence[str], kinds: Sequence[str]) -> NDArray[np.float64]:
    """(questions, kinds) For some of ``questions`` how likely each is of which kind, kinds in the order in which they come."""
    names = list(dict.fromkeys(kinds))
    if len(names) == 1:
        return np.ones((1, 1))
    step = -(-len(questions) // MOST)
    found = []
    for fold in range(FOLDS):
        known = [place for place in range(len(questions)) if place % FOLDS != fold]
        classifier = KindClassifier([questions[place] for place in known], [kinds[place] for place in known])
        for place in range(0, len(questions), step):
            if place % FOLDS == fold:
                likely = classifier.posterior(questions[place])
                found.append([likely.get(name, 0.0) for name in names])
    return np.array(found)
