"""Test asserts taken apart on the host: which calls they make, and what must hold of the results.

``assert f([1], k=2) == [2], "msg"``, ``assert abs(f(x) - 0.5) < 1e-6``, ``assert set(f(x)) == {1}``, ``assert not f(x)``
and the like, as a list or as the body of a ``def check(candidate)``. The calls of the function under test are made in the
sandbox; everything else in the expression is evaluated here by a small evaluator that knows plain data, arithmetic within
bounds and a few functions, never by ``eval``. ``==`` against a float has the tolerance of ``outputs.py``.

Tests that hold more (loops, set-up code, other functions) are not read at all; they are for ``relayed.py``.
"""

import ast
import builtins
from dataclasses import dataclass

from podium.tasks.programming.expressions import Caller, Evaluator, NotReadHere, is_known
from podium.tasks.programming.target import AssertTests, UnittestTests
from podium.tasks.syntax import parse_module

_FAULTS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
_BUILTINS = frozenset(dir(builtins))


@dataclass(frozen=True, slots=True, kw_only=True)
class Assertion:
    """One ``assert``. Example: ``Assertion(test=ast.parse("f(1) == 2", mode="eval").body, entries={"f": "f"})``."""

    test: ast.expr
    entries: dict[str, str]
    """Name in the test -> entry in the program: ``{"candidate": "add"}``."""

    async def mismatch(self, call: Caller) -> str | None:
        """In words why it does not hold, or None where it holds. Raises :class:`NotReadHere`, and what ``call`` raises."""
        evaluator = Evaluator(call, self.entries)
        try:
            holds = bool(await evaluator.value(self.test))
        except _FAULTS as error:
            return f"{self.text} raised {type(error).__name__}{evaluator.seen}"
        except RecursionError as error:
            raise NotReadHere("nested too deep") from error
        return None if holds else f"{self.text} does not hold{evaluator.seen}"

    @property
    def text(self) -> str:
        """The assert as Python, cut at 200 characters."""
        text = ast.unparse(self.test)
        return text if len(text) <= 200 else text[:200] + "..."


def read_assertions(tests: AssertTests) -> tuple[Assertion, ...] | None:
    """The asserts of ``tests`` in order, or None where they hold more than can be read here."""
    tree = parse_module("\n".join(tests.asserts))
    if tree is None or tests.setup.strip():
        return None
    statements, entries = tree.body, {}
    checks = [node for node in statements if isinstance(node, ast.FunctionDef) and node.name == "check"]
    if checks:
        if len(checks) > 1 or len(checks[0].args.args) != 1:
            return None
        called = [_checked(node) for node in statements]
        entry = next((name for name in reversed(called) if name), tests.entry)
        if not entry:
            return None
        entries = {checks[0].args.args[0].arg: entry, entry: entry}
        rest = [node for node, name in zip(statements, called, strict=True) if node is not checks[0] and not name]
        statements = [*rest, *checks[0].body]
    else:
        entries = {name: name for name in called_names(tests)}
    found = [node for node in statements if isinstance(node, ast.Assert)]
    if not found or not all(_is_idle(node) for node in statements if not isinstance(node, ast.Assert)):
        return None
    if not all(is_known(node.test, entries) for node in found):
        return None
    return tuple(Assertion(test=node.test, entries=entries) for node in found)


def called_names(tests: AssertTests | UnittestTests) -> set[str]:
    """The functions and classes under test: what the tests use and neither they nor the prelude nor Python define.

    Where that is nothing, because a function under test is called ``sum``, it is what the asserts call on literals only.
    """
    if isinstance(tests, AssertTests):
        texts, named = [tests.setup, *tests.asserts], {tests.entry.partition("(")[0]} - {""}
    else:
        texts, named = list(tests.code), set()
    tree = parse_module("\n".join(texts)) or ast.Module([], [])
    given = parse_module(tests.prelude) or ast.Module([], [])
    given.body = [node for node in given.body if not _is_stub(node)]
    known = _BUILTINS | _bound(tree) | _bound(given)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    found = (used - known) | named
    if found:
        return found
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    innermost = [call for call in calls if not any(isinstance(part, ast.Call) for arg in call.args for part in ast.walk(arg))]
    return {call.func.id for call in innermost if isinstance(call.func, ast.Name)}


def _checked(node: ast.stmt) -> str:
    """What ``check`` is called with in ``check(Solution().add)``; "" where ``node`` is something else."""
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call) or len(node.value.args) != 1:
        return ""
    return ast.unparse(node.value.args[0]) if ast.unparse(node.value.func) == "check" else ""


def _is_idle(node: ast.stmt) -> bool:
    """Whether the statement can be passed over: texts, bare names, imports, ``METADATA = {...}``."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant | ast.Name)
    if isinstance(node, ast.Assign):
        return ast.unparse(node.targets[0]) == "METADATA"
    if isinstance(node, ast.Import):
        return all(name.name == "math" and not name.asname for name in node.names)
    return isinstance(node, ast.Pass)


def _is_stub(node: ast.stmt) -> bool:
    """Whether it is a function with nothing in it: the start that the answer completes, not something that is given."""
    return isinstance(node, ast.FunctionDef) and all(
        isinstance(part, ast.Pass) or (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant)) for part in node.body
    )


def _bound(tree: ast.Module) -> set[str]:
    """All names that code binds anywhere: definitions, imports, assignments, arguments."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            names.add(node.name)
    return names
