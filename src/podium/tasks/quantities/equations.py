r"""Which side of an equation is the answer: 7 of "3 + 4 = 7 eggs" and of "x = 7", nothing of "x^2 - 1 = 3".

The right side counts where the first is a name (``x``, ``f(2)``, ``\angle ABC``, "total cost") or all sides before it are
arithmetic that comes to the same. Anything else on the left is an equation still to be solved, or one that the question gave.
"""

import re

from podium.tasks.quantities import arithmetic

_SEVERAL = re.compile(r"[,;.]\s|\b(?:or|and)\b", re.IGNORECASE)
_DECORATION = re.compile(
    r"\\(?:text|textbf|textit|textrm|textnormal|mathrm|mathbf|mbox|operatorname|mathcal|overline|widehat|vec|left|right)(?![a-zA-Z])"
    r"|\\(?:angle|measuredangle|triangle|displaystyle|quad|qquad)(?![a-zA-Z])|\\[,;: !()\[\]]|[$~*`{}\ue000]"
)
_GREEK = (
    r"\\(?:alpha|beta|gamma|delta|epsilon|varepsilon|zeta|eta|theta|iota|kappa|lambda|mu|nu|xi|rho|sigma|tau|phi|varphi|chi|psi"
    r"|omega|Gamma|Delta|Theta|Lambda|Sigma|Phi|Psi|Omega|ell)(?![a-zA-Z])"
)
_ARGUMENT = r" ?-? ?[a-zA-Z0-9.]{1,12}(?:\([-a-zA-Z0-9., ]*\))? ?"
_ARGUMENTS = rf"(?: ?\((?:{_ARGUMENT}(?:,{_ARGUMENT}){{0,5}})?\))"
_NAME = re.compile(
    rf"(?:m )?(?:[a-zA-Z]|{_GREEK}|[A-Z]{{2,6}}|[a-zA-Z]{{3,20}})(?: ?_ ?[a-zA-Z0-9]{{1,12}}| ?\^ ?-1|')*{_ARGUMENTS}?"
    r"|\[[A-Z]{3,6}\]|\|[A-Z]{2}\|"
)
_PROSE = re.compile(r"[a-zA-Z][a-zA-Z'’-]*(?: [a-zA-Z][a-zA-Z'’-]*){1,12}")
_NO_NAMES = frozenset({"sqrt", "sin", "cos", "tan", "cot", "sec", "csc", "log", "exp", "abs", "frac"})
_LETTER = re.compile(r"[a-zA-Z]")
_WORDS = re.compile(r"\([a-zA-Z'’ ]{3,60}\)|[a-zA-Z'’]{2,}(?: [a-zA-Z'’]+)*|[$€£¥₹%]")
_SUMS = re.compile(r"[-+0-9(][-+*/×÷·0-9.,() ]*")
_PRINTED = re.compile(r"[-+]?[0-9][0-9,]*(?:\.([0-9]+))?")


def last_side(text: str) -> str | None:
    """``text`` behind its last equals sign; None where something on the left is neither a name nor arithmetic, or it is false.

    Text without an equals sign is its own last side. Examples: ``last_side("x = 5")`` is ``"5"``; ``last_side("2x = 6")``,
    ``last_side("3 + 5 = 7")``, ``last_side("3 = 3")`` and ``last_side("x = 5, y = 6")`` are None.
    """
    *lefts, right = text.split("=")
    if not lefts:
        return text.strip()
    if _SEVERAL.search(text.rpartition("=")[0]) or any(left.rstrip().endswith(("!", "<", ">", ":", "\\")) for left in lefts):
        return None
    right = right.strip(" \"'*_`").rstrip("$ ")
    if _LETTER.fullmatch(name := lefts[0].strip(" $")) and re.search(rf"(?<![a-zA-Z\\]){name}(?![a-zA-Z])", right):
        return None  # x = x + 1
    if is_name(lefts[0]):
        # "P = nRT/V = 50.7": the rest says how, and only arithmetic can be seen to be false.
        return right if all(arithmetic.parse(left) is None or _comes_to(left, right) for left in lefts[1:]) else None
    if all(left.strip() == right for left in lefts):
        return None  # 3 = 3
    return right if all(is_name(left) or _comes_to(left, right) for left in lefts) else None


def is_name(text: str) -> bool:
    r"""Whether ``text`` names a value and computes none. Examples: ``x``, ``f(2)``, ``\angle ABC``, "total cost"; not ``2x``."""
    if len(text) > arithmetic.MAX_CHARS:
        return False
    plain = " ".join(_DECORATION.sub(" ", text).split())
    if _NAME.fullmatch(plain):
        return plain.partition("(")[0].strip() not in _NO_NAMES
    return bool(_PROSE.fullmatch(plain)) and any(len(word) > 2 for word in plain.split())


def _comes_to(left: str, right: str) -> bool:
    """Whether ``left`` is arithmetic, with or without words in it, and ``right`` what it comes to, as far as it is printed."""
    tree = arithmetic.parse(left)
    if tree is None:
        bare = _WORDS.sub(" ", _DECORATION.sub(" ", left)).strip()
        return bool(_SUMS.fullmatch(bare))  # "50% of 20", "3 apples + 4 apples"
    worth, printed = arithmetic.value(tree), _PRINTED.match(right.replace("$", "").replace("\\", "").strip())
    other = arithmetic.parse(right)
    stated = arithmetic.value(other) if other is not None else None
    if stated is None:
        if printed is None:
            return True  # "5 + 2 pi r", which somebody else has to read
        stated = float(printed[0].replace(",", ""))
    digits = len(printed[1]) if printed is not None and printed[1] else 9
    return worth is None or abs(worth - stated) <= max(0.5 * 10**-digits, 1e-9 * abs(worth))
