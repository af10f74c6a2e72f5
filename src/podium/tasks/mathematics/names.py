r"""Which names do not matter: ``f(t) = 2t`` is ``f(x) = 2x``, and ``x^2 + K`` is ``x^2 + C``; ``g(x) = 2x`` is neither.

Left out: any other renaming. Letters of the question stay what they are.
"""

import re

from podium.tasks.mathematics.notation import normal_form

_NAME = re.compile(r"([a-zA-Z]|\\[a-zA-Z]+)((?:_\{?\w{1,9}\}?|\^\{-1\}|')*)(?:\(([^()]{1,40})\))?")
_PRIMED = re.compile(r"(?<![a-zA-Z\\])([a-zA-Z])(?![a-zA-Z'])|(?<![a-zA-Z\\])([a-zA-Z])('{1,9}|\^ ?\{? ?(?:\\prime ?){1,9}\}?)")
_CONSTANT = re.compile(r"\+ ?([CcKk]) ?$")


def other_name(gold: str, answer: str) -> bool:
    """Whether both say what a variable is, and not of the same: x = 3 and y = 3 are two lines."""
    one, other = _named(gold), _named(answer)
    return one is not None and other is not None and not one[3] and not other[3] and one[0] != other[0]


def other_function(gold: str, answer: str) -> bool:
    """Whether they define functions of two names or arguments, or a derivative of one: ``y' = 2x`` is not ``y = 2x``."""
    one, other = _named(gold), _named(answer)
    if one is not None and other is not None and one[3] and other[3]:
        other_argument = one[3] != other[3] and len(one[3]) == 1 == len(other[3])
        if other_argument or one[1] + one[2] != other[1] + other[2]:
            return True
    primes, others = _primes(gold), _primes(answer)
    return any(primes[letter] != others[letter] for letter in primes.keys() & others.keys())


def renamed(gold: str, answer: str, variables: frozenset[str]) -> str:
    """``answer`` with the argument of its function, and its constant of integration, called as in ``gold``.

    Nothing is renamed that the question names (``variables``). Example: ``renamed("x^2 + C", "x^2 + k", frozenset())`` is
    ``"x^2 + C"``.
    """
    wanted, found = _CONSTANT.search(gold), _CONSTANT.search(answer)
    if wanted and found and not {wanted[1], found[1]} & variables and wanted[1] not in _letters(answer[: found.start()]):
        answer = answer[: found.start(1)] + wanted[1]
    one, other = _named(gold), _named(answer)
    if one is None or other is None or not one[3] or not other[3]:
        return answer
    new, old = one[3], other[3]
    if not re.fullmatch("[a-z]{2}", new + old) or old in variables or new in _letters(answer):
        return answer
    return re.sub(rf"(?<![a-zA-Z\\]){old}(?![a-zA-Z])", new, answer)


def _named(text: str) -> "re.Match[str] | None":
    """What ``text`` says what it is: x of "x = 3", f(x) of "f(x) = 2x"."""
    return _NAME.fullmatch(normal_form(text.partition("=")[0])) if "=" in text else None


def _primes(text: str) -> dict[str, set[int]]:
    """How many primes each letter has, wherever it stands by itself. Example: of ``f'(x) = x`` 1 for f, 0 for x."""
    found: dict[str, set[int]] = {}
    for bare, primed, marks in _PRIMED.findall(text):
        found.setdefault(bare or primed, set()).add(marks.count("'") + marks.count("prime"))
    return found


def _letters(text: str) -> set[str]:
    return set(re.findall(r"(?<![a-zA-Z\\])[a-zA-Z](?![a-zA-Z])", text))
