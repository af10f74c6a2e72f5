"""The shape of the house: imports point downward, nothing runs in circles, torch stays in its rooms, every error has a blame."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import podium
from podium.errors import Blame, PodiumError, error_named

ROOT = Path(podium.__file__).parent
MODULES = {
    ".".join(("podium", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in ROOT.rglob("*.py")
}
# docs/architecture.md draws this table. A module may import from a lower floor or from its own room.
FLOORS = [
    {"errors", "conditions", "parts"},
    {"types", "jsonl", "body", "charts", "extras"},
    {"events", "access", "registry", "request_options"},
    {"protocols"},
    {"workers", "tasks", "gym"},
    {"acting"},
    {"workflow"},
    {"policies", "evaluation", "conduct"},
    {"pools"},
    {"sync"},
    {"serving", "training", "tuning"},
    {"recipes", "page"},
    {"studies", "hosting"},
    {"integrations"},
    {"cli"},
    {"__main__"},
]
TORCH = {
    "podium.policies.local",
    "podium.policies.qwen2",
    "podium.policies.sampling",
    "podium.policies.tokens",
    "podium.training.batch",
    "podium.training.grpo",
    "podium.training.learner",
    "podium.training.trl_engine",
    "podium.training.trl_options",
    "podium.training.row_trainer",
    "podium.training.engine",
    "podium.training.imitation",
}
MAX_LINES = 350
NOUNS = "podium.types"  # the one file that may be longer: the nouns stay together


def room(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def floor(module: str) -> int:
    return next(number for number, rooms in enumerate(FLOORS) if room(module) in rooms)


def imports_of(module: str) -> Iterator[tuple[str, int]]:
    """(imported module, line) of every import in the file, those inside functions and TYPE_CHECKING blocks included."""
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}:{node.lineno} imports relatively"
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield (full if full in MODULES else node.module or "", node.lineno)


@pytest.mark.parametrize("module", sorted(m for m in MODULES if m != "podium"))
def test_imports_point_downward(module: str) -> None:
    for imported, line in imports_of(module):
        if not imported.startswith("podium") or imported == "podium":
            continue
        same_room = room(imported) == room(module)
        assert same_room or floor(imported) < floor(module), f"{module}:{line} imports {imported}, which is not below it"
        if room(module) == "serving":
            assert room(imported) != "policies", f"{module}:{line}: serving never imports policies"


def test_no_circles() -> None:
    # The package itself loads its names when they are asked for, so it is no part of a circle.
    modules = MODULES.keys() - {"podium"}
    graph = {module: {name for name, _ in imports_of(module) if name in modules and name != module} for module in modules}
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, f"circle: {' -> '.join((*path, module))}"
        if module not in done:
            for imported in graph[module]:
                visit(imported, (*path, module))
            done.add(module)

    for module in graph:
        visit(module, ())


def test_torch_stays_in_its_rooms() -> None:
    heavy = ("torch", "transformers", "trl", "tokenizers", "safetensors")
    for module in set(MODULES) - TORCH:
        found = [f"{name} at line {line}" for name, line in imports_of(module) if name.split(".")[0] in heavy]
        assert not found, f"{module} imports {found}"


def test_the_core_imports_without_torch_and_the_command_starts_light() -> None:
    code = (
        "import sys; sys.modules['torch'] = None; import podium, podium.cli; "
        "heavy = [n for n in ('pydantic_ai', 'openai', 'aiohttp', 'torch') if sys.modules.get(n)]; assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


LAZY = {
    "podium.acting.mcp": "the MCP library",
    "podium.page.models_page": "the vendors' libraries",
    "podium.policies.trained": "torch",
    "podium.policies.tuned": "scikit-learn",
    "podium.pools.open": "the vendors' libraries",
    "podium.serving.run": "uvloop, where there is one",
    "podium.policies.learned": "scikit-learn",
    "podium.recipes.gym_adaptive": "scikit-learn",
    "podium.studies.cluster": "Ray",
    "podium.studies.measuring": "numpy and scikit-learn",
    "podium.studies.setups": "the vendors' libraries",
    "podium.training.imitation": "scikit-learn",
    "podium.training.recipe": "the vendors' libraries",
    "podium.training.run": "TRL",
    "podium.tuning.advising": "gepa",
    "podium.workers.connections": "aiohttp and the OpenAI library",
}
"""Modules outside the command line that load something heavy only when it is asked for."""


def test_lazy_imports_only_in_the_command_line() -> None:
    for module, path in MODULES.items():
        # What runs inside the sandbox starts anew for every verdict, and loads what a test really needs.
        if room(module) in ("cli", "__main__") or module in LAZY or module.startswith("podium.tasks.inside."):
            continue
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                inside = [node.lineno for node in ast.walk(function) if isinstance(node, ast.Import | ast.ImportFrom)]
                assert not inside, f"{module}:{inside} imports inside {function.name}"


def all_errors(base: type[PodiumError] = PodiumError) -> Iterator[type[PodiumError]]:
    for error in base.__subclasses__():
        yield error
        yield from all_errors(error)


def test_every_error_has_a_blame_a_reason_and_a_place_in_the_tree() -> None:
    for module in MODULES:
        if room(module) not in ("cli", "__main__"):
            __import__(module)
    tree = (ROOT / "errors.py").read_text(encoding="utf-8").split('"""')[1]
    for error in all_errors():
        assert isinstance(error.blame, Blame)
        assert error.__doc__
        assert error.__name__ in tree, f"{error.__name__} is missing in the tree that errors.py draws"
        assert error.__module__ == "podium.errors", f"{error.__name__} lives in {error.__module__}"
        assert error_named(error.__name__) is error


def test_files_hold_one_idea() -> None:
    lines = {name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in MODULES.items()}
    assert not {name: n for name, n in lines.items() if n > MAX_LINES and name != NOUNS}
    assert lines[NOUNS] <= 490


def test_the_command_line_is_thin() -> None:
    """Flags, screens and exit codes. What else a command needs is a function of the package, for those who use it from Python."""
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in (ROOT / "cli").rglob("*.py")) <= 2_700
    for module in MODULES:
        if room(module) not in ("cli", "__main__"):
            assert not [name for name, _ in imports_of(module) if room(name) == "cli"], f"{module} imports the command line"


def test_the_lists_are_spelled_in_the_language_only() -> None:
    allowed = {f"podium.workflow.{name}" for name in ("syntax", "parse", "prompt")}
    lists = re.compile("(?<!hub_)model_id|access_list")  # hub_model_id is a field of another library's configuration
    spelled = {name for name, path in MODULES.items() if lists.search(path.read_text(encoding="utf-8"))}
    assert spelled <= allowed, spelled - allowed


def test_steps_are_counted_from_0_wherever_somebody_reads_of_them() -> None:
    """The workflow language does, so a list that says [0] and a line that says "step 1" would be about different steps."""
    from_1 = re.compile(r"step \{[^{}]*\+ ?1", re.IGNORECASE)
    assert not {name for name, path in MODULES.items() if from_1.search(path.read_text(encoding="utf-8"))}


def test_every_module_says_what_it_is_for() -> None:
    for module, path in MODULES.items():
        assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), f"{module} has no docstring"
