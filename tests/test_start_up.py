"""What is loaded before the first answer. No seconds are counted here: what is not loaded takes no time."""

import json
import subprocess
import sys

import pytest

HEAVY = {
    "aiohttp", "anthropic", "datasets", "fastapi", "genai_prices", "httpx", "httpx2", "jinja2", "math_verify", "nicegui", "numpy",
    "openai", "pint", "pydantic_ai", "ray", "scipy", "sklearn", "sqlalchemy", "sympy", "torch", "transformers",
}  # fmt: skip
LOADED = "import json, sys; print(json.dumps(sorted(sys.modules)), file=sys.stderr)"


def loaded_by(code: str) -> set[str]:
    """The modules of a fresh process that ran ``code``."""
    done = subprocess.run([sys.executable, "-c", f"{code}\n{LOADED}"], capture_output=True, text=True, check=True)
    return set(json.loads(done.stderr.splitlines()[-1]))


def command(*words: str) -> set[str]:
    """The modules of a fresh process that carried out ``podium WORDS``."""
    run = f"import sys; sys.argv = ['podium', *{words!r}]\nfrom podium.cli import main\ntry: main()\nexcept SystemExit: pass"
    return loaded_by(run)


def rooms(modules: set[str]) -> set[str]:
    return {module.split(".")[1] for module in modules if module.startswith("podium.")}


def packages(modules: set[str]) -> set[str]:
    return {module.split(".")[0] for module in modules}


def test_import_podium_loads_nothing_but_itself() -> None:
    modules = loaded_by("import podium")
    assert rooms(modules) == set()
    assert packages(modules) & (HEAVY | {"asyncio", "pydantic", "rich", "typer"}) == set()


def test_the_help_needs_only_the_command_line() -> None:
    modules = command("--help")
    assert rooms(modules) <= {"cli", "errors", "extras"}
    assert packages(modules) & HEAVY == set()


def test_a_mistake_in_the_flags_is_said_before_anything_is_loaded() -> None:
    modules = command("ask")
    assert rooms(modules) <= {"cli", "conditions", "errors", "extras", "parts", "types", "workflow"}
    assert packages(modules) & HEAVY == set()


@pytest.mark.parametrize("words", [("ask", "hi"), ("ask", "Why is the sky blue?", "--json"), ("gym", "problems", "-n", "1")])
def test_the_built_in_pool_opens_without_what_calls_models_and_without_weights(words: tuple[str, ...]) -> None:
    modules = command(*words)
    assert "podium.gym.questions" in modules
    assert packages(modules) & HEAVY == set()
    assert not {"podium.workers.chat", "podium.workers.price_list", "podium.policies.local", "podium.tasks.sandbox"} & modules


@pytest.mark.parametrize("module", ["ask", "check", "data", "demo", "evaluate", "gym", "keys", "reproduce", "runs"])
def test_commands_that_need_no_extra_are_there_without_it(module: str) -> None:
    absent = "import sys; sys.modules |= dict.fromkeys(('jinja2', 'scipy', 'sklearn', 'torch'))"
    loaded_by(f"{absent}\nimport podium.cli.{module}")
