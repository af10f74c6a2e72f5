"""What a question asks for besides its answer: a form that its verifier can read. One sentence per kind.

The sentence is not part of ``Problem.question``: the same problem from two copies keeps one id, train and test compare by
what is asked and not by how, and a policy is shown the bare question. It is added last, by :func:`instructed`, when
problems go to workers. The id changes with it, on purpose: an answer to other words is another answer, and a resumed
evaluation must not take one for the other.
"""

from collections.abc import Mapping
from dataclasses import replace

from podium.errors import ConfigError
from podium.types import Problem

INSTRUCTIONS: Mapping[str, str] = {
    "mathematics": "Reason step by step and put the final answer in \\boxed{}.",
    "multiple_choice": "Exactly one option is right. Reason step by step and put its letter in \\boxed{}.",
    "free_form": "Reason step by step and put the final answer, with its unit if it has one, in \\boxed{}.",
    "programming": "Write a complete Python program or function, imports included, in one ```python block at the end.",
    "countdown": "Put one arithmetic expression in \\boxed{}, for example \\boxed{(8 - 2) * 4}.",
    "output-prediction": 'End with a line "Answer: " followed by the returned value as a Python literal.',
}
"""Kind -> sentence."""


def instructed(problem: Problem, instructions: Mapping[str, str] = INSTRUCTIONS) -> Problem:
    """``problem`` with the sentence of its kind behind the question, after an empty line.

    Example: ``[instructed(problem) for problem in load("gsm8k", split="test")]``. Raises :class:`ConfigError` for a kind
    without a sentence.
    """
    if problem.kind not in instructions:
        raise ConfigError(f"no instruction for problems of the kind {problem.kind!r}; there are {', '.join(instructions)}")
    return replace(problem, question=f"{problem.question}\n\n{instructions[problem.kind]}")
