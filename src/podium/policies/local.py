"""Weights we train, as a policy: samples many briefs at once, with the log-probability of every token.

A folder holds the model in the Hugging Face layout (:mod:`podium.policies.qwen2`), its tokenizer, and ``podium.json``: the
dialect it was taught and the prompt it expects.
"""

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

from podium.errors import CheckpointError, ConfigError
from podium.policies import qwen2
from podium.policies.sampling import Sampled, sample
from podium.policies.tokens import Tokens
from podium.types import Brief, Generation, TokenListener, Usage
from podium.workflow.prompt import messages
from podium.workflow.short_prompt import short_messages
from podium.workflow.syntax import WorkflowSyntax

PROMPTS = {"short": short_messages, "full": messages}
_BATCH = 64
"""Most questions in one batch: beyond that a batch takes longer in proportion, and more memory."""
_HALF = "\ufffd"
"""What a character is read as of which some bytes are still to come."""
_Asked = tuple[Brief, int, asyncio.Future[list[Generation]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """What a local policy was taught. Example: ``Dialect(syntax=WorkflowSyntax(access="binary"))``."""

    syntax: WorkflowSyntax = WorkflowSyntax()
    prompt: str = "short"
    """``short`` (:mod:`podium.workflow.short_prompt`) or ``full`` (:mod:`podium.workflow.prompt`)."""
    max_tokens: int = 160
    """Longest completion."""

    def described(self, version: str) -> dict[str, Any]:
        """What ``podium.json`` says of a policy of this dialect."""
        return {"language": asdict(self.syntax), "prompt": self.prompt, "max_tokens": self.max_tokens, "version": version}


class LocalPolicy:
    """A Qwen2 model that writes workflows. Example: ``await LocalPolicy.load(folder).write(brief, n=16)``.

    ``temperature`` 0 writes the most probable workflow. ``generator`` makes sampling reproducible; its state is part of a
    checkpoint. Writing is free: the model runs on this machine.
    """

    def __init__(
        self,
        model: qwen2.Qwen2,
        tokens: Tokens,
        dialect: Dialect,
        *,
        temperature: float = 0.0,
        generator: torch.Generator | None = None,
        version: str = "",
    ) -> None:
        self.model = model
        self.tokens = tokens
        self.dialect = dialect
        self.temperature = temperature
        self.generator = generator
        self.version = version
        self._waiting: list[_Asked] = []
        self._writing: asyncio.Task[None] | None = None

    @staticmethod
    def load(folder: Path, *, temperature: float = 0.0, seed: int | None = None) -> "LocalPolicy":
        """The policy in ``folder``. Raises :class:`CheckpointError` where it can not be used."""
        path = folder / "podium.json"
        try:
            described = json.loads(path.read_text(encoding="utf-8"))
            syntax = WorkflowSyntax(**described["language"])
            dialect = Dialect(syntax=syntax, prompt=described["prompt"], max_tokens=described["max_tokens"])
            version = str(described["version"])
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise CheckpointError(f"{folder} holds no policy of ours ({path.name}: {error})") from error
        if dialect.prompt not in PROMPTS:
            raise CheckpointError(f"{path} names the prompt {dialect.prompt!r}; there are {', '.join(PROMPTS)}")
        generator = None if seed is None else torch.Generator().manual_seed(seed)
        model, tokens = qwen2.load(folder), Tokens.load(folder)
        return LocalPolicy(model, tokens, dialect, temperature=temperature, generator=generator, version=version)

    def save(self, folder: Path, *, half: bool = False) -> None:
        """Write model, tokenizer and dialect; ``half`` stores the weights as float16."""
        qwen2.save(self.model, folder, half=half)
        self.tokens.save(folder)
        described = self.dialect.described(self.version)
        (folder / "podium.json").write_text(json.dumps(described, indent=1) + "\n", encoding="utf-8")

    async def write(self, brief: Brief, n: int = 1) -> list[Generation]:
        """Write ``n`` workflows for ``brief``; what is asked for while others are being written goes into one batch."""
        answer: asyncio.Future[list[Generation]] = asyncio.get_running_loop().create_future()
        self._waiting.append((brief, n, answer))
        if self._writing is None or self._writing.done():
            # A task of its own: the caller who asked first may leave, and the others still get their texts.
            self._writing = asyncio.create_task(self._write_waiting())
        return await answer

    async def _write_waiting(self) -> None:
        await asyncio.sleep(0)  # lets everybody who is ready ask
        while self._waiting:
            n = self._waiting[0][1]
            batch = [asked for asked in self._waiting if asked[1] == n][:_BATCH]
            taken = {id(answer) for _, _, answer in batch}
            self._waiting = [asked for asked in self._waiting if id(asked[2]) not in taken]
            batch = [asked for asked in batch if not asked[2].done()]  # a caller who left wants no answer
            if not batch:
                continue
            try:
                heard = self._teller(batch) if n == 1 and any(brief.on_token for brief, _, _ in batch) else None
                written = await asyncio.to_thread(self.write_many, [brief for brief, _, _ in batch], n, heard=heard)
            except Exception as error:  # handed to everybody who waits for this batch
                for _, _, answer in batch:
                    if not answer.done():
                        answer.set_exception(error)
                continue
            for (_, _, answer), row in zip(batch, written, strict=True):
                if not answer.done():
                    answer.set_result(row)

    def _teller(self, batch: Sequence[_Asked]) -> Callable[[list[list[Sampled]]], None]:
        """What tells everybody in ``batch`` who listens how far their text is, from the thread that writes it."""
        loop, told = asyncio.get_running_loop(), [""] * len(batch)

        def tell(on_token: TokenListener, piece: str, answer: asyncio.Future[list[Generation]]) -> None:
            if not answer.done():  # who left hears no more
                on_token(piece)

        def heard(written: list[list[Sampled]]) -> None:
            for index, ((brief, _, answer), row) in enumerate(zip(batch, written, strict=True)):
                if brief.on_token is None:
                    continue
                text = self.tokens.decode(row[0].token_ids).rstrip(_HALF)
                if text != told[index] and text.startswith(told[index]):
                    loop.call_soon_threadsafe(tell, brief.on_token, text[len(told[index]) :], answer)
                    told[index] = text

        return heard

    def write_many(
        self,
        briefs: Sequence[Brief],
        n: int,
        forced_prefixes: Sequence[str] = (),
        heard: Callable[[list[list[Sampled]]], None] | None = None,
    ) -> list[list[Generation]]:
        """``n`` workflows for each brief, in one batch. ``forced_prefixes``: what each brief's completions must begin with.

        A generation's text includes the forced prefix; its tokens are only those that the policy chose.
        """
        forced_prefixes = forced_prefixes or [""] * len(briefs)
        started = time.perf_counter()
        prompts = [self.prompt_ids(brief, forced_prefix) for brief, forced_prefix in zip(briefs, forced_prefixes, strict=True)]
        sampled = sample(
            self.model,
            prompts,
            n,
            end=self.tokens.end,
            max_tokens=self.dialect.max_tokens,
            temperature=self.temperature,
            generator=self.generator,
            heard=heard,
        )
        seconds = (time.perf_counter() - started) / (n * len(briefs))
        return [
            [
                Generation(
                    text=forced_prefix + self.tokens.decode(one.token_ids),
                    token_ids=tuple(one.token_ids),
                    logprobs=tuple(one.logprobs),
                    policy_version=self.version,
                    finish_reason="stop" if one.finished else "length",
                    usage=Usage(prompt_tokens=len(prompt), completion_tokens=len(one.token_ids), cost_usd=0.0),
                    seconds=seconds,
                )
                for one in row
            ]
            for prompt, forced_prefix, row in zip(prompts, forced_prefixes, sampled, strict=True)
        ]

    def prompt_ids(self, brief: Brief, forced_prefix: str = "") -> list[int]:
        """The tokens before the first one that the policy writes.

        Raises :class:`ConfigError` where they are more than the model can read.
        """
        shown = replace(brief, tools=())  # none was trained to plan for them
        ids = self.tokens.prompt(PROMPTS[self.dialect.prompt](shown, self.dialect.syntax)) + self.tokens.encode(forced_prefix)
        room = self.model.config.max_position_embeddings - self.dialect.max_tokens
        if len(ids) > room:
            raise ConfigError(f"the question makes a prompt of {len(ids)} tokens; this Conductor has room for {room}")
        return ids


def use_threads(count: int) -> None:
    """Let the models of this process compute on ``count`` threads."""
    torch.set_num_threads(count)
