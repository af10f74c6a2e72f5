"""A LangGraph agent as its tutorial writes it: ``python langgraph_agent.py URL MODEL SENTENCE``.

The conversation is kept in a file. It runs in an environment of its own, where nothing of Podium's is installed.
"""

import json
import sys
from pathlib import Path
from typing import Any

from langchain_core.messages import messages_from_dict, messages_to_dict  # type: ignore[import-not-found,unused-ignore]
from langchain_openai import ChatOpenAI  # type: ignore[import-not-found,unused-ignore]
from langgraph.prebuilt import create_react_agent  # type: ignore[import-not-found,unused-ignore]

KEPT = Path("conversation.json")


def append(text: str) -> str:
    """Append a line of text to one.txt."""
    with Path("one.txt").open("a", encoding="utf-8") as file:
        file.write(f"{text}\n")
    return "appended"


def read() -> str:
    """Read one.txt."""
    return Path("one.txt").read_text(encoding="utf-8")


def main(url: str, model: str, sentence: str) -> None:
    """Answer one turn of the user's."""
    model_at = ChatOpenAI(base_url=f"{url}/v1", model=model, max_retries=0)
    agent: Any = create_react_agent(model_at, tools=[append, read])
    before = messages_from_dict(json.loads(KEPT.read_text(encoding="utf-8"))) if KEPT.exists() else []
    messages = agent.invoke({"messages": [*before, ("user", sentence)]}, {"recursion_limit": 50})["messages"]
    KEPT.write_text(json.dumps(messages_to_dict(messages)), encoding="utf-8")
    for message in messages[len(before) :]:
        if message.type == "ai":
            used = message.usage_metadata
            cached = used["input_token_details"]["cache_read"]
            print(f"tokens {used['input_tokens'] - cached} {cached} {used['output_tokens']}")
    print(messages[-1].content)


if __name__ == "__main__":
    main(*sys.argv[1:])
