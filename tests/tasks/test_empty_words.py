"""Words that answer nothing, and answers in fences: what two models have in common that is no agreement."""

import pytest

from podium.tasks.agreement import Reading
from podium.tasks.empty_words import is_refusal, without_closing


def agree(*answers: str, question: str = "What?") -> bool:
    return Reading(question).agreed(answers, 2) != ()


@pytest.mark.parametrize(
    "refusal",
    [
        "I'm sorry, but I can't help with that.",
        "I cannot answer this question.",
        "Sorry, I am unable to determine that.",
        "Unfortunately, I’m not able to help with this request.",
        "I don't know.",
        "**I can’t assist with that.**",
        "\u200b",
    ],
)
def test_two_refusals_agree_on_nothing(refusal: str) -> None:
    assert not agree(refusal, refusal)


@pytest.mark.parametrize("answer", ["Unknown", "It cannot be determined.", "N/A", "I don't know, but the answer is 42", "[]"])
def test_what_may_be_the_answer_is_a_voice(answer: str) -> None:
    assert not is_refusal(answer)
    assert agree(answer, answer)


def test_the_same_goodbye_is_no_agreement() -> None:
    goodbye = "\n\nLet me know if you need anything else!"
    assert not agree(f"The capital is Paris.{goodbye}", f"The capital is Rome.{goodbye}")
    assert agree(f"Paris{goodbye}", "Paris\n\nI hope this helps. If you have questions, ask.")
    assert without_closing("Let me know when.") == "Let me know when."


def fenced(json: str, before: str = "Here it is:", after: str = "") -> str:
    return f"{before}\n```json\n{json}\n```{after}"


def test_json_in_a_fence_is_read_whole() -> None:
    bob, rob = '{\n "name": "Bob",\n "age": 3\n}', '{\n "name": "Rob",\n "age": 4\n}'
    assert not agree(fenced(bob), fenced(rob)), "both end with a brace"
    assert agree(fenced(bob), '{"age": 3, "name": "Bob"}')
    assert agree(fenced(bob, "Sure!"), fenced(bob, after="\n\nHope this helps!"))
    assert agree(fenced('{"a": {"x": 1, "y": 2}}'), '{"a": {"y": 2, "x": 1}}')
    assert not agree(fenced('{"a": 1}'), fenced('{"a": 2}'))
    assert agree(fenced('{"a": 3}', before="Answer: 7"), "7"), "what the words state counts"


def test_code_in_fences_is_read_without_its_spaces() -> None:
    assert agree("```python\ndef f(x):\n    return x+1\n```", "```\ndef f(x):\n\treturn x + 1\n```")
    assert not agree("```python\ndef f(x):\n    return x+1\n```", "```python\ndef f(x):\n    return x+2\n```")


def test_a_text_about_others_is_no_voice_of_theirs() -> None:
    assert not agree("All models agree on 41.\nAnswer: 42", "Answer: 41")
    assert not agree("\\boxed{42} no wait \\boxed{41}", "\\boxed{42}")
    assert agree("\\boxed{4} \\boxed{42}", "42")
