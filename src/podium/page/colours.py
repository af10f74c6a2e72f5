"""Code that a model wrote -> HTML with its words coloured, by Pygments. Spans with classes of ours; everything else escaped.

The regular expressions of a lexer may take a second, or an hour, for a text made to hurt them. So only languages that were
measured are coloured; text that is no code by its shape stays plain; and code that takes too long stays plain as well.
"""

import re
import time
from functools import cache
from html import escape
from itertools import groupby

from pygments.lexer import Lexer, RegexLexer, words
from pygments.lexers import get_all_lexers, get_lexer_by_name
from pygments.token import Comment, Generic, Keyword, Literal, Name, Number, Operator, String, Text, Token, _TokenType

SECONDS = 0.25
"""Seconds of work that the code of one answer may take; 20,000 characters of a real program take a sixth of it."""
_LONGEST_LINE = 400
_LONGEST_GAP = 200
"""Longer lines, and longer runs of nothing but white space, are no code that anybody reads; some lexers choke on them."""

_MEASURED = (
    "bash c cpp csharp css diff docker go haskell html ini java javascript json kotlin lua make perl php python ruby rust scala "
    "sql swift toml typescript xml yaml"
)
_MORE = {"h": "c", "cc": "cpp", "hpp": "cpp", "patch": "diff", "mjs": "javascript", "jsx": "javascript", "jsonc": "json"}
_MORE |= {"kt": "kotlin", "latex": "latex", "tex": "latex", "r": "r", "tsx": "typescript", "svg": "xml"}
LANGUAGES = {
    **{
        word: names[0]
        for _, names, *_ in get_all_lexers(plugins=False)
        if names and names[0] in _MEASURED.split()
        for word in names
    },
    **_MORE,
}
"""What may stand behind the fence -> Pygments' name of the language. Each was measured: tests/page/test_colours.py."""

CLASSES = {
    Comment: "note",
    Generic.Deleted: "gone",
    Generic.Heading: "name",
    Generic.Inserted: "new",
    Generic.Subheading: "name",
    Keyword: "key",
    Keyword.Constant: "number",
    Keyword.Type: "type",
    Literal: "number",
    Name.Attribute: "name",
    Name.Builtin: "type",
    Name.Class: "name",
    Name.Decorator: "name",
    Name.Exception: "type",
    Name.Function: "name",
    Name.Tag: "key",
    Number: "number",
    Operator.Word: "key",
    String: "text",
}
"""Kind of word -> what it is called in page.css, behind ``hl-``. What is not here, nor any wider kind of it, has no colour."""


class _Bounded(RegexLexer):  # type: ignore[misc]  # Pygments has no types
    """Java and C#, word by word. Pygments' own lexers for them look for whole signatures, and take hours to find none."""

    _KEYS = (
        "abstract as assert async await base break case catch class const continue default delegate do else enum event extends "
        "final finally for foreach get goto if implements import in instanceof interface internal is lock namespace new operator "
        "out override package params private protected public readonly record ref return sealed set static struct super switch "
        "synchronized this throw throws transient try typeof using virtual volatile when where while with yield"
    )
    _TYPES = "bool boolean byte char decimal double dynamic float int long object short string uint ulong ushort var void"
    tokens = {  # noqa: RUF012 - what Pygments asks for
        "root": [
            (r"//[^\n]*", Comment),
            (r"/\*[^*]*(?:\*(?!/)[^*]*)*(?:\*/)?", Comment),
            (r'"""(?:[^"]|"(?!""))*"{0,3}', String),
            (r'[$@]{0,2}"(?:\\.|[^"\\\n])*"?', String),
            (r"'(?:\\.|[^'\\\n])*'?", String),
            (r"@\w+", Name.Decorator),
            (r"\d[\w.]*", Number),
            (words(("true", "false", "null"), suffix=r"\b"), Keyword.Constant),
            (words(_KEYS.split(), suffix=r"\b"), Keyword),
            (words(_TYPES.split(), suffix=r"\b"), Keyword.Type),
            (r"\w+(?=\()", Name.Function),
            (r"\w+", Name),
            (r"[^\w\"'/@$]+|.", Text),
        ]
    }


_OTHERS_INSIDE = '<a style="b:c" onclick="d">\n<script>1</script>\n<style>a{}</style>\nRUN a\nCMD ["a"]\na:\n\tb\n'
_WORD = re.compile(r"[\w#+.-]{1,20}")


class Colours:
    """Colours the code of one answer. Example: ``Colours().html("1", "py") == '<span class="hl-number">1</span>'``."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self._left = seconds

    def html(self, code: str, language: str) -> str:
        """``code`` as HTML; ``language`` is all that stands behind the fence. Plain where it can not be coloured in time."""
        found = _WORD.match(language)
        name = LANGUAGES.get(found[0].lower()) if found else None
        if name is None or not _is_shaped_like_code(code):
            return escape(code)
        lexer = _lexer(name)
        parts: list[tuple[str, str]] = []
        # The time of this thread, not the clock's: a busy machine changes no colours.
        until = time.thread_time() + self._left
        for _, kind, word in lexer.get_tokens_unprocessed(code):
            parts.append((_class(kind), word))
            if time.thread_time() > until:
                self._left = 0.0
                return escape(code)
        self._left = until - time.thread_time()
        if "".join(word for _, word in parts) != code:
            return escape(code)  # a lexer's mistake; what was said is shown as it was said
        return "".join(_span(name, "".join(word for _, word in run)) for name, run in groupby(parts, key=lambda each: each[0]))


def _is_shaped_like_code(code: str) -> bool:
    return max(map(len, code.split("\n"))) <= _LONGEST_LINE and re.search(rf"\s{{{_LONGEST_GAP}}}", code) is None


def _span(name: str, words: str) -> str:
    return f'<span class="hl-{name}">{escape(words)}</span>' if name and not words.isspace() else escape(words)


@cache
def _lexer(name: str) -> Lexer:
    # startinline is PHP's: models show pieces of programs, without the mark at their beginning.
    lexer = _Bounded() if name in ("csharp", "java") else get_lexer_by_name(name, startinline=True)
    # Languages inside others (scripts in HTML) are compiled when they are met first: now, not in the time of an answer.
    for _ in lexer.get_tokens_unprocessed(_OTHERS_INSIDE):
        pass
    return lexer


@cache
def _class(kind: _TokenType) -> str:
    """The class of a kind of word, or of the nearest wider kind that has one."""
    while kind is not Token and kind not in CLASSES:
        kind = kind.parent
    return CLASSES.get(kind, "")
