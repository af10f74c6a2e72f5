"""Coloured code: what it shows, what it leaves plain, how long a hostile program may take, and that it can be read."""

import re
import time
from html import unescape
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import podium.page
from podium.page.colours import CLASSES, LANGUAGES, Colours
from podium.page.markup import MOST, html

CSS = (Path(podium.page.__file__).parent / "page.css").read_text()
HOSTILE = (
    "\n\t",
    " ",
    "a b ",
    "a\n",
    "a.b",
    "\\'a\t",
    '"',
    "(",
    "<a ",
    "<!--",
    "/*",
    'R"(',
    "$$1.",
    "public ",
    ":=>,,,",
    "{",
    "\\\n",
)
"""Repeated, each of these keeps one of Pygments' lexers busy for seconds."""


@pytest.mark.parametrize(
    ("language", "code", "shown"),
    [
        ("python", "def f(): 1", "[key def] [name f](): [number 1]"),
        ("Py linenos", "1", "[number 1]"),
        ("js", "'<b>'", "[text &#x27;&lt;b&gt;&#x27;]"),
        ("java", "new A(); // x", "[key new] [name A](); [note // x]"),
        ("php", "return 1;", "[key return] [number 1];"),
        ("diff", "-a\n+b\n", "[gone -a]\n[new +b]\n"),
        ("html", "<b>", "&lt;[key b]&gt;"),
        ("brainfuck", "1 < 2", "1 &lt; 2"),
        ("", "1", "1"),
        ('"><img src=x>', "1", "1"),
        ("python", "1" * 500, "1" * 500),
        ("python", "1" + " " * 300 + "2", "1" + " " * 300 + "2"),
    ],
)
def test_what_is_coloured(language: str, code: str, shown: str) -> None:
    made = re.sub(r'<span class="hl-([a-z]+)">([^<]*)</span>', r"[\1 \2]", Colours().html(code, language))
    assert made == shown


@pytest.mark.parametrize("language", sorted(set(LANGUAGES.values())))
@given(code=st.one_of(st.text(max_size=200), st.text(alphabet="<>&\"'`/\\*#@$%(){}[]=:;-+ \n\tab0_", max_size=200)))
def test_no_code_is_lost_or_becomes_an_element(language: str, code: str) -> None:
    made = Colours().html(code, language)
    bare = re.sub(r'<span class="hl-[a-z]+">|</span>', "", made)
    assert "<" not in bare
    assert unescape(bare) == code


@pytest.mark.parametrize("language", sorted(set(LANGUAGES.values())))
def test_hostile_code_is_left_soon_after_its_time_is_over(language: str) -> None:
    Colours().html("", language)  # its regular expressions are compiled once
    for piece in HOSTILE:
        long = piece * MOST
        code = "\n".join(long[at : at + 390] for at in range(0, MOST, 390))
        started = time.thread_time()
        Colours(seconds=0.02).html(code, language)
        assert time.thread_time() - started < 1, repr(piece)


def test_all_blocks_of_an_answer_share_its_time() -> None:
    block = "\n".join(["'" + "\\'a\t" * 90] * 12)
    answer = f"```js\n{block}\n```\n\n" * 4
    started = time.thread_time()
    html(answer)
    assert time.thread_time() - started < 2
    spent = Colours(seconds=0)
    assert spent.html("1", "py") == "1"


def test_a_long_program_is_coloured_in_time() -> None:
    program = Path(__file__).read_text() * 10
    assert Colours().html(program[:MOST], "python").count('<span class="hl-') > 500


def test_every_colour_is_read_in_light_and_in_dark() -> None:
    """WCAG 2.2, AA: 4.5 to 1 against the ground of code."""
    themes = [dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block)) for block in re.findall(r":root[^{]*\{([^}]*)\}", CSS)]
    assert len(themes) == 3, "light, dark by the system, dark by choice"
    assert themes[1] == themes[2]
    assert re.search(r"\.rich pre \{ background: var\(--raised\)", CSS)
    for name in set(CLASSES.values()):
        colour = re.search(rf"\.hl-{name} {{ color: var\(--([\w-]+)\)", CSS)
        assert colour is not None, name
        for theme in themes:
            assert contrast(theme[colour[1]], theme["raised"]) >= 4.5, name


def contrast(one: str, other: str) -> float:
    low, high = sorted((_light(one), _light(other)))
    return (high + 0.05) / (low + 0.05)


def _light(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
