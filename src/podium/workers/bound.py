"""The most a call can use, known before it is sent: what budgets reserve and rate limits count.

The completion part is exact: a provider stops at ``max_tokens``. The prompt part is a bound for text that people write,
not for any text: tokens number at most half the UTF-8 bytes. The byte-pair vocabularies of today's models take about 4
bytes per token in English, about 3 in code and mathematics, and about 3 (one character) in Chinese or Japanese, so half
the bytes leaves a margin. A byte-level token is never less than a byte, so what can pass the bound, long runs of single digits
or of random bytes, passes it at most twofold, and in the cheaper part of the price; it is booked in full on return.

Deliberately left out: the tokenizers of the providers. They are large, and closed for the models that matter most.
"""

from typing import overload

from podium.types import Attachment, Call, Card, Usage
from podium.workers.render import render

BYTES_PER_TOKEN = 2
"""Fewer UTF-8 bytes per prompt token than text really has: see the module docstring."""

TOKENS_PER_MESSAGE = 8
"""Room for what a chat template puts around a message (3 to 6 tokens in the published templates)."""

TOKENS_FOR_TOOLS = 600
"""Room for the system prompt that a provider writes by itself where tools are offered (Anthropic publishes up to 530)."""

TOKENS_PER_PICTURE = 6000
"""More than any vendor takes a picture for: they scale large ones down, to 4,800 tokens at most by what they publish."""


def bound(call: Call, max_tokens: int, card: Card | None = None) -> Usage:
    """The most ``call`` can use: tokens, and dollars at the prices of ``card`` (None where one is unknown).

    ``max_tokens`` is the worker's own cap on completion tokens; what counts is :func:`completion_cap`.
    Example: ``bound(Call.plain("6 times 7?"), 100)`` is 13 prompt tokens and 100 completion tokens.
    """
    messages = render(call)
    size = sum(_bytes(text) for message in messages for text in (message.content, *(c.arguments for c in message.tool_calls)))
    size += sum(
        _bytes(text)
        for message in messages
        if message.thoughts is not None
        for thought in message.thoughts.thoughts
        for text in (thought.text, thought.signature)
    )
    size += sum(_bytes(text) for tool in call.response_options.tools for text in (tool.name, tool.description, tool.parameters))
    size += _bytes(call.response_options.response_format or "")
    prompt = -(-size // BYTES_PER_TOKEN) + TOKENS_PER_MESSAGE * len(messages)
    prompt += sum(attachment_tokens(attachment) for message in messages for attachment in message.attachments)
    if call.response_options.tools:
        prompt += TOKENS_FOR_TOOLS
    completion = completion_cap(call, max_tokens)
    cost = None if card is None else price(card, prompt, completion)
    return Usage(prompt_tokens=prompt, completion_tokens=completion, cost_usd=cost)


@overload
def completion_cap(call: Call, max_tokens: int) -> int: ...
@overload
def completion_cap(call: Call, max_tokens: int | None) -> int | None: ...
def completion_cap(call: Call, max_tokens: int | None) -> int | None:
    """Completion tokens at most: the worker's own ``max_tokens``, or what the call's sampling puts in its place, and never more
    than a client asks for.

    None where none is set. The person who runs Podium may raise it, as a study does for the arm ``context``; who asks a server
    may not. Example: ``completion_cap(Call(response_options=ResponseOptions(sampling=Sampling(max_tokens=9000))), 4096)`` is
    4096.
    """
    own = max_tokens if call.sampling.max_tokens is None else call.sampling.max_tokens
    return min((cap for cap in (own, call.response_options.sampling.max_tokens) if cap is not None), default=None)


def attachment_tokens(attachment: Attachment) -> int:
    """The most a picture or a file is taken to be; a file of many small pages passes it, and is booked in full on return."""
    if attachment.is_picture:
        return TOKENS_PER_PICTURE
    file_bytes = len(attachment.data) * 3 // 4
    return max(TOKENS_PER_PICTURE, file_bytes // BYTES_PER_TOKEN)


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def price(card: Card, prompt_tokens: int, completion_tokens: int) -> float | None:
    """Dollars for these tokens at the prices of ``card``; None where one of the two prices is unknown.

    Example: ``price(Card(name="a", prompt_usd=1e-6, completion_usd=2e-6), 1000, 500)`` is 0.002.
    """
    if card.prompt_usd is None or card.completion_usd is None:
        return None
    return prompt_tokens * card.prompt_usd + completion_tokens * card.completion_usd
