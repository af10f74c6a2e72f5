"""A whole pool as one model of Inspect.

inspect eval task.py --model podium/trained
inspect eval task.py --model podium/chat -M pool=pool.toml -M rounds=2 -M max_usd=5
"""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

from inspect_ai.model import ChatMessage, GenerateConfig, ModelAPI, ModelOutput, modelapi
from inspect_ai.tool import ToolChoice, ToolInfo

from podium.conduct import Conductor
from podium.errors import Blame, ConfigError, PodiumError, WorkerUnavailable
from podium.integrations.inspect_messages import output_of, question_of, sampling_of
from podium.integrations.inspect_spans import spanned
from podium.pools.conducting import conductor
from podium.pools.open import open_pool
from podium.types import Call
from podium.workers.budget import Budget


@modelapi(name="podium")
class PodiumModel(ModelAPI):
    """``podium/POLICY`` with the policies of ``podium ask``; without ``pool``, the built-in offline workers.

    ``max_usd`` caps what all samples together may cost. A policy that writes no workflow gives an empty answer, which a scorer
    counts as wrong; faults of the world are errors, and those worth retrying are retried.
    """

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008 - the signature of the base class
        *,
        pool: str | None = None,
        rounds: int = 1,
        max_steps: int | None = None,
        max_usd: float | None = None,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        if base_url or api_key:
            raise ConfigError("podium/... runs here; addresses and keys of the workers stand in the pool file (-M pool=FILE)")
        self._pool = None if pool is None else Path(pool)
        self._rounds = rounds
        self._max_steps = max_steps
        self._budget = Budget(max_usd, None, None)
        self._opened = AsyncExitStack()
        self._conductor: Conductor | None = None
        self._opening = asyncio.Lock()  # guards the two lines above: the pool is opened once, by the first call

    async def generate(
        self,
        input: list[ChatMessage],  # noqa: A002 - as the base class has it
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        """Conduct the conversation."""
        if tools:
            raise ConfigError("Podium's workers call no tools here; take a task without tools")
        call = Call(question=question_of(input), sampling=sampling_of(config))
        conductor = await self._ready()
        try:
            completion = await conductor(call)
        except PodiumError as error:
            if error.blame is not Blame.POLICY:
                raise
            return ModelOutput(model=self.model_name, error=str(error))
        return output_of(completion, self.model_name)

    async def _ready(self) -> Conductor:
        async with self._opening:
            if self._conductor is None:
                opened = await self._opened.enter_async_context(
                    open_pool(self._pool, budget=self._budget, run=f"inspect {self.model_name}")
                )
                made = conductor(opened, self.model_name, rounds=self._rounds, max_steps=self._max_steps)
                self._conductor = spanned(made)
            return self._conductor

    async def aclose(self) -> None:
        """Close the connections of the pool."""
        async with self._opening:
            self._conductor = None
            await self._opened.aclose()

    def should_retry(self, ex: Exception) -> bool:
        """A provider that is down or busy is worth another try."""
        return isinstance(ex, WorkerUnavailable)

    def connection_key(self) -> str:
        """One place in line per pool; its own limits stand in the pool file."""
        return str(self._pool)

    def max_connections(self) -> int:
        """Questions under way at once."""
        return 64
