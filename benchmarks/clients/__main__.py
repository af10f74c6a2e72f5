"""Runs Codex, opencode, LangGraph and aider against ``podium serve`` over scripted models.

``python -m benchmarks.clients [AGENT ...]``. Each works through two turns of one conversation: eight tool calls a turn (aider has
no tools: three turns, an edit each), with the prompted Conductor over three workers, with ``podium-fast`` and with a bare worker.
Whether it finished, whether each turn was planned once, whether anything was forgotten and whether the worker was kept where the
second workflow names another one of the same price is counted where the models are asked.

``paid_usd``: what was asked of the models, at their prices. ``runs_usd``: what the server's books say. ``sessions_usd``: what
they say of the sessions; ``session_runs_usd``: of the runs in them. ``tokens``: the last that the agent reports, where it prints
them (Codex: of all answers together); each that it reports has to be what its models counted. Needs node and the registries;
prints one JSON object last.
"""

import json
import re
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.clients.agents import AGENTS, SECONDS, TURNS, VERSIONS, Agent, environment
from benchmarks.clients.upstream import ANEW, CACHED, CALL_USD, WRITTEN, Provider, serving
from benchmarks.server import started

MODELS = {"podium": 1, "podium-fast": 1, "solver": 0}
"""What is asked for -> how often a workflow is written for each turn."""
WORKER = """
[[worker]]
name = "{name}"
model = "openai:{name}"
base_url = "{url}"
max_tokens = 1024
retries = 0
prompt_usd_per_million = 1.0
cached_usd_per_million = 0.1
completion_usd_per_million = 10.0
"""


def measure(names: list[str]) -> dict[str, Any]:
    """Every agent with every model."""
    figures: dict[str, Any] = {}
    for name in names:
        AGENTS[name].install()
        figures[name] = {"version": VERSIONS[name]}
        for model in MODELS:
            figures[name][model] = _tried(name, AGENTS[name], model)
            print(f"{name} {model}: {json.dumps(figures[name][model])}", file=sys.stderr, flush=True)
    runs = [figures[name][model] for name in names for model in MODELS]
    return {**figures, "ok": all(run["ok"] for run in runs)}


def _tried(name: str, agent: Agent, model: str) -> dict[str, Any]:
    turns = 3 if name == "aider" else TURNS
    with tempfile.TemporaryDirectory(prefix="podium-clients-") as made:
        folder, work = Path(made), Path(made) / "work"
        work.mkdir()
        provider = Provider(agent.steps(work), agent.text)
        with serving(provider) as upstream:
            (folder / "pool.toml").write_text("".join(WORKER.format(name=each, url=upstream) for each in provider.asked))
            serve = [sys.executable, "-m", "podium", "serve", "--pool", str(folder / "pool.toml"), "--policy", "chat:boss"]
            serve += ["--port", "0", "--no-page", "--db", f"sqlite:///{folder / 'podium.db'}"]
            with started(serve, r"at (http://\S+)/v1", COLUMNS="300") as (url, _):
                agent.prepare(work, url, model)
                begun = time.perf_counter()
                said = [_turn(agent.command(work, url, model, turn), work, url) for turn in range(1, turns + 1)]
                seconds = time.perf_counter() - begun
        finished = sum(f"Finished {turn}." in text for turn, text in enumerate(said, start=1))
        calls = len(provider.steps)
        changes = MODELS[model] > 0 and not agent.has_session  # then nothing is known of who acted before
        expected = {
            "boss": MODELS[model] * turns,
            "planner": turns if model == "podium" else 0,
            "solver": (calls + 1) * (1 if changes else turns),
            "other": (calls + 1) * (turns - 1) if changes else 0,
        }
        books = _books(folder / "podium.db")
        books["paid_usd"] = round(provider.requests * CALL_USD, 9)
        is_right = books["paid_usd"] == books["runs_usd"] and books["sessions_usd"] == books["session_runs_usd"]
        told = [tuple(map(int, found)) for found in re.findall(agent.tokens, "\n".join(said))] if agent.tokens else []
        is_right &= not agent.tokens or told == _tokens(agent, turns, calls + 1)
        written = (work / "one.txt").read_text() if (work / "one.txt").exists() else None
        done = written == agent.in_file
        ok = finished == turns and done and provider.asked == expected and provider.forgotten == 0 and is_right
        shown = {} if ok else {"expected": expected, "written": written, "said": [text[-3000:] for text in said]}
        return {
            "ok": ok,
            "turns": turns,
            "finished": finished,
            "tool_calls": calls * turns if done else None,
            "planned": provider.asked["boss"],
            "asked": provider.asked,
            "aside": provider.aside,
            "forgotten": provider.forgotten,
            **books,
            "tokens": told[-1] if told else None,
            "seconds": round(seconds, 1),
            **shown,
        }


def _tokens(agent: Agent, turns: int, answers: int) -> list[tuple[int, ...]]:
    """What ``agent`` is to report of ``turns`` turns of so many ``answers``: read anew, read from a cache, written."""
    if agent.adds_up:
        return [tuple(turn * answers * each for each in (ANEW + CACHED, CACHED, WRITTEN)) for turn in range(1, turns + 1)]
    return [(ANEW, CACHED, WRITTEN)] * (turns * answers)


def _books(path: Path) -> dict[str, Any]:
    """What the server wrote down, in dollars, and how many sessions there were."""
    with sqlite3.connect(path) as database:

        def of(query: str) -> float:
            return float(database.execute(query).fetchone()[0] or 0)

        return {
            "runs_usd": round(of("SELECT sum(cost_nano) FROM runs") / 1e9, 9),
            "session_runs_usd": round(of("SELECT sum(cost_nano) FROM runs WHERE session != ''") / 1e9, 9),
            "sessions_usd": round(of("SELECT sum(spent_nano) FROM sessions") / 1e9, 9),
            "sessions": int(of("SELECT count(*) FROM sessions WHERE id LIKE 'ses_%'")),
        }


def _turn(command: list[str], work: Path, url: str) -> str:
    """What an agent prints."""
    try:
        done = subprocess.run(
            command,
            cwd=work,
            env=environment(work, url),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        return f"no end after {SECONDS} s: {str(late.stdout)[-2000:]}"
    return done.stdout


if __name__ == "__main__":
    result = measure(sys.argv[1:] or list(AGENTS))
    print(json.dumps(result))
    sys.exit(0 if result["ok"] else 1)
