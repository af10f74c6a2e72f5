"""Behind the answer's code: calls one of its functions with encoded arguments and returns the encoded result.

Lives in its own names, because correct answers call their variables ``list`` and ``max``. It runs in the answer's process and
can be made to lie, which gains nothing: what is expected is not there.
"""

import re
from typing import Any

from podium.tasks.inside.plain import decode, encode

ENTRY = re.compile(r"(?P<name>\w+)(?P<made>\(\))?(?P<path>(?:\.\w+)*)")


class Bridge:
    """Calls into ``scope``, the names of the answer. Example: ``Bridge(globals())("Solution().add", [3, 4], {})``."""

    def __init__(self, scope: dict[str, Any]) -> None:
        self._scope = scope

    def __call__(self, entry: str, args: list[Any], kwargs: dict[str, Any], *, whole: bool = False) -> Any:
        """The encoded result.

        ``whole`` asks for an object that also tells the arguments after the call, and any exception.
        """
        target = self._find(entry)
        values = [decode(value) for value in args]
        named = {key: decode(value) for key, value in kwargs.items()}
        if not whole:
            return encode(target(*values, **named))
        try:
            value = target(*values, **named)
        except Exception as error:  # the boundary: whatever the answer raises is part of its reply
            return {"raised": type(error).__name__, "message": str(error)[:500]}
        after = {key: encode(value) for key, value in named.items()}
        return {"value": encode(value), "args": [encode(value) for value in values], "kwargs": after}

    def _find(self, entry: str) -> Any:
        match = ENTRY.fullmatch(entry)
        if match is None:
            raise ValueError(f"{entry!r} is neither a function nor Class().method")
        try:
            target = self._scope[match["name"]]
        except KeyError:
            raise NameError(f"the program defines no {match['name']}") from None
        if match["made"]:
            target = target()
        for name in match["path"].split(".")[1:]:
            target = getattr(target, name)
        return target
