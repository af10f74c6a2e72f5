"""How fast a completion is read: ``python -m benchmarks.parser``.

``median_us``: median over 1 kB completions of several dialects. ``hostile_max_ms``: the slowest of 20 hostile 1 MB texts
(best of five readings each, because the machine's own hiccups are not the parser's).
"""

import contextlib
import json
import statistics
import time

from podium.errors import WorkflowError
from podium.types import Brief, Card, Step, Workflow, ask
from podium.workflow.parse import format_workflow, parse

BRIEF = Brief(question=ask("q"), cards=tuple(Card(name=f"w{i}") for i in range(7)))
MEGABYTE = 1_000_000


def completions() -> dict[str, str]:
    """1 kB texts: some reasoning, then the lists."""
    workflow = Workflow(
        steps=(
            Step(
                worker=2, subtask="Work out a plan as one expression. Do not compute it yet, only say what to add and multiply."
            ),
            Step(worker=0, subtask="Carry out the plan exactly and show every intermediate value.", access=(0,)),
            Step(worker=5, subtask="Check each line against the question; then give the final answer.", access=(0, 1)),
        )
    )
    lists = format_workflow(workflow)
    texts = {
        "plain": lists,
        "smart quotes": lists.replace(' "', " “").replace('["', "[“").replace('",', "”,").replace('"]', "”]"),
        "json": json.dumps(
            {"model_id": [2, 0, 5], "subtasks": [s.subtask for s in workflow.steps], "access_list": [[], [0], "all"]}
        ),
        "fenced": f"```python\n{lists}\n```",
    }
    return {name: ("The question needs a plan first. " * 40)[: 1000 - len(text)] + "\n" + text for name, text in texts.items()}


def hostile() -> dict[str, str]:
    """20 texts of 1 MB that are made to cost time."""

    def fill(piece: str) -> str:
        return (piece * (MEGABYTE // len(piece) + 1))[:MEGABYTE]

    triple = "model_id = [0]\nsubtasks = ['a']\naccess_list = [[]]\n"
    return {
        "deep brackets": "model_id = " + fill("["),
        "deep brackets everywhere": fill("model_id = [[["),
        "huge integer": "model_id = [" + fill("9"),
        "huge integers": "model_id = [" + fill("99999999999999999999,"),
        "a megabyte of commas": "model_id = [" + fill(","),
        "a megabyte of zeros": "model_id = [" + fill("0,"),
        "many long lists": fill("model_id = [" + "0," * 4000 + "]"),
        "open string": 'subtasks = ["' + fill("a"),
        "open strings everywhere": fill('subtasks = ["'),
        "open smart strings everywhere": fill("subtasks = [“") + "”",
        "open single smart strings": fill("subtasks = [‘ ’ "),
        "backslashes": 'subtasks = ["' + fill("\\"),
        "escapes": 'model_id = [0]\nsubtasks = ["' + fill("\\n") + '"]\naccess_list = [[]]',
        "almost LaTeX": 'model_id = [0]\nsubtasks = ["' + fill("\\tex") + '"]\naccess_list = [[]]',
        "white space": "model_id" + fill(" ") + "= [0]",
        "names only": fill("model_id "),
        "names and equal signs": fill("model_id = "),
        "almost names": fill("model_i subtask access_lis "),
        "triples without end": fill(triple),
        "triple behind a megabyte": fill("thinking about model ids. ") + "\n" + triple,
    }


def seconds_to_parse(text: str) -> float:
    """Wall seconds of one reading; an error is as good an outcome as a workflow."""
    started = time.perf_counter()
    with contextlib.suppress(WorkflowError):
        parse(text, BRIEF)
    return time.perf_counter() - started


def main() -> None:
    """Print a table and the JSON line."""
    normal = [seconds_to_parse(text) for _ in range(500) for text in completions().values()]
    median_us = statistics.median(normal) * 1e6
    print(f"{len(completions())} dialects of a 1 kB completion: median {median_us:.0f} us")
    slowest = {name: min(seconds_to_parse(text) for _ in range(5)) * 1e3 for name, text in hostile().items()}
    for name, milliseconds in sorted(slowest.items(), key=lambda item: -item[1]):
        print(f"{milliseconds:8.2f} ms  {name}")
    print(
        json.dumps({"median_us": round(median_us, 1), "hostile_max_ms": round(max(slowest.values()), 2), "hostile": len(slowest)})
    )


if __name__ == "__main__":
    main()
