"""Markdown of models -> HTML: what it shows, and what it never lets through."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.page.markup import MOST, html
from tests.page.hostile import PAYLOADS


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("*a* and **b**", "<p><em>a</em> and <strong>b</strong></p>"),
        ("one\ntwo", "<p>one<br />\ntwo</p>"),
        ("<b>no</b>", "<p>&lt;b&gt;no&lt;/b&gt;</p>"),
        ("[a](https://b.c)", '<p><span class="link">a</span> <code class="address">https://b.c</code></p>'),
        ("$a_1 < b_2$", '<p><code class="math">a_1 &lt; b_2</code></p>'),
        ("$5 and $6", "<p>$5 and $6</p>"),
        ("\\(x\\)", '<p><code class="math">x</code></p>'),
        ("`$x$`", "<p><code>$x$</code></p>"),
        ("$$\na\n- b\n$$", '<code class="math" data-display="1">a\n- b</code>'),
        ("\\[x\n\n= y\\]", '<code class="math" data-display="1">x\n\n= y</code>'),
        ("so $$x$$ then", '<p>so <code class="math" data-display="1">x</code> then</p>'),
        ("$ x $ costs", "<p>$ x $ costs</p>"),
        ("```py\n1 < x\n```", '<pre><code><span class="hl-number">1</span> &lt; x\n</code></pre>'),
        ('```"><img src=x>\n<b>\n```', "<pre><code>&lt;b&gt;\n</code></pre>"),
        ("    <b> = 1", "<pre><code>&lt;b&gt; = 1\n</code></pre>"),
    ],
)
def test_what_is_shown(text: str, shown: str) -> None:
    assert html(text).strip() == shown


TAGS = ("p", "em", "strong", "code", "pre", "span", "ul", "ol", "li", "blockquote", "br", "hr", "table", "thead", "tbody", "tr")
ALLOWED = tuple(f"<{slash}{tag}" for tag in (*TAGS, "td", "th", "s", *(f"h{n}" for n in range(1, 7))) for slash in ("", "/"))


@given(st.one_of(st.text(max_size=300), st.text(alphabet="<>&\"'`$\\()[]!*_~|-#\n aonerrj:=x", max_size=300)))
def test_no_text_makes_an_element_of_its_own(text: str) -> None:
    made = html(text)
    assert all(made[at:].startswith(ALLOWED) for at, letter in enumerate(made) if letter == "<")
    assert "<a" not in made
    assert not [letter for letter in made if "\ud800" <= letter <= "\udfff"]


@pytest.mark.parametrize("number", range(40))
def test_hostile_texts_are_bounded_work(number: int) -> None:
    started = time.perf_counter()
    made = html(PAYLOADS[number])
    assert time.perf_counter() - started < 5
    assert len(made) < 60 * MOST
