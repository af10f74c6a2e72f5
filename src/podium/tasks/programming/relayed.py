"""Tests with loops and functions of their own, judged in a sandbox in which the answer is not.

The test program runs against a table of replies (:mod:`podium.tasks.inside.checker`). Calls that are not in the table are
made in the answer's sandbox, and the test program starts again, until it comes to its end. The two sandboxes are never open
at the same time, so that a pool of any size can not lock itself up, and only plain data passes between them.
"""

import ast

from podium.tasks.programming.assertions import called_names
from podium.tasks.programming.runs import ProgramRuns
from podium.tasks.programming.target import AssertTests, UnittestTests
from podium.tasks.syntax import parse_module

MAX_ROUNDS = 12
MAX_CALLS = 600


class CanNotRelay(Exception):
    """The tests need objects of the answer, or too many calls. Never leaves this folder."""


def test_program(tests: AssertTests | UnittestTests) -> str:
    """The tests as one text, with the call of ``check`` where they leave that to the harness."""
    if isinstance(tests, UnittestTests):
        return "\n".join(tests.code)
    text = "\n".join(tests.asserts)
    tree = parse_module(text) or ast.Module([], [])
    is_defined = any(isinstance(node, ast.FunctionDef) and node.name == "check" for node in tree.body)
    is_called = any(isinstance(node, ast.Expr) and ast.unparse(node).startswith("check(") for node in tree.body)
    return f"{text}\ncheck({tests.entry})\n" if is_defined and not is_called and tests.entry else text


async def relayed_mismatch(runs: ProgramRuns, tests: AssertTests) -> str | None:
    """In words why the tests fail, or None. Raises :class:`CanNotRelay`, and what ``runs`` raises."""
    text = test_program(tests)
    tree = parse_module("\n".join([tests.setup, text])) or ast.Module([], [])
    replies: list[list[object]] = []
    for _ in range(MAX_ROUNDS):
        said = await runs.check(
            {
                "prelude": tests.prelude,
                "setup": tests.setup,
                "tests": text,
                "names": sorted(called_names(tests)),
                "classes": sorted(_instantiated(tree)),
                "replies": replies,
            }
        )
        if "passed" in said:
            return None if said["passed"] is True else str(said["why"])
        if "impossible" in said:
            raise CanNotRelay(str(said["impossible"]))
        wanted = said["wanted"]
        if len(replies) + len(wanted) > MAX_CALLS:
            break
        async with runs.calls() as call:
            for key in wanted:
                reply = await call.whole(key)
                replies.append([key, reply])
                if "dead" in reply:
                    break  # each further call could last as long as this one
    # Not a fault: what a program returns may be why there are so many.
    raise CanNotRelay(f"the tests make other calls each time, or more than {MAX_CALLS}")


def _instantiated(tree: ast.Module) -> set[str]:
    """Names of classes that are used as ``Name().method``."""
    nodes = [node.value for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Call)]
    return {node.func.id for node in nodes if isinstance(node.func, ast.Name) and not node.args and not node.keywords}
