"""Small Python functions: write one from its specification; another pair of eyes may review it."""

# ruff: noqa: E501 (one template a line)

from podium.gym.templates.template import template as t

TEMPLATES = (
    t("Write a Python function {f}({x}, {y}) that returns {k} times the larger of {x} and {y}, minus {j}.", "k * max(x, y) - j", k=(2, 9), j=(2, 30)),
    t("Write a Python function {f}({x}, {y}) that returns the sum of {x} and {y} multiplied by {k}.", "(x + y) * k", k=(3, 19)),
    t("Write a Python function {f}({x}, {y}) that returns {x} plus {k} times {y}, less {j}.", "x + k * y - j", k=(3, 15), j=(2, 25)),
    t("Define a Python function {f}({x}, {y}) giving the absolute difference of {x} and {y} plus {k}.", "abs(x - y) + k", k=(2, 40)),
    t("Define a Python function {f}({x}) that returns {x} doubled and then reduced by {k}, or {j} if that is larger.", "max(2 * x - k, j)", k=(3, 20), j=(2, 9)),
    t("Write a Python function {f}({x}, {y}, {z}) that returns the largest of the three arguments minus {k} times the smallest.", "max(x, y, z) - k * min(x, y, z)", k=(2, 9)),
    t("Implement {f}({x}) so that it returns {k} times {x} when {x} is greater than {j}, and {x} plus {j} otherwise.", "k * x if x > j else x + j", k=(2, 9), j=(2, 14)),
    t("Implement {f}({x}, {y}) so that it returns {x} minus {y} when {x} exceeds {y}, and {k} times their sum otherwise.", "x - y if x > y else k * (x + y)", k=(2, 9)),
    t("Write a Python function {f}({x}, {y}) that returns the remainder of {x} plus {y} divided by {k}.", "(x + y) % k", k=(4, 19)),
    t("Write a Python function {f}({x}) that returns {k} more than the square of {x}.", "x * x + k", k=(2, 60)),
    t("Define a Python function {f}({x}, {y}) that returns the product of {x} and {y} plus {k} times {x}.", "x * y + k * x", k=(2, 15)),
    t("Define a Python function {f}({x}, {y}) that returns the square of {x} minus {k} times {y}.", "x * x - k * y", k=(2, 15)),
    t("Implement {f}({x}) so that the result is never below {j}: it returns {x} minus {k}, but at least {j}.", "max(x - k, j)", k=(2, 12), j=(2, 9)),
    t("Implement {f}({x}) so that the result is never above {k}: it returns {j} times {x}, but at most {k}.", "min(j * x, k)", j=(2, 9), k=(12, 90)),
    t("Write a Python function {f}({x}, {y}) that returns {x} if {x} is divisible by {k}, and {y} plus {j} if not.", "x if x % k == 0 else y + j", k=(2, 4), j=(2, 19)),
    t("Write a Python function {f}({x}, {y}) returning {k} times the absolute value of {x}, plus {y}.", "k * abs(x) + y", k=(2, 15)),
    t("Define a Python function {f}({x}, {y}, {z}) that returns {x} times {y} minus {k} times {z}.", "x * y - k * z", k=(2, 15)),
    t("Define a Python function {f}({x}, {y}, {z}) giving the sum of its three arguments, with {z} counted {k} times.", "x + y + k * z", k=(2, 15)),
    t("Implement {f}({x}, {y}) to return the whole number of times {k} fits into {x} plus {j} times {y}.", "(x + j * y) // k", j=(2, 9), k=(3, 9)),
    t("Implement {f}({x}, {y}) to return the smaller of {k} times {x} and {j} times {y}.", "min(k * x, j * y)", k=(2, 9), j=(2, 9)),
    t("Write a Python function {f}({x}) which returns {x} plus {k} for negative {x} and {x} times {j} for all others.", "x + k if x < 0 else x * j", k=(2, 15), j=(2, 9)),
    t("Write a Python function {f}({x}, {y}) which returns {k} times {x} when the arguments are equal and their difference {x} minus {y} when they are not.", "k * x if x == y else x - y", k=(2, 9)),
    t("Define {f}({x}, {y}) as {k} times the gap between the larger and the smaller argument.", "k * (max(x, y) - min(x, y))", k=(2, 15)),
    t("Define {f}({x}, {y}) as the product of {x} plus {k} and {y} minus {j}.", "(x + k) * (y - j)", k=(2, 15), j=(2, 15)),
    t("A price starts at {x} and rises by {k} for each of {y} days. Write a Python function {f}({x}, {y}) for the final price less a rebate of {j}.", "x + k * y - j", k=(2, 15), j=(2, 25)),
    t("A game gives {k} points per hit and takes {j} points per miss. Write a Python function {f}({x}, {y}) for the score after {x} hits and {y} misses.", "k * x - j * y", k=(3, 15), j=(2, 9)),
    t("Write a Python function {f}({x}) for a fare of {k} coins per stop over {x} stops, plus {j} coins, with a minimum fare of {i} coins.", "max(k * x + j, i)", k=(2, 6), j=(2, 9), i=(15, 30)),
    t("Write a Python function {f}({x}, {y}) for the area left when a square of side {k} is cut out of a sheet of {x} by {y}.", "x * y - k * k", k=(2, 12)),
    t("Implement {f}({x}, {y}) to return the larger of {x} plus {k} and {y} times {j}.", "max(x + k, y * j)", k=(2, 19), j=(2, 9)),
    t("Implement {f}({x}) to return the remainder of {k} times {x} after division by {j}, plus {i}.", "k * x % j + i", k=(2, 9), j=(5, 19), i=(2, 30)),
    t("Define {f}({x}, {y}) to be {x} squared plus {y} squared, and in the end minus {k}.", "x * x + y * y - k", k=(2, 60)),
    t("Define {f}({x}, {y}) to be zero when {x} is below {y}, and {k} times {x} minus {y} otherwise.", "0 if x < y else k * x - y", k=(2, 9)),
    t("Return from {f}({x}, {y}) the sum of {x} and {y} if it is even, and {k} times that sum if it is odd. Write the Python function.", "x + y if (x + y) % 2 == 0 else k * (x + y)", k=(2, 9)),
    t("Return from {f}({x}, {y}, {z}) the middle result of taking {x} minus {y} and multiplying by {z} plus {k}. Write the Python function.", "(x - y) * (z + k)", k=(2, 15)),
    t("Write a Python function {f}({x}, {y}) whose value is {x} reduced by {k} percent points for each unit of {y}, never going under {j}.", "max(x - k * y, j)", k=(2, 6), j=(2, 9)),
    t("Write a Python function {f}({x}, {y}) whose value is {x} times {k} plus {y} divided by {j}, rounding the quotient down.", "x * k + y // j", k=(2, 12), j=(2, 7)),
)  # fmt: skip
