"""The programs of :mod:`podium.tasks.inside` as texts to be sent into the sandbox, where this package is not installed."""

from pathlib import Path

_FOLDER = Path(__file__).parents[1] / "inside"


def _text(*names: str) -> str:
    """The modules one after the other, without their imports of each other."""
    lines = (line for name in names for line in (_FOLDER / f"{name}.py").read_text(encoding="utf-8").splitlines(keepends=True))
    return "".join(line for line in lines if not line.startswith("from podium."))


CHECKER = _text("plain", "checker") + "\nmain()\n"
"""Source of a submission of kind "script"; see :mod:`podium.tasks.inside.checker`."""
JUDGE = (
    _text("plain", "mocks", "copied", "operations", "wire", "mirror", "reports", "program", "swallowed", "suspect", "judge")
    + "\nmain()\n"
)
"""Source of a submission of kind "script"; see :mod:`podium.tasks.inside.judge`."""
BRIDGE_ENTRY = "__podium_call__"

_BRIDGE = f"""
import builtins as __podium_builtins__
__podium_scope__ = {{"__name__": "__podium__"}}
__podium_builtins__.exec({_text("plain", "bridge")!r}, __podium_scope__)
{BRIDGE_ENTRY} = __podium_scope__["Bridge"](__podium_builtins__.globals())
"""


def with_bridge(code: str) -> str:
    """``code`` with :class:`podium.tasks.inside.bridge.Bridge` behind it, to be called as ``BRIDGE_ENTRY``."""
    return code + "\n" + _BRIDGE
