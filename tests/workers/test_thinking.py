"""Thinking stays out of the answer however the text is cut into pieces."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.workers.thinking import AnswerText


def _answer(pieces: list[str]) -> tuple[str, str]:
    """What it returns, and what a listener is left with."""
    heard: list[str] = []

    def listen(piece: str | None) -> None:
        if piece is None:
            heard.clear()
        else:
            heard.append(piece)

    answer = AnswerText(listen)
    for piece in pieces:
        answer.feed(piece)
    return answer.finish(), "".join(heard)


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("42", "42"),
        ("", ""),
        ("  42 \n", "  42 \n"),
        ("<think>6*7</think>42", "42"),
        ("\n <think>6*7</think>\n\n42 \n", "42 \n"),
        ("<think></think>42", "42"),
        ("<think>never closed", ""),
        ("<think>a</think>  ", ""),
        ("template wrote the tag</think>\n42", "42"),
        ("Write <think> and </think> around it.", "Write <think> and </think> around it."),
        ("<think>a</think>Write </think> after it.", "Write </think> after it."),
        ("a <b> </b> <", "a <b> </b> <"),
        ("<thin", "<thin"),
        ("5 </thinking", "5 </thinking"),
    ],
)
def test_golden(reply: str, answer: str) -> None:
    assert _answer([reply]) == (answer, answer)
    assert _answer(list(reply)) == (answer, answer)


@given(st.lists(st.sampled_from(["<think>", "</think>", "<th", "ink>", "</", "think>", " ", "\n", "a", "<", "42"]), max_size=12))
@settings(deadline=None)
def test_pieces_do_not_matter(pieces: list[str]) -> None:
    whole = _answer(["".join(pieces)])
    assert _answer(pieces) == whole
    assert _answer(list("".join(pieces))) == whole
    assert whole[0] == whole[1]
