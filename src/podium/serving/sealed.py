"""Replies that the server may not read later: sealed with a key that only the client who asked can bring along again.

Names and seals are derived from the secret of an API key, which is stored nowhere and comes with each of its requests. So the
file and the database together open nothing, and once the secret is gone what was sealed with it is gone too.
"""

import base64
import hashlib
import hmac
import secrets

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from podium.workers.tenant import Tenant

_NONCE_BYTES = 12
_CHECKED = "surrogatepass"
"""What workers write may hold half a surrogate pair."""


class AesSeal:
    """AES-256-GCM with a new nonce each time. Example: ``AesSeal(root).open(AesSeal(root).close("42", "p"), "p") == "42"``."""

    def __init__(self, root: bytes) -> None:
        self._cipher = AESGCM(_derived(root, "seal of replies"))

    def close(self, text: str, place: str) -> str:
        """``text``, unreadable; it opens at the same ``place`` only."""
        nonce = secrets.token_bytes(_NONCE_BYTES)
        closed = self._cipher.encrypt(nonce, text.encode("utf-8", _CHECKED), place.encode())
        return base64.b64encode(nonce + closed).decode("ascii")

    def open(self, sealed: str, place: str) -> str:
        """The text. Raises ValueError where it was not closed by this seal for this place."""
        raw = base64.b64decode(sealed, validate=True)
        try:
            text = self._cipher.decrypt(raw[:_NONCE_BYTES], raw[_NONCE_BYTES:], place.encode())
        except InvalidTag:
            raise ValueError("it was sealed for somebody else, or changed") from None
        return text.decode("utf-8", _CHECKED)


def sealed_tenant(root: bytes, *, is_kept: bool) -> Tenant:
    """The tenant whose name and seal come from ``root``, which has to be secret and hard to guess."""
    return Tenant(name=_derived(root, "name of a tenant").hex(), seal=AesSeal(root), is_kept=is_kept)


def _derived(root: bytes, purpose: str) -> bytes:
    return hmac.digest(root, f"podium: {purpose}".encode(), hashlib.sha256)
