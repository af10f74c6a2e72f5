r"""A formula out of LaTeX: what Math-Verify's parser is given, and what is made of its trees.

Math-Verify wants the gold answer in ``$...$`` and the answer in ``\boxed{}``; some of what people write it misreads
(``6.02e23``, ``1{,}000``, ``\langle 1, 2 \rangle``, ``]1,2[``, ``\{x \mid x > 1\}``, ``\log_e``, degrees), so that it is spelled
in another way first. Left out: what the formulas are worth (``equivalence.py``). For worker processes: nothing here bounds time
or memory.
"""

import re
from typing import Any

import sympy
from math_verify import LatexExtractionConfig, parse
from math_verify import LatexNormalizationConfig as Normalization
from sympy.concrete.expr_with_limits import ExprWithLimits

_EXTRACTION = [
    LatexExtractionConfig(
        boxed_match_priority=0,
        normalization_config=Normalization(basic_latex=True, units=False, malformed_operators=True, nits=True, boxed="last"),
    )
]
_TRIGONOMETRY = re.compile(r"\\(?:sin|cos|tan|cot|sec|csc)(?![a-zA-Z])")
_DEGREES = re.compile(r"([0-9.]+) ?\^ ?\{? ?\\circ ?\}?")
_ANY_DEGREES = re.compile(r"\^ ?\{? ?\\circ ?\}?|\\%|%")
_SCIENTIFIC = re.compile(r"(?<![a-zA-Z0-9.])([0-9]+(?:\.[0-9]+)?)[eE]([-+]?[0-9]{1,3})(?![0-9])")
_MEMBER = re.compile(r"^\s*[a-zA-Z]\s*\\in(?![a-zA-Z])")
_INVERSE = re.compile(r"^\s*[a-zA-Z]\s*\^\s*\{\s*-\s*1\s*\}\s*\(\s*[a-zA-Z]\s*\)\s*=")
_POSITIVE = re.compile(r"\\mathbb ?(?:\{ ?R ?\}|R) ?[\^_] ?(?:\{ ?(?:\+|> ?0) ?\}|\+)")
_TUPLE_NAMES = re.compile(r"^\s*\(\s*[a-zA-Z](?:\s*,\s*[a-zA-Z])*\s*\)\s*=")
_SHORT_FRAC = re.compile(r"\\frac ?(\\pi(?![a-zA-Z])|[0-9a-zA-Z]) ?(\\pi(?![a-zA-Z])|[0-9a-zA-Z])")
_PHANTOM = re.compile(r"\\[hv]?phantom ?(?:\{[^{}]*\}|.)")
_THIN = re.compile(r"\\[!;:]|(?<=[-+=,])\{\}|(?<=[0-9])\{,\}(?=[0-9])")
_LOG_E = re.compile(r"\\log ?_ ?(?:e|\{ ?(?:e|\\mathrm ?\{ ?e ?\}) ?\})")
_SUCH_THAT = re.compile(
    r"\\\{ ?[a-zA-Z] ?(?:\\in ?\\mathbb ?(?:\{ ?R ?\}|R) ?)?(?:\\(?:mid|vert)(?![a-zA-Z])|\||:)"
    r"(?P<which>[^|:]*(?:\|[^|:]*\|[^|:]*)?)\\\}"
)
_END = r"[^\[\](),;]{1,100}"
_INTERVAL = re.compile(rf"\s*(?P<low>[(\[\]])(?P<ends>{_END}[,;]{_END})(?P<high>[)\[\]])\s*")
_SET_OPERATOR = re.compile(r"(\\c[au]p(?![a-zA-Z]))")
_ROWS = re.compile(r"(?:Matrix\()?\[ ?(\[[^\[\]]+\](?: ?, ?\[[^\[\]]+\])*) ?\]\)?")


def _with_round_brackets(text: str) -> str:
    """``text``, where it is intervals, with round brackets at open ends, and commas: ]1;2] is (1,2]."""
    parts = _SET_OPERATOR.split(text)
    intervals = [_INTERVAL.fullmatch(part) for part in parts[::2]]
    if not any(each is not None and (each["low"] == "]" or each["high"] == "[" or ";" in each["ends"]) for each in intervals):
        return text
    for at, each in enumerate(intervals):
        if each is None:
            return text
        parts[2 * at] = f"{each['low'].replace(']', '(')}{each['ends'].replace(';', ',')}{each['high'].replace('[', ')')}"
    return "".join(parts)


def _with_rows(text: str) -> str:
    """``text``, where it is a list of lists, as a matrix: [[1,2],[3,4]]."""
    rows = _ROWS.fullmatch(text.strip())
    if rows is None:
        return text
    lines = r" \\ ".join(row.replace(",", "&") for row in re.findall(r"\[([^\[\]]+)\]", rows[1]))
    return rf"\begin{{pmatrix}} {lines} \end{{pmatrix}}"


def prepared(text: str) -> str:
    r"""``text`` with what Math-Verify misreads spelled in another way. Example: ``prepared("]1,2[")`` is ``"(1,2)"``."""
    text = text.replace("$", "").replace("\n", " ").replace("\\dfrac", "\\frac").replace("\\tfrac", "\\frac")
    text = _SHORT_FRAC.sub(r"\\frac{\1}{\2}", _PHANTOM.sub("", text))
    text = _THIN.sub("", _INVERSE.sub("", _TUPLE_NAMES.sub("", _MEMBER.sub("", text))))
    text = _POSITIVE.sub(r"(0,\\infty)", text)
    text = text.replace("\\langle", "(").replace("\\rangle", ")").replace("\\varnothing", "\\emptyset")
    text = text.replace("\\left[", "[").replace("\\right]", "]").replace("\\left(", "(").replace("\\right)", ")")
    text = _SUCH_THAT.sub(r"\g<which>", text.replace("\\left\\{", "\\{").replace("\\right\\}", "\\}"))
    text = _LOG_E.sub(r"\\ln ", _with_round_brackets(_with_rows(text)))
    text = _SCIENTIFIC.sub(r"\1 \\times 10^{\2}", text)
    if _TRIGONOMETRY.search(text):
        text = _DEGREES.sub(r"(\\frac{\1 \\pi}{180})", text)
    return _ANY_DEGREES.sub("", text).strip().rstrip(".,;")


_LETTER = re.compile(r"\\(?:text|mathrm|mathbb|mbox|operatorname) ?\{[^{}]*\}|\\[a-zA-Z]+|(?<=[0-9])E(?=[-+0-9])|([a-zA-Z])")
_SPARE = (r"\xi ", r"\zeta ", r"\kappa ", r"\upsilon ", r"\chi ", r"\psi ", r"\omega ", r"\rho ", r"\varphi ", r"\eta ")


def with_case(gold: str, answer: str) -> tuple[str, str]:
    r"""Both texts with capitals renamed where the small letter is there as well: the parser makes one symbol of R and r.

    Example: ``with_case("3R^2", "3r^2")`` is ``("3\xi ^2", "3r^2")``; ``with_case("3R", "R3")`` changes nothing.
    """
    letters = {match[1] for match in _LETTER.finditer(f"{gold} {answer}") if match[1]}
    capitals = sorted(letter for letter in letters if letter.isupper() and letter.lower() in letters)
    spare = [name for name in _SPARE if name.strip() not in gold + answer]
    names = dict(zip(capitals, spare, strict=False))
    if not names:
        return gold, answer
    one, other = (_LETTER.sub(lambda match: names.get(match[0], match[0]), text) for text in (gold, answer))
    return one, other


def read_formula(text: str, *, gold: bool = False) -> Any | None:
    """The SymPy tree of ``text``, as written: nothing is evaluated; None where it is no formula.

    Example: ``read_formula("0.5x")`` is a product of a Float and a real symbol x.
    """
    spelled = prepared(text)
    wrapped = f"${spelled}$" if gold else rf"\boxed{{{spelled}}}"
    parsed = parse(wrapped, extraction_config=_EXTRACTION, parsing_timeout=None)
    if not parsed or isinstance(parsed[0], str):
        return None
    # A number times a matrix is multiplied out; unevaluated, SymPy recurses over it without an end.
    return parsed[0].doit() if isinstance(parsed[0], sympy.MatrixExpr) else parsed[0]


def plain(tree: Any) -> Any:
    """``tree`` with symbols that assume nothing, the imaginary unit, and decimals as the fractions they spell."""
    if not isinstance(tree, sympy.Basic):
        return tree
    bound = tree.has(ExprWithLimits)
    swaps = {leaf: _leaf(leaf, bound) for leaf in tree.atoms(sympy.Symbol, sympy.Float)}
    return tree.xreplace(swaps)


def _leaf(leaf: Any, bound: bool) -> Any:
    if isinstance(leaf, sympy.Float):
        return sympy.Rational(str(leaf))
    return sympy.I if leaf.name == "i" and not bound else sympy.Symbol(leaf.name)
