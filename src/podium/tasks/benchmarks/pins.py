"""The one table of hub data sets and commits.

A commit here was seen, spelled out for this data set, in public material (the hub's own pages, or code and manifests of
others who pin it); none was made up, and none could be opened from where this was written. Where nobody was found to name
one it is None: the loader then asks the user for a commit instead of following a branch that moves.

Several independent projects pin the same commit, except for ``rlpr`` (from the hub's page of that commit; no other pins
it) and ``leetcode`` (one project). None is known for ``scibench`` and ``cruxeval``.
"""

from podium.tasks.benchmarks.benchmark import HubSource

_MATH_SUBJECTS = (
    "algebra",
    "counting_and_probability",
    "geometry",
    "intermediate_algebra",
    "number_theory",
    "prealgebra",
    "precalculus",
)
_TEST = {"test": ("test",)}
_TRAIN_TEST = {"train": ("train",), "test": ("test",)}

LIVECODEBENCH_FILES = ("test.jsonl", "test2.jsonl", "test3.jsonl", "test4.jsonl", "test5.jsonl", "test6.jsonl")
"""One file per release; ``release_vN`` is the first N of them together."""

PINS: dict[str, HubSource] = {
    "math500": HubSource(dataset="HuggingFaceH4/MATH-500", revision="6e4ed1a2a79af7d8630a6b768ec859cb5af4d3be", splits=_TEST),
    "math": HubSource(
        dataset="EleutherAI/hendrycks_math",
        revision="21a5633873b6a120296cce3e2df9d5550074f4a3",
        configs=_MATH_SUBJECTS,
        splits=_TRAIN_TEST,
    ),
    "gsm8k": HubSource(
        dataset="openai/gsm8k", revision="740312add88f781978c0658806c59bc2815b9866", configs=("main",), splits=_TRAIN_TEST
    ),
    "mmlu": HubSource(
        dataset="cais/mmlu",
        revision="c30699e8356da336a370243923dbaf21066bb9fe",
        configs=("all",),
        splits={"test": ("test",), "val": ("validation",), "dev": ("dev",)},
    ),
    "rlpr": HubSource(
        dataset="openbmb/RLPR-Train-Dataset",
        revision="08fcfe3720fc3aafabd55ed44b020d1bd5a4aa42",
        splits={"train": ("train",)},
    ),
    "livecodebench": HubSource(
        dataset="livecodebench/code_generation_lite",
        revision="0fe84c3912ea0c4d4a78037083943e8f0c4dd505",
        files={f"release_v{n}": LIVECODEBENCH_FILES[:n] for n in range(1, 7)}
        | {f"v{n}": LIVECODEBENCH_FILES[n - 1 : n] for n in range(1, 7)},
    ),
    "gpqa-diamond": HubSource(
        dataset="Idavidrein/gpqa",
        revision="633f5ee89ab8ad4522a9f850766b73f62147ffdd",
        configs=("gpqa_diamond",),
        splits={"test": ("train",)},
        gated=True,
    ),
    "aime24": HubSource(dataset="math-ai/aime24", revision="83a7f387baaa524a8bda0022eac0541582297103", splits=_TEST),
    "aime25": HubSource(dataset="math-ai/aime25", revision="563bb8404243c5f09de6ec262f2db674fe5bce9b", splits=_TEST),
    "bigcodebench-hard": HubSource(
        dataset="bigcode/bigcodebench-hard",
        revision="298d2cc7b96612e15e47313c3603ee124cee0c1f",
        splits={"test": ("v0.1.4",), "all": ("v0.1.4",)},
    ),
    "humaneval": HubSource(dataset="openai/openai_humaneval", revision="7dce6050a7d6d172f3cc5c32aa97f52fa1a2e544", splits=_TEST),
    "mbpp": HubSource(
        dataset="google-research-datasets/mbpp",
        revision="4bb6404fdc6cacfda99d4ac4205087b89d32030c",
        configs=("full",),
        splits={"test": ("test",), "train": ("train",), "val": ("validation",), "prompt": ("prompt",)},
    ),
    "theoremqa": HubSource(
        dataset="TIGER-Lab/TheoremQA",
        revision="a340b1782960a712843aae3ed25f1e013cc008a5",
        splits={"test": ("test",), "all": ("test",)},
    ),
    "scibench": HubSource(dataset="xw27/scibench", revision=None, splits={"test": ("train",)}),
    "codeforces": HubSource(
        dataset="open-r1/codeforces",
        revision="fbe3f6e903ee854eec2e69e9d96d0306cde59baf",
        configs=("verifiable",),
        splits={"test": ("test",), "all": ("test",), "train": ("train",)},
    ),
    "leetcode": HubSource(
        dataset="newfacade/LeetCodeDataset",
        revision="215604aeed660029df7de2fea5a4d7b6ed476a08",
        splits=_TRAIN_TEST,
    ),
    "cruxeval": HubSource(dataset="cruxeval-org/cruxeval", revision=None, splits=_TEST),
}
