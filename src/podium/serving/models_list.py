"""``GET /v1/models``: what can be asked for, as OpenAI's and Anthropic's clients read it, with what each can do."""

from collections.abc import Sequence
from typing import Any

from podium.serving.catalog import ModelCatalog
from podium.types import Card


def models_object(catalog: ModelCatalog) -> dict[str, Any]:
    """The whole list, in one page."""
    data = [model_object(name, catalog.cards) for name in catalog.models]
    return {"object": "list", "data": data, "has_more": False, "first_id": data[0]["id"], "last_id": data[-1]["id"]}


def model_object(name: str, cards: Sequence[Card]) -> dict[str, Any]:
    """One model: a worker by its own name, or a Conductor over all of them, which can what one of them can.

    ``context_tokens`` of a Conductor is that of the worker with the smallest: any of them may be given the conversation. None is
    unknown.
    """
    asked = [card for card in cards if card.name == name] or list(cards)
    sizes = [card.context_tokens for card in asked]
    known = [size for size in sizes if size is not None]
    context = min(known) if len(known) == len(sizes) else None
    sees = any(card.sees for card in asked)
    return {
        "id": name,
        "object": "model",
        "created": 0,
        "owned_by": "podium",
        "type": "model",
        "display_name": name,
        "created_at": "1970-01-01T00:00:00Z",
        "lifecycle": "active",
        "max_input_tokens": context,
        "context_window": context,
        "podium": {"context_tokens": context, "sees": sees, "input": ["text", "image", "file"] if sees else ["text"]},
    }
