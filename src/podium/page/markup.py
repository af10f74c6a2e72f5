"""Markdown that a model wrote -> HTML that is safe to show.

The parser knows no HTML (it is escaped), loads no images, and shows the address of a link instead of following it. Formulas
become ``<code class="math">`` with their source inside, which the browser turns into MathML (``rich_text.js``); where that
fails the source stays readable. Code is coloured (:mod:`podium.page.colours`). DOMPurify and the page's
Content-Security-Policy stand behind this.
"""

from collections.abc import Sequence
from html import escape

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererProtocol
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from podium.page.colours import Colours
from podium.page.shown import clipped

MOST = 20_000
"""Characters of Markdown that are laid out; parsing a hostile text of this length takes well under a second."""
MOST_FORMULA = 1_500
"""A longer formula is shown as its source."""

_INLINE = (("$$", "$$", True), ("\\[", "\\]", True), ("\\(", "\\)", False), ("$", "$", False))
_BLOCK = (("$$", "$$"), ("\\[", "\\]"))


def html(text: str) -> str:
    """The first :data:`MOST` characters of ``text`` as HTML. Example: ``html("*a* <b>") == "<p><em>a</em> &lt;b&gt;</p>\\n"``."""
    return str(_PARSER.render(clipped(text, MOST)))


def _formula(state: StateInline, silent: bool) -> bool:
    for opening, closing, display in _INLINE:
        if not state.src.startswith(opening, state.pos):
            continue
        start = state.pos + len(opening)
        end = state.src.find(closing, start, min(state.posMax, start + MOST_FORMULA))
        source = state.src[start:end] if end > start else ""
        if not source.strip() or (opening == "$" and _is_money(source, state.src[end + 1 : end + 2])):
            continue
        if not silent:
            token = state.push("math", "", 0)
            token.content, token.meta = source.strip(), {"display": display}
        state.pos = end + len(closing)
        return True
    return False


def _is_money(source: str, after: str) -> bool:
    """A dollar sign opens a formula only before a letter and closes it only behind one: "$5 and $6" is no formula."""
    return source[0].isspace() or source[-1].isspace() or after.isdigit()


def _formula_block(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """A formula on lines of its own; its inside is not read as Markdown."""
    start = state.src[state.bMarks[first] + state.tShift[first] : state.eMarks[first]]
    for opening, closing in _BLOCK:
        if not start.startswith(opening):
            continue
        begin = state.bMarks[first] + state.tShift[first] + len(opening)
        end = state.src.find(closing, begin, min(state.eMarks[last - 1], begin + MOST_FORMULA))
        if end <= begin or not state.src[begin:end].strip():
            continue
        on = next(number for number in range(first, last) if state.eMarks[number] >= end)
        if state.src[end + len(closing) : state.eMarks[on]].strip():
            continue
        if not silent:
            token = state.push("math", "", 0)
            token.content, token.meta, token.block = state.src[begin:end].strip(), {"display": True}, True
            state.line = on + 1
        return True
    return False


def _shown_formula(renderer: RendererProtocol, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
    token = tokens[index]
    display = ' data-display="1"' if token.meta["display"] else ""
    return f'<code class="math"{display}>{escape(token.content)}</code>'


def _shown_code(renderer: RendererProtocol, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
    """A fenced block. All blocks of one answer share the time there is for colours."""
    colours: Colours = env.setdefault("colours", Colours())
    token = tokens[index]
    return f"<pre><code>{colours.html(token.content, token.info.strip())}</code></pre>\n"


def _link_open(renderer: RendererProtocol, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
    env.setdefault("addresses", []).append(str(tokens[index].attrGet("href") or ""))
    return '<span class="link">'


def _link_close(renderer: RendererProtocol, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
    address = escape(env["addresses"].pop())
    return f'</span> <code class="address">{address}</code>'


def _parser() -> MarkdownIt:
    parser = (
        MarkdownIt("commonmark", {"html": False, "breaks": True, "maxNesting": 20})
        .enable(["table", "strikethrough"])
        .disable("image")
    )
    parser.inline.ruler.before("escape", "math", _formula)
    parser.block.ruler.before("fence", "math", _formula_block, {"alt": ["paragraph", "blockquote", "list"]})
    for name, rule in (
        ("fence", _shown_code),
        ("math", _shown_formula),
        ("link_open", _link_open),
        ("link_close", _link_close),
    ):
        parser.add_render_rule(name, rule)
    return parser


_PARSER = _parser()
