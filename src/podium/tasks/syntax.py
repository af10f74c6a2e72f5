"""Texts read as Python syntax, by one thread at a time.

Python 3.11.0 to 3.11.7 count the depth of all threads' syntax trees in one number, and end with a SystemError where two
threads build trees at once (CPython issue 106905). The warnings that are silenced meanwhile belong to all threads as well.
"""

import ast
import threading
import warnings

_ONE_AT_A_TIME = threading.Lock()
_NO_PYTHON = (SyntaxError, ValueError, RecursionError, MemoryError)


def parse_module(text: str) -> ast.Module | None:
    """The syntax tree of a program, or None where ``text`` is no Python; hostile texts included."""
    tree = _parse(text, "exec")
    return tree if isinstance(tree, ast.Module) else None


def parse_expression(text: str) -> ast.Expression | None:
    """The syntax tree of one expression, or None where ``text`` is none. Example: ``parse_expression("[1, 2]")``."""
    tree = _parse(text, "eval")
    return tree if isinstance(tree, ast.Expression) else None


def _parse(text: str, mode: str) -> ast.AST | None:
    with _ONE_AT_A_TIME, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes in an answer, such as "\d", are no concern of ours
        try:
            return ast.parse(text, mode=mode)
        except _NO_PYTHON:
            return None
