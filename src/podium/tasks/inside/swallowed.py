"""Which errors a context manager of the program may swallow: those that the tests raise to see what it does, and no other.

``with Ignoring(ValueError): raise ValueError`` is such a one, and so is ``int("x")``. A failed assertion, an error of the
program and whatever else happens to one of the tests' names is not: the tests would end in the middle, and pass.
"""

import ast
import builtins
import linecache
from typing import Any

TESTS = "<tests>"


def is_own_error(error: BaseException) -> bool:
    """Whether the statement of the tests that raised ``error`` is a ``raise``, or made of constants and names of Python only."""
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == TESTS:
            line = trace.tb_lineno
        trace = trace.tb_next
    found: Any = None
    for node in ast.walk(ast.parse("".join(linecache.getlines(TESTS)))):
        # The walk goes from the outside to the inside, so the last one is the innermost.
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or 0):
            found = node
    if found is None or isinstance(found, ast.Raise):
        return found is not None
    names = [node.id for node in ast.walk(found) if isinstance(node, ast.Name)]
    return all(hasattr(builtins, name) for name in names)
