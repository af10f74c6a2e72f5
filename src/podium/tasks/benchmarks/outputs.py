"""CRUXEval, output prediction: a small Python function and an input; what does it return?"""

from podium.registry import register
from podium.tasks.benchmarks.benchmark import Benchmark, HubSource, Solved, SourceRow
from podium.tasks.benchmarks.files import in_files
from podium.types import Problem

KIND = "output-prediction"


def parse_cruxeval(row: SourceRow, split: str, seed: int) -> Solved:
    """CRUXEval: ``code`` defines ``f``; ``input`` and ``output`` are Python literals."""
    question = f"What does this Python call return?\n\n```python\n{row['code']}\n\nf({row['input']})\n```"
    problem = Problem(question=question, target=str(row["output"]), kind=KIND, source="cruxeval", split=split)
    return Solved(problem=problem, gold=f"Answer: {problem.target}")


register("benchmarks", "cruxeval")(
    Benchmark(
        name="cruxeval",
        kind=KIND,
        about="what short Python functions return",
        licence="MIT",
        url="https://github.com/facebookresearch/cruxeval",
        splits={"test": 800},
        parse=parse_cruxeval,
        local=in_files("cruxeval/cruxeval.jsonl"),
        hub=HubSource(dataset="cruxeval-org/cruxeval", revision=None),
    )
)
