"""The agents: how each is installed, told of our server, and asked; and what it has done when it worked."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.clients.upstream import Step

VERSIONS: Mapping[str, str] = json.loads(Path(__file__).with_name("versions.json").read_text(encoding="utf-8"))
FOLDER = Path(sys.prefix) / "clients"
"""Where they are installed; ``make clean`` takes it away with the rest of the environment."""
SECONDS = 240
TURNS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """One of them."""

    install: Callable[[], None]
    command: Callable[[Path, str, str, int], list[str]]
    """The folder to work in, the server's URL, the model and the number of the turn -> what to run."""
    prepare: Callable[[Path, str, str], None]
    """Writes the agent's settings."""
    steps: Callable[[Path], Sequence[Step]]
    """What the scripted model does with the agent's tools in each turn."""
    text: str
    """What it says at the end of a turn."""
    in_file: str
    """What the tools leave in one.txt after all turns."""
    has_session: bool = True
    """Whether its turns can be told to be one session. Aider's can not: it names none and rewrites what was said before."""
    tokens: str = ""
    """Finds what it reports as the tokens of each answer, in what it prints: read anew, read from a cache, written.

    "" of an agent that does not say.
    """
    adds_up: bool = False
    """Whether it reports them at the end of each turn, as the sum of all answers so far, what was cached among what was read."""


def _codex_install() -> None:
    _npm("codex", "@openai/codex")


def _codex_prepare(folder: Path, url: str, model: str) -> None:
    (folder / ".codex").mkdir()
    (folder / ".codex" / "config.toml").write_text(
        f'model = "{model}"\nmodel_provider = "podium"\ncheck_for_update_on_startup = false\n'
        '[analytics]\nenabled = false\n[model_providers.podium]\nname = "Podium"\n'
        f'base_url = "{url}/v1"\nwire_api = "responses"\nrequest_max_retries = 0\nstream_max_retries = 0\n'
    )


def _codex_command(folder: Path, url: str, model: str, turn: int) -> list[str]:
    flags = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "--json"]
    resumed = ["resume", "--last"] if turn > 1 else []
    return [str(_bin("codex")), "exec", *resumed, *flags, f"Turn {turn}: write one.txt, read it, write to it again."]


def _codex_steps(folder: Path) -> list[Step]:
    first = ("echo one >> one.txt", "cat one.txt", "echo two >> one.txt", "ls", "wc -l one.txt", "cat one.txt", "pwd", "true")
    return [("exec_command", {"cmd": command}) for command in first]


def _opencode_install() -> None:
    _npm("opencode", "opencode-ai")


def _opencode_prepare(folder: Path, url: str, model: str) -> None:
    names = {name: {"name": name, "limit": {"context": 128_000, "output": 4_000}} for name in {model, "solver"}}
    settings: dict[str, Any] = {
        "model": f"here/{model}",
        "small_model": "here/solver",
        "autoupdate": False,
        "share": "disabled",
        "permission": {"edit": "allow", "bash": "allow"},
        "provider": {
            "here": {
                "npm": "@ai-sdk/openai-compatible",
                "name": "Podium",
                "options": {"baseURL": f"{url}/v1", "apiKey": "none"},
                "models": names,
            }
        },
    }
    (folder / "opencode.json").write_text(json.dumps(settings))


def _opencode_command(folder: Path, url: str, model: str, turn: int) -> list[str]:
    again = ["--continue"] if turn > 1 else []
    as_json = ["--format", "json"]
    return [
        str(_bin("opencode")),
        "run",
        *again,
        *as_json,
        "--model",
        f"here/{model}",
        f"Turn {turn}: write one.txt, read it, add to it.",
    ]


def _opencode_steps(folder: Path) -> list[Step]:
    path = str(folder / "one.txt")
    return [
        ("write", {"filePath": path, "content": "one\n"}),
        ("read", {"filePath": path}),
        ("bash", {"command": "echo two >> one.txt", "description": "Adds a line"}),
        ("read", {"filePath": path}),
        *(("bash", {"command": command, "description": "Looks"}) for command in ("ls", "wc -l one.txt", "pwd", "true")),
    ]


def _aider_install() -> None:
    _venv("aider", [f"aider-chat=={VERSIONS['aider']}"])


def _aider_prepare(folder: Path, url: str, model: str) -> None:
    (folder / "one.txt").write_text("nothing\n")


def _aider_command(folder: Path, url: str, model: str, turn: int) -> list[str]:
    flags = ["--no-git", "--yes-always", "--no-show-model-warnings", "--no-check-update", "--analytics-disable", "--no-pretty"]
    models = ["--model", f"openai/{model}", "--weak-model", "openai/solver", "--edit-format", "whole", "--map-tokens", "0"]
    kept = ["--restore-chat-history"] if turn > 1 else []
    return [str(_bin("aider")), *flags, *models, *kept, "--message", f"Turn {turn}: write it to one.txt.", "one.txt"]


def _langgraph_install() -> None:
    _venv("langgraph", [f"{package}=={VERSIONS[package]}" for package in ("langgraph", "langgraph-prebuilt", "langchain-openai")])


def _langgraph_prepare(folder: Path, url: str, model: str) -> None:
    pass


def _langgraph_command(folder: Path, url: str, model: str, turn: int) -> list[str]:
    program = Path(__file__).with_name("langgraph_agent.py")
    return [str(FOLDER / "langgraph" / "bin" / "python"), str(program), url, model, f"Turn {turn}: write to one.txt and read it."]


def _langgraph_steps(folder: Path) -> list[Step]:
    append, read = ("append", {"text": "one"}), ("read", dict[str, Any]())
    return [append, read, ("append", {"text": "two"}), *[read] * 5]


def _venv(name: str, packages: Sequence[str]) -> None:
    folder, wanted = FOLDER / name, " ".join(packages)
    if _is_installed(folder, wanted):
        return
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
    subprocess.run([str(folder / "bin" / "pip"), "install", "-qq", *packages], check=True)
    _note(folder, wanted)


def _npm(name: str, package: str) -> None:
    folder = FOLDER / name
    if _is_installed(folder, VERSIONS[name]):
        return
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text(json.dumps({"private": True, "dependencies": {package: VERSIONS[name]}}))
    subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--silent"], cwd=folder, check=True)
    _note(folder, VERSIONS[name])


def _is_installed(folder: Path, version: str) -> bool:
    note = folder / "version"
    return note.exists() and note.read_text() == version


def _note(folder: Path, version: str) -> None:
    (folder / "version").write_text(version)


def _bin(name: str) -> Path:
    inside = "bin" if name == "aider" else "node_modules/.bin"
    return FOLDER / name / inside / name


def environment(folder: Path, url: str) -> dict[str, str]:
    """Nothing of the machine's own settings or keys, and a home of its own."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "CODEX_HOME": str(folder / ".codex"),
        "XDG_CONFIG_HOME": str(folder / ".config"),
        "XDG_DATA_HOME": str(folder / ".local"),
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENAI_API_BASE": f"{url}/v1",
        "OPENAI_API_KEY": "none",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "TERM": "dumb",
        "LANG": "C.UTF-8",
    }


AGENTS: Mapping[str, Agent] = {
    "codex": Agent(
        install=_codex_install,
        command=_codex_command,
        prepare=_codex_prepare,
        steps=_codex_steps,
        text="Finished NUMBER.",
        in_file="one\ntwo\none\ntwo\n",
        tokens=r'"input_tokens":(\d+),"cached_input_tokens":(\d+),.*?"output_tokens":(\d+)',
        adds_up=True,
    ),
    "opencode": Agent(
        install=_opencode_install,
        command=_opencode_command,
        prepare=_opencode_prepare,
        steps=_opencode_steps,
        text="Finished NUMBER.",
        in_file="one\ntwo\n",
        tokens=r'"input":(\d+),"output":(?=(?:\d+).*?"read":(\d+))(\d+)',
    ),
    "langgraph": Agent(
        install=_langgraph_install,
        command=_langgraph_command,
        prepare=_langgraph_prepare,
        steps=_langgraph_steps,
        text="Finished NUMBER.",
        in_file="one\ntwo\none\ntwo\n",
        tokens=r"tokens (\d+) (\d+) (\d+)",
    ),
    "aider": Agent(
        install=_aider_install,
        command=_aider_command,
        prepare=_aider_prepare,
        steps=lambda _: [],
        text="Finished NUMBER.\n\none.txt\n```\nwritten NUMBER\n```\n",
        in_file="written 3\n",
        has_session=False,
    ),
}
