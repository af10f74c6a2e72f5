"""The parts of a turn: text, pictures, files, and marks for a provider's cache, collected into one :class:`Message`.

The content of a turn stays one text; pictures, files and marks remember where in it they stand. The same for all three APIs.
"""

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal
from urllib.parse import urlsplit

from podium.errors import ConfigError
from podium.types import Attachment, CachePoint, Message, Role

PICTURES = ("image/gif", "image/jpeg", "image/png", "image/webp")
PDF = "application/pdf"
MOST_ATTACHMENTS = 100
"""Of one turn."""
_DATA = re.compile(r"data:([A-Za-z0-9.+-]{1,64}/[A-Za-z0-9.+-]{1,64})?(?:;[a-z]+=[^;,]{0,64})*;base64,", re.ASCII)


@dataclass(slots=True, eq=False)
class Turn:
    """A turn while its parts are read. Example: ``turn = Turn("messages[0]"); turn.say("Hi"); turn.message("user")``."""

    place: str
    """How the request calls it, for what is told to the client."""
    _text: list[str] = field(default_factory=list)
    _size: int = 0
    _attachments: list[Attachment] = field(default_factory=list)
    _marks: list[CachePoint] = field(default_factory=list)

    def say(self, text: str) -> None:
        """A piece of text."""
        self._text.append(text)
        self._size += len(text)

    def show(self, address: str, detail: str = "") -> None:
        """A picture by its address, ``data:`` or ``https:``."""
        if address.startswith("data:"):
            self.attach(*self._of_data(address), detail=detail)
            return
        try:
            usable = urlsplit(address).scheme in ("http", "https") and bool(urlsplit(address).hostname)
        except ValueError:
            usable = False
        if not usable or not address.isprintable() or " " in address:
            raise ConfigError(f"{self.place}: a picture is a data: URL with base64, or an http(s) address")
        self._add(Attachment(media_type="image/*", url=address, at=self._size, detail=detail))

    def attach(self, media_type: str, data: str, *, name: str = "", detail: str = "") -> None:
        """A picture or file as base64. A file of text becomes text, under its ``name``."""
        media_type = media_type.lower()
        try:
            raw = base64.b64decode(data, validate=True)
        except (binascii.Error, ValueError):
            raise ConfigError(f"{self.place}: a picture or file is not base64") from None
        if not raw:
            raise ConfigError(f"{self.place}: a picture or file is empty")
        if media_type.startswith("text/") or media_type == "application/json":
            self.quote(self._decoded(raw), name)
        elif media_type in (*PICTURES, PDF):
            self._add(Attachment(media_type=media_type, data=data, at=self._size, detail=detail))
        else:
            raise ConfigError(
                f"{self.place}: {media_type[:80]} is not served: pictures ({', '.join(PICTURES)}), {PDF} and text are"
            )

    def attach_url(self, address: str, name: str = "") -> None:
        """A file as a ``data:`` URL."""
        if not address.startswith("data:"):
            raise ConfigError(f"{self.place}: a file is sent as a data: URL with base64; this server opens no addresses")
        media_type, data = self._of_data(address)
        self.attach(media_type, data, name=name)

    def quote(self, text: str, name: str) -> None:
        """A document that is text."""
        self.say(f"<document{f' name={name!r}' if name else ''}>\n{text}\n</document>\n")

    def join(self, other: "Turn") -> None:
        """Everything of another turn, behind what there is."""
        self._attachments += [replace(each, at=each.at + self._size) for each in other._attachments]
        self._marks += [replace(mark, at=mark.at + self._size) for mark in other._marks]
        self.say("".join(other._text))

    def mark(self, cache_control: Any) -> None:
        """A place up to which a provider should keep the prompt."""
        if isinstance(cache_control, Mapping):
            self._marks.append(CachePoint(at=self._size, ttl=ttl_of(cache_control)))

    def message(self, role: Role, **more: Any) -> Message:
        """The turn. Raises :class:`ConfigError` for pictures and files of anybody but the user and the user's tools."""
        if self._attachments and role not in ("user", "tool"):
            raise ConfigError(f"{self.place}: pictures and files belong into a user's turn or the result of a tool")
        return Message(
            role=role,
            content="".join(self._text),
            attachments=tuple(self._attachments),
            cache_points=tuple(self._marks),
            **more,
        )

    def _add(self, attachment: Attachment) -> None:
        if len(self._attachments) == MOST_ATTACHMENTS:
            raise ConfigError(f"{self.place}: a turn has {MOST_ATTACHMENTS} pictures and files at most")
        self._attachments.append(attachment)

    def _of_data(self, address: str) -> tuple[str, str]:
        head = _DATA.match(address)
        if head is None:
            raise ConfigError(f"{self.place}: a data: URL begins with its media type and base64: data:image/png;base64,...")
        return head[1] or "text/plain", address[head.end() :]

    def _decoded(self, raw: bytes) -> str:
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError:
            raise ConfigError(f"{self.place}: a file of text is not UTF-8") from None


def ttl_of(cache_control: Mapping[str, Any]) -> Literal["5m", "1h"]:
    """How long a mark asks for. Example: ``ttl_of({"type": "ephemeral", "ttl": "1h"})  # "1h"``."""
    return "1h" if cache_control.get("ttl") == "1h" else "5m"
