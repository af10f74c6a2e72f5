"""``podium runs problems``: what people called right, as problems to learn from."""

import json
from pathlib import Path

from rich.text import Text

from podium.cli.screen import Screen
from podium.errors import ConfigError
from podium.serving.store.database import Database
from podium.serving.store.feedback import FeedbackStore
from podium.serving.store.keys import Keys
from podium.workflow.draw import counted


async def problems(*, db: str, out: Path, key: str | None) -> None:
    """Write the problems into the new file ``out``. Raises :class:`ConfigError` where that can not be made."""
    async with Database(db, must_exist=True) as database:
        of = None if key is None else (await Keys(database).named(key)).id
        found = [problem async for problem in FeedbackStore(database).problems(key=of)]
    try:
        out.touch(mode=0o600, exist_ok=False)  # it holds what users wrote
    except OSError as error:
        raise ConfigError(f"{out} can not be made: {error.strerror}") from error
    lines = (json.dumps({"question": each.question, "target": each.target, "kind": each.kind}) + "\n" for each in found)
    out.write_text("".join(lines), encoding="utf-8")
    Screen().print(Text(f"wrote {counted(len(found), 'problem')} to {out}"), soft_wrap=True)
