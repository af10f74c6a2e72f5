"""Models on this machine: who listens on the ports that local model servers usually take, and which models they name.

Whoever listens there is not known, so an answer is hostile: it is read up to a bound and for a moment only, no redirect is
followed, and only names that a pool file can hold are taken from it. A server of Podium's own is none: it would ask itself.
"""

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import aiohttp

PORTS: Mapping[int, str] = {11434: "Ollama", 1234: "LM Studio", 8000: "vLLM", 8080: "llama.cpp"}
"""Port -> the server that usually takes it."""
SECONDS = 1.5
"""How long a server may take to say which models it has."""
MAX_BYTES = 1_000_000
MAX_MODELS = 50
"""Models of one server that are taken."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,119}")


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalModel:
    """A model that a server on this machine names. Example: ``LocalModel(server="Ollama", port=11434, name="qwen3:8b")``."""

    server: str
    port: int
    name: str

    @property
    def base_url(self) -> str:
        """Where it is asked."""
        return f"http://127.0.0.1:{self.port}/v1"


async def local_models(ports: Mapping[int, str] = PORTS) -> list[LocalModel]:
    """The models behind ``ports``, in their order; a port on which nobody answers as a model server does is left out."""
    found = await asyncio.gather(*(_models(port, server) for port, server in ports.items()))
    return [model for models in found for model in models]


async def _models(port: int, server: str) -> list[LocalModel]:
    timeout = aiohttp.ClientTimeout(total=SECONDS)
    try:
        # No proxy is asked for what is on this machine (trust_env is off), and nothing is unpacked: it may be a bomb.
        async with (
            aiohttp.ClientSession(timeout=timeout, auto_decompress=False) as session,
            session.get(f"http://127.0.0.1:{port}/v1/models", allow_redirects=False) as answer,
        ):
            if answer.status != 200:
                return []
            body = b""
            while len(body) <= MAX_BYTES and (piece := await answer.content.read(MAX_BYTES + 1 - len(body))):
                body += piece
        said = json.loads(body) if len(body) <= MAX_BYTES else None
    except (aiohttp.ClientError, TimeoutError, OSError, ValueError, RecursionError):
        return []
    names = dict.fromkeys(name for name in _names(said))
    return [LocalModel(server=server, port=port, name=name) for name in names][:MAX_MODELS]


def _names(said: Any) -> list[str]:
    """The names in a list of models, as OpenAI's protocol has it."""
    models = said.get("data") if isinstance(said, dict) else None
    if not isinstance(models, list):
        return []
    of_others = [each for each in models if isinstance(each, dict) and each.get("owned_by") != "podium"]
    return [name for each in of_others if isinstance(name := each.get("id"), str) and _NAME.fullmatch(name)]
