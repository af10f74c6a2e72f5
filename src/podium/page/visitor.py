"""The person who looks at a page, and the cookie that says so on servers that ask for keys.

The cookie holds the key itself: replicas share nothing but the database, and a key that is revoked there is over everywhere.
No script can read it, it goes to this host only, and the browser forgets it when it is closed.
"""

from starlette.requests import HTTPConnection
from starlette.responses import Response

from podium.serving.accounts import Accounts
from podium.serving.store.keys import Key

COOKIE = "podium_key"
_MOST = 200
"""Characters of a key's secret that are looked at."""


class Visitor:
    """Example: ``key = await Visitor(accounts, request).key("ask")``."""

    def __init__(self, accounts: Accounts, request: HTTPConnection) -> None:
        self._accounts = accounts
        secret = request.cookies.get(COOKIE, "")[:_MOST]
        self._authorization = f"Bearer {secret}" if secret else request.headers.get("authorization")

    async def key(self, *scopes: str, anew: bool = False) -> Key | None:
        """Their key, which needs one of ``scopes``; None where no keys are asked for.

        Asked anew for everything a visitor does, so that a page left open ends with its key, some seconds
        later or, with ``anew``, at once. Raises :class:`AccessDenied`.
        """
        return await self._accounts.identify(self._authorization, *scopes, anew=anew)


def remember(answer: Response, secret: str, *, path: str, secure: bool) -> None:
    """Let the browser send ``secret`` with every request below ``path`` from now on."""
    # Lax, not strict: a visitor who follows a link to a run from elsewhere is still signed in. Nothing changes by a GET.
    answer.set_cookie(COOKIE, secret, path=path, secure=secure, httponly=True, samesite="lax")


def forget(answer: Response, *, path: str) -> None:
    """Sign out."""
    answer.delete_cookie(COOKIE, path=path, httponly=True, samesite="lax")
