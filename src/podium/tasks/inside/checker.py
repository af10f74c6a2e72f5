"""Runs a problem's tests without the answer: every call of a function under test is looked up in a table of replies.

Where a reply is missing, the tests are run once more with every error skipped, to collect as many wanted calls as possible;
the host has the answer's sandbox make them and starts this program again. So test code with loops and own functions judges
plain data in a process in which no line of the answer ever ran.

Reads one JSON object from standard input, writes one to standard output: ``{"passed": ..., "why": ...}``,
``{"wanted": [[entry, args, kwargs], ...]}`` or ``{"impossible": why}``, where a value that is no plain data would have to cross.
"""

import ast
import builtins
import json
import random
import sys
from typing import Any

from podium.tasks.inside.plain import Opaque, decode, encode, nodes

MAX_WANTED = 200


class Unknown(BaseException):
    """The reply to a call is not in the table."""


class Impossible(BaseException):
    """What would have to cross is no plain data, or the tests need the answer itself."""


class Dead(BaseException):
    """The call never came back in the answer's sandbox."""


class Table:
    """The replies so far, and the calls that were not among them."""

    def __init__(self, replies: list[list[Any]]) -> None:
        self._replies = {json.dumps(key): reply for key, reply in replies}
        self.wanted: dict[str, list[Any]] = {}

    def call(self, entry: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What the answer returned; its changes to the arguments are made to ``args`` too."""
        for value in (*args, *kwargs.values()):
            if isinstance(value, Opaque) or (isinstance(value, list | tuple) and any(isinstance(part, Opaque) for part in value)):
                raise Dead(f"{entry} is called with an object that the program returned")
        encoded = [encode(value) for value in args]
        named = {key: encode(value) for key, value in sorted(kwargs.items())}
        if any(node[0] == "o" for value in (*encoded, *named.values()) for node in nodes(value)):
            raise Impossible(f"{entry} is called with an object")
        key = json.dumps([entry, encoded, named])
        reply = self._replies.get(key)
        if reply is None:
            if len(self.wanted) < MAX_WANTED:
                self.wanted[key] = [entry, encoded, named]
            raise Unknown
        if "dead" in reply:
            raise Dead(reply["dead"])
        if "raised" in reply:
            error: Any = getattr(builtins, reply["raised"], None)
            is_error = isinstance(error, type) and issubclass(error, Exception)
            raise error(reply["message"]) if is_error else RuntimeError(reply["message"])
        for value, after in zip(args, reply["args"], strict=True):
            _become(value, decode(after))
        for name, after in reply["kwargs"].items():
            _become(kwargs[name], decode(after))
        value = decode(reply["value"])
        # Which tests need live objects is for the tests to say, not for the answer: only a class makes them.
        if isinstance(value, Opaque) and entry[:1].isupper() and "." not in entry:
            raise Impossible(f"{entry} makes objects")
        return value


class Stub:
    """Stands for a function of the answer, or for a class whose methods are called on fresh objects."""

    def __init__(self, table: Table, entry: str, methods: bool = False) -> None:
        self._table, self._entry, self._methods = table, entry, methods

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The reply to this call, or a fresh object of a class."""
        if self._methods and not args and not kwargs:
            return self
        return self._table.call(self._entry, args, kwargs)

    def __getattr__(self, name: str) -> "Stub":
        if not self._methods or name.startswith("__"):
            raise Impossible(f"{self._entry}.{name} can not be asked for from outside")
        return Stub(self._table, f"{self._entry}().{name}")


class Greedy(ast.NodeTransformer):
    """Wraps each simple statement so that its errors are skipped."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Wrap ``node`` where it is a statement without a body."""
        super().generic_visit(node)
        if not isinstance(node, ast.Assert | ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr):
            return node
        caught = ast.Tuple([ast.Name("Exception", ast.Load()), ast.Name("__podium_unknown__", ast.Load())], ast.Load())
        handler = ast.ExceptHandler(type=caught, name=None, body=[ast.Pass()])
        return ast.Try(body=[node], handlers=[handler], orelse=[], finalbody=[])


def run(job: dict[str, Any], table: Table, tree: ast.Module) -> None:
    """One pass over the tests; returns where they pass, raises where they do not."""
    random.seed(0)
    scope: dict[str, Any] = {"__name__": "__test__", "__podium_unknown__": Unknown}
    exec(compile(job["prelude"], "<prelude>", "exec"), scope)  # noqa: S102
    for name in job["names"]:
        scope[name] = Stub(table, name, methods=name in job["classes"])
    exec(compile(job["setup"], "<setup>", "exec"), scope)  # noqa: S102
    exec(compile(tree, "<tests>", "exec"), scope)  # noqa: S102


def judge(job: dict[str, Any]) -> dict[str, Any]:
    """The object to write."""
    table = Table(job["replies"])
    tree = ast.parse(job["tests"])
    try:
        run(job, table, tree)
    except Unknown:
        pass
    except Impossible as error:
        return {"impossible": str(error)}
    except Dead as error:
        return {"passed": False, "why": str(error)}
    except Exception as error:  # the boundary: any error of the tests means that they do not pass
        return {"passed": False, "why": _words(error, job["tests"])}
    else:
        return {"passed": True, "why": ""}
    if not any(isinstance(node, ast.While) for node in ast.walk(tree)):
        greedy = ast.fix_missing_locations(Greedy().visit(tree))
        try:
            run(job, table, greedy)
        except (Unknown, Impossible, Dead, Exception):
            return {"wanted": list(table.wanted.values())}
    return {"wanted": list(table.wanted.values())}


def _words(error: Exception, text: str) -> str:
    trace, line = error.__traceback__, 0
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "<tests>":
            line = trace.tb_lineno
        trace = trace.tb_next
    lines = text.splitlines()
    where = lines[line - 1].strip()[:200] if 0 < line <= len(lines) else ""
    return f"{type(error).__name__} in {where}: {str(error)[:200]}"


def _become(value: Any, after: Any) -> None:
    """Give ``value`` the contents of ``after``, where it can be changed at all."""
    if isinstance(value, list | bytearray) and isinstance(after, list | bytearray):
        if value != after:
            value[:] = after
    elif isinstance(value, dict | set) and isinstance(after, dict | set) and value != after:
        value.clear()
        value.update(after)


def main() -> None:
    """Standard input to standard output; what the tests print goes to standard error."""
    out, sys.stdout = sys.stdout, sys.stderr
    try:
        reply = judge(json.load(sys.stdin))
    except Exception as error:  # the boundary: prelude or setup broke without the answer
        reply = {"impossible": f"{type(error).__name__}: {str(error)[:200]}"}
    out.write(json.dumps(reply))
    out.flush()
