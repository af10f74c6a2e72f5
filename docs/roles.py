"""Docstrings name things as Sphinx does (:class:`Budget`); the site shows the bare name as code."""

import re
from typing import Any

from griffe import Extension, Object

ROLE = re.compile(r":(?:class|func|meth|mod|attr|data|exc):`~?(?:[\w.]*\.)?(\w+)`")


def plain(text: str) -> str:
    """``text`` as Markdown: roles become names in code, and ``Example::`` loses a colon. Literals are the same in both."""
    return re.sub(r"::(?=\n\n)", ":", ROLE.sub(r"`\1`", text))


class Roles(Extension):
    """Rewrites every docstring when it is read."""

    def on_instance(self, *, obj: Object, **kwargs: Any) -> None:
        """Change the text that will be shown; the source stays as it is."""
        if obj.docstring is not None:
            obj.docstring.value = plain(obj.docstring.value)
