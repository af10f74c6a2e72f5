"""The form for one's own models: it writes a pool file, checks it and asks each model something. It never takes a key."""

import asyncio
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from nicegui import background_tasks, ui
from nicegui.element import Element

from podium.acting.pool_file import read_pool
from podium.errors import ConfigError, PodiumError
from podium.page.long_text import LongText
from podium.page.parts import Choice, Line, box, button, enable, text
from podium.page.pool_draft import MOST_MODELS, ModelDraft, file_name, pool_text
from podium.page.shown import figures, line
from podium.page.visitor import Visitor
from podium.pools.open import open_pool
from podium.protocols import Worker
from podium.types import Call, Completion
from podium.workers.budget import Budget
from podium.workers.providers import PROVIDERS

QUESTION = "What is 6 times 7? Answer with the number."
PATIENCE_SECONDS = 60.0
MOST_SAID = 200


class _Row:
    def __init__(self, number: int, first: bool) -> None:
        providers = {"": [(name, name) for name in PROVIDERS]}
        with box("model-row", "fieldset") as self.element:
            text(f"Model {number}" + (", which also writes the workflows" if first else ""), "legend", "label")
            with box("bar"):
                self._provider = Choice("Provider", providers, next(iter(PROVIDERS)), self._hint)
                self._model = Line("Model", type="text", placeholder="gpt-5-mini")
                self._key = Line("Variable that holds the key", type="text", placeholder="the usual one")
                self._url = Line("Address, if another", type="text", placeholder="the provider's")
                self._read = Line("$ per million read", type="text", inputmode="decimal", placeholder="price list")
                self._write = Line("$ per million written", type="text", inputmode="decimal", placeholder="price list")
        self._hint()

    def _hint(self) -> None:
        usual = PROVIDERS[self._provider.value].key_env
        self._key.hint("needs none" if usual is None else usual)

    @property
    def is_empty(self) -> bool:
        return not self._model.value.strip()

    def draft(self) -> ModelDraft:
        """What is written."""
        return ModelDraft(
            provider=self._provider.value,
            model=self._model.value.strip(),
            key_env=self._key.value.strip(),
            base_url=self._url.value.strip(),
            prompt_usd=self._read.value,
            completion_usd=self._write.value,
        )


class ModelsForm:
    """Writes into ``folder``, for visitors with the scope "admin". Example: ``ModelsForm(visitor, Path.cwd())``."""

    def __init__(self, visitor: Visitor, folder: Path) -> None:
        self._visitor, self._folder = visitor, folder
        self._running: asyncio.Task[None] | None = None
        self._list = box("model-rows")
        self._rows: list[_Row] = []
        self._add()
        self._more = button("Another model", self._add, "quiet small")
        with box("bar"):
            self._question = Line("Ask them something", type="text")
            self._file = Line("File", type="text", placeholder="pool.toml")
        with box("bar"):
            self._check = button("Check", partial(self._start, False), "quiet")
            self._ask = button("Check and ask", partial(self._start, True), "quiet")
            self._write = button("Write the file", self._save)
        text(
            "Check reads the file that would be written. Check and ask sends each model one question, which costs a little.",
            "p",
            "soft",
        )
        self._told = text("", "p", "", role="status")
        self._answers: Element = box("cards")
        self._text = box("pool-text")
        ui.context.client.on_delete(self._stop)

    def _add(self) -> None:
        if len(self._rows) < MOST_MODELS:
            with self._list:
                self._rows.append(_Row(len(self._rows) + 1, not self._rows))

    def _stop(self) -> None:
        if self._running is not None:
            self._running.cancel()

    def _say(self, words: str, manner: str) -> None:
        self._told.text = line(words, 400)
        self._told.classes(replace=manner)

    async def _drafted(self) -> str | None:
        """The text of the file, shown; None where it makes no sense or is not the visitor's to make."""
        self._answers.clear()
        self._text.clear()
        try:
            await self._visitor.key("admin")
            written = pool_text([row.draft() for row in self._rows if not row.is_empty])
            with _as_file(written) as path:
                read_pool(path)
        except PodiumError as error:
            self._say(str(error), "bad")
            return None
        with self._text:
            LongText(written, "The pool file")
        return written

    async def _start(self, ask: bool) -> None:
        if self._running is not None:
            return
        written = await self._drafted()
        if written is None or self._running is not None:
            return
        if not ask:
            self._say("This is a pool file. Whether the models answer, Check and ask tells.", "good")
            return
        self._say("Asked.", "soft")
        for element in (self._check, self._ask, self._write):
            enable(element, False)
        self._running = background_tasks.create(self._asked(written), name="ask the models of a form")
        self._running.add_done_callback(lambda _: self._over())

    def _over(self) -> None:
        self._running = None
        for element in (self._check, self._ask, self._write):
            enable(element, True)

    async def _asked(self, written: str) -> None:
        question = self._question.value.strip() or QUESTION
        try:
            with _as_file(written) as path:
                async with open_pool(path, budget=Budget(seconds=PATIENCE_SECONDS)) as pool:
                    names = pool.workers.names
                    found = await asyncio.gather(*(_answer(pool[name], question) for name in names))
        except PodiumError as error:
            self._say(str(error), "bad")
            return
        with self._answers:
            for name, said in zip(names, found, strict=True):
                with box("card-line"):
                    text(line(name, 60), "h3")
                    if isinstance(said, str):
                        text(line(said, 300), "p", "bad")
                    else:
                        text(f"{figures(said.seconds, said.usage)}: {line(said.text, MOST_SAID)}", "p", "soft")
        silent = sum(isinstance(said, str) for said in found)
        self._say(
            "All of them answered." if not silent else f"{silent} of {len(found)} gave no answer.", "bad" if silent else "good"
        )

    async def _save(self) -> None:
        written = await self._drafted()
        if written is None:
            return
        try:
            path = self._folder / file_name(self._file.value or "pool.toml")
            with path.open("x", encoding="utf-8") as file:
                file.write(written)
        except FileExistsError:
            self._say(f"There is a file {path.name} already; nothing was written. Choose another name.", "bad")
        except OSError as error:
            self._say(f"{path.name} can not be written: {error.strerror}", "bad")
        except ConfigError as error:
            self._say(str(error), "bad")
        else:
            self._say(f"Written. Stop this server and start it anew: podium serve --pool {path.name}", "good")


@contextmanager
def _as_file(written: str) -> Iterator[Path]:
    """``written`` as a file that is soon gone. Where it lay is left out of what is said of it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pool.toml"
        path.write_text(written, encoding="utf-8")
        try:
            yield path
        except PodiumError as error:
            raise ConfigError(str(error).replace(f"{folder}/", "")) from error


async def _answer(worker: Worker, question: str) -> Completion | str:
    """What the worker says, or why it says nothing."""
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            return await worker(Call.plain(question))
    except TimeoutError:
        return f"no answer within {PATIENCE_SECONDS:.0f} s"
    except PodiumError as error:
        return str(error)
