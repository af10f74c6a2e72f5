r"""Which part of a reply states the final answer of a mathematical problem. What it means is for ``verifier.py``."""

from collections.abc import Iterator

from podium.tasks.extraction import after_hashes, anchored, is_blank, json_field, last_boxed, last_line, without_thinking
from podium.tasks.quantities.numbers import read_quantity


def final_answer(text: str) -> str | None:
    r"""The part of ``text`` that states the final answer, or None where nothing does; the first of these that is there:

    1. the last ``\boxed{...}`` whose braces close,
    2. what follows ``####`` in the last line,
    3. the value of the last ``"answer":`` of JSON, unless prose behind it says that the answer is another number,
    4. what follows the last "answer is" or "answer:" up to the end of the sentence (or of the quotes),
    5. what follows the last ``####`` up to the end of its line,
    6. the last line, where all of it is a number without a unit.

    What only holds the place of an answer ("___") is none. Thinking (up to the last ``</think>``) is not part of the answer.
    Examples: ``final_answer("It is 4, so 42 is out.")`` is None; ``final_answer("The answer is 42 eggs.")`` is ``"42 eggs"``.
    """
    end = without_thinking(text)
    if end is None:
        return None
    return next((candidate for candidate in _candidates(end) if candidate and not is_blank(candidate)), None)


def _candidates(text: str) -> Iterator[str]:
    yield last_boxed(text)
    line = last_line(text)
    yield after_hashes(line).strip("* ")  # elsewhere it is a heading, as a rule
    field, behind = json_field(text)
    corrected = anchored(behind) if field else ""
    yield corrected if corrected and read_quantity(corrected) is not None else field
    yield anchored(text)
    yield after_hashes(text).strip("* ")
    quantity = read_quantity(line)
    yield line if quantity is not None and not quantity.unit and "=" not in line else ""
