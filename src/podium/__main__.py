"""``python -m podium`` is the ``podium`` command."""

from podium.cli.app import main

main()
