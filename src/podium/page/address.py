"""What stands in the browser's address, so that a page that is loaded again shows the same."""

import json

from nicegui import ui


def say(address: str) -> None:
    """Put ``address`` (one of ours) into the address line as a new place to come back to; nothing is loaded.

    head.html loads the page when the visitor goes back to an address of ours that shows something else.
    """
    ui.run_javascript(f"history.pushState({{}}, '', {json.dumps(address)}); window.podiumShown = location.search")
