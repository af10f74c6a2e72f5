"""Reading one list literal out of hostile text: never evaluates, never backtracks, does a bounded amount of work.

All tolerance of the workflow language is in the two tables below. What is outside them is an error, because a mistake
that the parser repairs is one the policy never unlearns.
"""

import re

Literal = int | float | str | None | list["Literal"]

MAX_ITEMS = 1024
"""Items read of one list; far above any ``max_steps``, and low enough that a megabyte of commas costs milliseconds."""
MAX_DIGITS = 9
"""Digits of a worker or step number."""
MAX_DEPTH = 2
"""The access list is a list of lists; nothing is nested deeper."""
MAX_ESCAPES = 20_000
"""Backslashes in one string; bounds both the search for its end and the reading of its escapes."""


def _string(opening: str, inside: str, closing: str) -> re.Pattern[str]:
    # Possessive, so that a failed match is not tried again with less; counted, so that it ends on any text.
    return re.compile(rf"{opening}(?:{inside}|\\.){{0,{2 * MAX_ESCAPES + 1}}}+{closing}", re.DOTALL)


# What may open a string, and the pattern of the whole string. Smart quotes are what word processors and some models put;
# a raw line break inside a string is taken as it is.
_STRINGS = {
    '"""': _string('"""', r'[^"\\]++|"(?!"")', '"""'),
    "'''": _string("'''", r"[^'\\]++|'(?!'')", "'''"),
    '"': _string('"', r'[^"\\]++', '"'),
    "'": _string("'", r"[^'\\]++", "'"),
    "“": _string("“", r"[^”\\]++", "”"),
    # The closing single smart quote is also an apostrophe: it closes only in front of a comma or a bracket.
    "‘": _string("‘", r"[^’\\]++|’(?!\s*+[,\]])", "’"),
}
# Escapes as in Python and JSON, but for two kinds that are nearly always LaTeX written with one backslash too few:
# control characters that are never meant (\f as in \frac, \b as in \beta, \a, \v), and these commands, spelled out exactly.
_LATEX = (
    r"n(?:e|eq|u|abla|ot|eg|parallel|mid|i)|r(?:ight|ho|angle|ceil|floor|m)"
    r"|t(?:imes|heta|au|an|anh|o|op|ext|extbf|extit|frac|riangle|ilde)"
)
_ESCAPE = re.compile(
    rf"\\(?:(?P<latex>(?:{_LATEX})(?![A-Za-z]))"
    r"|(?P<plain>[ntr\"'\\/\n“”‘’])"
    r"|(?P<code>x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}))"
)
_PLAIN = {"n": "\n", "t": "\t", "r": "\r", "\n": ""}
_SURROGATES = re.compile(r"[\ud800-\udbff][\udc00-\udfff]")

_SPACE = re.compile(r"\s*+")
_INTEGER = re.compile(r"[+-]?\d++(?![\w.])", re.ASCII)
_FRACTION = re.compile(r"[+-]?\d{1,9}\.\d{0,9}(?![\w.])", re.ASCII)
_NOTHING = re.compile(r"(?:None|null|True|true|False|false)\b")
_ALL = re.compile(r"all\b", re.IGNORECASE)


class NotALiteral(Exception):
    """The text at ``position`` is no list literal; parse.py makes a WorkflowError of it.

    ``work`` is what finding out cost, in units of about a microsecond.
    """

    def __init__(self, reason: str, position: int, work: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.position = position
        self.work = work


def read_list(text: str, start: int) -> tuple[list[Literal], int, int]:
    """The list literal that opens with the bracket at ``text[start]``, the position behind it, and the work it took.

    Example: ``read_list("x = [0, 'a'] etc", 4) == ([0, "a"], 12, 4)``. The bare word ``all`` reads as the string.
    Raises :class:`NotALiteral`.
    """
    outer: list[Literal] = []
    open_lists = [outer]
    position = start + 1
    items = work = 0
    expect_item = True  # False: behind an item, where a comma or a bracket must follow

    def fail(reason: str) -> NotALiteral:
        return NotALiteral(reason, position, 2 * items + work + (position - start) // 64)

    while True:
        position = _end(_SPACE, text, position)
        character = text[position : position + 1]
        if character == "]":
            position += 1
            closed = open_lists.pop()
            if not open_lists:
                return closed, position, 2 * items + work
            expect_item = False
        elif character == "":
            raise fail("the list is not closed")
        elif not expect_item:
            if character != ",":
                raise fail("expected a comma or a closing bracket")
            position += 1
            expect_item = True
        else:
            items += 1
            if items > MAX_ITEMS:
                raise fail(f"the list has more than {MAX_ITEMS} items")
            if character == "[":
                if len(open_lists) >= MAX_DEPTH:
                    raise fail("lists are nested too deep")
                inner: list[Literal] = []
                open_lists[-1].append(inner)
                open_lists.append(inner)
                position += 1
                continue
            before = position
            try:
                value, position = _read_scalar(text, position)
            except NotALiteral as error:
                position = max(position, error.position)
                raise fail(error.reason) from None
            open_lists[-1].append(value)
            work += text.count("\\", before, position) // 3
            expect_item = False


def _read_scalar(text: str, position: int) -> tuple[Literal, int]:
    number = _INTEGER.match(text, position)
    if number is not None:
        if len(number[0]) > MAX_DIGITS:
            raise NotALiteral(f"a number has more than {MAX_DIGITS} digits", number.end(), 0)
        return int(number[0]), number.end()
    # Literals too, but of a kind no list of ours holds: read so that the error can name the entry and not the list.
    fraction = _FRACTION.match(text, position)
    if fraction is not None:
        return float(fraction[0]), fraction.end()
    nothing = _NOTHING.match(text, position)
    if nothing is not None:
        return None, nothing.end()
    word = _ALL.match(text, position)
    if word is not None:
        return "all", word.end()
    quote = text[position : position + 3]
    if quote not in _STRINGS:
        quote = text[position : position + 1]
    if quote not in _STRINGS:
        raise NotALiteral("expected a string, an integer or a list", position, 0)
    string = _STRINGS[quote].match(text, position)
    if string is None:
        raise NotALiteral(f"a string is not closed, or has more than {MAX_ESCAPES} backslashes", len(text), 0)
    body = text[position + len(quote) : string.end() - len(quote)]
    return _unescape(body), string.end()


def _unescape(body: str) -> str:
    if "\\" not in body:
        return body
    return _SURROGATES.sub(_joined, _ESCAPE.sub(_replacement, body))


def _joined(pair: re.Match[str]) -> str:
    """JSON writes a character beyond the first 65,536 as two escapes."""
    return pair[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def _replacement(escape: re.Match[str]) -> str:
    if escape["plain"] is not None:
        return _PLAIN.get(escape["plain"], escape["plain"])
    if escape["code"] is not None:
        code = int(escape["code"][1:], 16)
        return chr(code) if code <= 0x10FFFF else escape[0]
    return escape[0]


_QUOTED = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_TO_QUOTE = re.compile(r'[\\"\x00-\x1f\x7f\ud800-\udfff]')


def quote(text: str) -> str:
    """``text`` as a string literal that :func:`read_list` reads back exactly. Example: ``quote('a"b') == '"a\\\\"b"'``."""

    def escaped(match: re.Match[str]) -> str:
        character = match[0]
        followed_by_letter = text[match.end() : match.end() + 1].isascii() and text[match.end() : match.end() + 1].isalpha()
        # "\n" in front of letters could spell a LaTeX command, so it is written by number there.
        if character in _QUOTED and not (character in "\n\t\r" and followed_by_letter):
            return _QUOTED[character]
        return f"\\u{ord(character):04x}"

    return '"' + _TO_QUOTE.sub(escaped, text) + '"'


def _end(pattern: re.Pattern[str], text: str, position: int) -> int:
    match = pattern.match(text, position)
    return position if match is None else match.end()
