r"""Formulas typed with a keyboard or in Unicode, in LaTeX: ``5√2``, ``4pi``, ``sqrt(3)/2``, ``x²``, ``1112112₃``, ``sin(x)**2``.

Only what can mean nothing else is spelled anew. Left out: digits of other scripts, look-alikes of letters.
"""

import re

from podium.tasks.extraction import IN_TEXT

_COMMANDS = {
    **dict(zip("π∞θαβγφϕλ", ("pi", "infty", "theta", "alpha", "beta", "gamma", "phi", "phi", "lambda"), strict=True)),
    **dict(zip("≤≥≠×÷·⋅±∓", ("le", "ge", "ne", "times", "div", "cdot", "cdot", "pm", "mp"), strict=True)),
    **dict(zip("∪∩∈∅", ("cup", "cap", "in", "emptyset"), strict=True)),
}
_FRACTIONS = dict(zip("½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞", zip("112131234151357", "233445555668888", strict=True), strict=True))
_SIGNS = {
    **{sign: rf"\{name} " for sign, name in _COMMANDS.items()},
    **{sign: rf"\frac{{{digits[0]}}}{{{digits[1]}}}" for sign, digits in _FRACTIONS.items()},
    "ℝ": r"\mathbb{R}",
    "⁄": "/",
}
_SIGN = re.compile("[" + "".join(_SIGNS) + "]")
_RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ⁿ", "0123456789-+n", strict=True))
_LOWERED = dict(zip("₀₁₂₃₄₅₆₇₈₉", "0123456789", strict=True))
_RAISED_RUN = re.compile("(?<=[0-9a-zA-Z)}|])[" + "".join(_RAISED) + "]+")
_LOWERED_RUN = re.compile("[" + "".join(_LOWERED) + "]+")
_WORD = re.compile(r"(?<![a-zA-Z\\])(?:pi|infinity|infty|inf)(?![a-zA-Z])", re.IGNORECASE)
_WORD_IN_TEXT = re.compile(r"\\(?:text|mathrm|mbox) ?\{ ?([-+]?) ?(pi|infinity|infty|π|∞) ?\}", re.IGNORECASE)
_FUNCTION = re.compile(
    r"(?<![a-zA-Z\\])((?:arc)?(?:sin|cos|tan)h?|cot|sec|csc|log|ln|exp)(?= ?[(^_]| (?:[0-9]*[a-z]|[0-9]+)\b(?! ?[a-z]))"
)
_STARS = re.compile(r" ?\*\* ?(?:(-?[0-9]{1,9}|[a-z](?![a-z]))|\(([^()]{1,100})\)|(?=\{))")
_PROSE = re.compile(r"[a-zA-Z]{3,}")
_KNOWN = re.compile(
    r"\\[a-zA-Z]+|(?:sqrt|infinity|infty|inf|(?:arc)?(?:sin|cos|tan)h?|cot|sec|csc|log|exp)(?![a-zA-Z])", re.IGNORECASE
)
_ROOT = re.compile(
    r"(?:(?P<index>[∛∜])|√|(?<![a-zA-Z\\])sqrt|\\sqrt(?= ?\()) ?(?P<under>[0-9]+(?:\.[0-9]+)?|[a-zA-Z](?![a-zA-Z])|[({])?"
)
_CLOSING = {"(": ")", "{": "}"}
_ANGLED = re.compile(r"^\s*(?:\\left ?)?[<⟨](?P<inside>[^<>⟨⟩]{1,400},[^<>⟨⟩]{1,400}?)(?:\\right ?)?[>⟩]\s*$")
"""A vector in angle brackets, as they are on a keyboard: <1,2>."""
_TEXT = re.compile(r"[^\x00-\x7f]|pi|inf|sqrt|sin|cos|tan|cot|sec|csc|log|ln|exp|\*\*", re.IGNORECASE)


def in_latex(text: str) -> str:
    r"""``text`` with signs, roots and names of constants as LaTeX commands.

    Examples: ``in_latex("5√2")`` is ``5\sqrt{2}``; ``in_latex("4pi")`` is ``4\pi ``; ``in_latex("sqrt(x+1)/2")`` is
    ``\sqrt{x+1}/2``; words are left alone: ``in_latex("the pi day")`` is the same.
    """
    text = _ANGLED.sub(r"\\langle \g<inside>\\rangle", text)
    if not _TEXT.search(text):
        return text
    text = _WORD_IN_TEXT.sub(_constant, text)
    if not _PROSE.search(_KNOWN.sub(" ", IN_TEXT.sub(" ", text))):
        text = _STARS.sub(lambda power: f"^{{{power[1] or power[2]}}}" if power[1] or power[2] else "^", text)
        text = _FUNCTION.sub(r"\\\1 ", _WORD.sub(_constant, text))
    text = _RAISED_RUN.sub(lambda run: f"^{{{''.join(_RAISED[sign] for sign in run[0])}}}", text)
    text = _LOWERED_RUN.sub(lambda run: f"_{{{''.join(_LOWERED[sign] for sign in run[0])}}}", text)
    return _SIGN.sub(lambda sign: _SIGNS[sign[0]], _with_roots(text))


def _constant(match: re.Match[str]) -> str:
    sign = match[1] if match.lastindex else ""
    return sign + (r"\pi " if (match[match.lastindex or 0]).lower() in {"pi", "π"} else r"\infty ")


def _with_roots(text: str) -> str:
    """``text`` with each root sign and what stands under it as a command; one whose bracket does not close is left."""
    pieces: list[str] = []
    start = 0
    closings: list[int] = []  # how deep the brackets are that a root has opened
    depth = 0
    for at, found in _events(text):
        if isinstance(found, str):
            if found in "({":
                depth += 1
            else:
                depth -= 1
                if closings and closings[-1] == depth:
                    pieces += [text[start:at], "}"]
                    start = at + 1
                    closings.pop()
            continue
        index = {"∛": "[3]", "∜": "[4]"}.get(found["index"] or "", "")
        under = found["under"]
        if under is None:
            continue
        pieces += [text[start : found.start()], rf"\sqrt{index}{{"]
        start = found.end()
        if under in _CLOSING:
            closings.append(depth)
            depth += 1
        else:
            pieces.append(f"{under}}}")
    return text if closings else "".join([*pieces, text[start:]])


def _events(text: str) -> list[tuple[int, "re.Match[str] | str"]]:
    """Roots and brackets in the order in which they stand; the bracket that belongs to a root is not one of its own."""
    events: list[tuple[int, re.Match[str] | str]] = []
    taken = -1
    for match in re.finditer(rf"{_ROOT.pattern}|(?P<bracket>[(){{}}])", text):
        if match["bracket"]:
            if match.start() > taken:
                events.append((match.start(), match["bracket"]))
        else:
            events.append((match.start(), match))
            taken = match.end() - 1
    return events
