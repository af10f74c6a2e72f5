"""The fault drill: ``python -m benchmarks.faults``.

A gym server that spoils 30 % of the requests (429 with Retry-After, 500, hang, cut connection, truncated JSON, empty answer)
in one process; ``podium ask --file`` over it in another, with a journal and a budget, killed with SIGKILL in the middle and
started again. Then everything is compared: with the answers of the same run without faults, and with the server's own books.

All of it twice: with a workflow that is carried out to its end, and (``conditional_``) with one whose steps have conditions.

``answered``, ``world_faults``, ``other_failures``: how the questions ended. ``wrong_answers``: answers that differ from the
fault-free run (a fault that looked like an answer would be one). ``paid_more_than_asked``: paid calls of the run with faults
beyond those of the run without, unsettled and repeated ones of killed processes aside: a fault that was read as a disagreement.
``paid_twice``: completions the server billed minus paid calls in the journal (unsettled ones of the killed process included).
``over_budget_usd``: billed minus budget in a second run whose budget is too small for it, at most 0 or what the calls in flight
could cost.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from podium.gym.specialists import specialists
from podium.gym.world import World

PODIUM = [sys.executable, "-m", "podium"]
CONCURRENCY = 8
CONDITIONAL = "stop:2:atlas,cedar,delta,ember,fjord,grove"
"""A policy with conditions: whoever read a fault as a disagreement would ask more than without faults."""


@contextmanager
def gym_server(faults: float, latency: float = 0.0) -> Iterator[str]:
    """``podium gym serve`` in a process of its own; gives its base URL. ``latency`` 1: as slow as the workers' cards say."""
    command = [*PODIUM, "gym", "serve", "--port", "0", "--faults", str(faults), "--latency", str(latency)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        found = re.search(r"at (http://\S+)/v1", server.stdout.readline())
        assert found is not None
        try:
            yield found[1]
        finally:
            server.terminate()  # not SIGINT, which a parent in the background has its children ignore


def stats(url: str) -> dict[str, Any]:
    """The server's own books, all workers together."""
    with urllib.request.urlopen(f"{url}/stats") as reply:  # noqa: S310 - our own loopback server
        books = json.load(reply)["models"].values()
    faults: Counter[str] = Counter()
    for book in books:
        faults.update(book["faults"])
    return {
        "completions": sum(book["completions"] for book in books),
        "cost_usd": sum(book["cost_usd"] for book in books),
        "faults": dict(sorted(faults.items())),
    }


def write_pool(path: Path, url: str) -> None:
    """A pool file over the gym's server: short timeouts, patient retries, declared prices."""
    tables = []
    for worker in specialists(World()):
        card = worker.card
        assert card.prompt_usd is not None
        assert card.completion_usd is not None
        tables.append(
            f'[[worker]]\nname = "{card.name}"\nmodel = "openai:{card.name}"\nbase_url = "{url}/v1"\n'
            f"max_tokens = 256\ntimeout_seconds = 1.0\nretries = 8\nconcurrency = 16\n"
            f"prompt_usd_per_million = {card.prompt_usd * 1e6:.9g}\n"
            f"completion_usd_per_million = {card.completion_usd * 1e6:.9g}\n"
        )
    path.write_text("\n".join(tables))


def ask_command(folder: Path, out: str, *extra: str) -> list[str]:
    """``podium ask`` over the questions of ``folder`` by the policy that the folder names."""
    policy = (folder / "policy").read_text()
    return [
        *(*PODIUM, "ask", "--file", str(folder / "questions.jsonl"), "--pool", str(folder / "pool.toml")),
        *("--policy", policy, "--out", str(folder / out), "--concurrency", str(CONCURRENCY), "--json", *extra),
    ]


def answers(path: Path) -> dict[str, dict[str, Any]]:
    """Question -> the newest line about it."""
    return {line["question"]: line for line in map(json.loads, path.read_text().splitlines())}


def drill(questions: int, kills: int, policy: str = "mixture:brook") -> dict[str, Any]:
    """Run everything with ``questions`` gym problems, killing the client ``kills`` times; ``mixture`` asks 8 calls a question."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "policy").write_text(policy)
        problems = World().problems(split="held_out_numbers", n=questions)
        (folder / "questions.jsonl").write_text("".join(json.dumps({"question": p.question}) + "\n" for p in problems))
        with gym_server(0.0) as url:
            write_pool(folder / "pool.toml", url)
            subprocess.run(ask_command(folder, "clean.jsonl"), check=True, stdout=subprocess.DEVNULL)
            books = stats(url)
        figures: dict[str, Any] = {"questions": questions, "calls_without_faults": books["completions"]}
        with gym_server(0.3) as url:
            write_pool(folder / "pool.toml", url)
            figures |= _killed_run(folder, url, kills, books["completions"])
        figures |= _compared(answers(folder / "clean.jsonl"), answers(folder / "faulty.jsonl"))
        with gym_server(0.3) as url:
            write_pool(folder / "pool.toml", url)
            figures |= _small_budget(folder, url, books["cost_usd"] / 2)
        return figures


def _killed_run(folder: Path, url: str, kills: int, asked: int) -> dict[str, Any]:
    command = ask_command(folder, "faulty.jsonl", "--journal", str(folder / "calls.db"), "--budget-usd", "100")
    killed = 0
    for _ in range(kills):
        before = stats(url)["completions"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as client:
            while client.poll() is None and stats(url)["completions"] < before + 40:
                time.sleep(0.02)
            if client.poll() is None:
                os.kill(client.pid, signal.SIGKILL)
                killed += 1
    started = time.perf_counter()
    last = subprocess.run(command, stdout=subprocess.DEVNULL)
    assert last.returncode in (0, 3), "answered, or told that some questions met faults"
    seconds = time.perf_counter() - started
    rows = json.loads(
        subprocess.run([*PODIUM, "pool", "ledger", str(folder / "calls.db"), "--json"], check=True, capture_output=True).stdout
    )
    books = stats(url)
    paid, unsettled = sum(row["calls"] for row in rows), sum(row["unsettled"] for row in rows)
    return {
        "killed": killed,
        "billed_by_server": books["completions"],
        "paid_in_journal": paid,
        "unsettled_in_journal": unsettled,
        "paid_twice": max(0, books["completions"] - paid),
        "paid_more_than_asked": max(0, paid - unsettled - asked),
        "billed_usd": books["cost_usd"],
        "journal_usd": sum(row["known_usd"] for row in rows),
        "faults": books["faults"],
        "last_run_seconds": round(seconds, 1),
    }


def _compared(clean: dict[str, dict[str, Any]], faulty: dict[str, dict[str, Any]]) -> dict[str, Any]:
    failures = [line["failure"]["blame"] for line in faulty.values() if line["failure"] is not None]
    answered = {question: line["answer"] for question, line in faulty.items() if line["answer"] is not None}
    return {
        "answered": len(answered),
        "world_faults": failures.count("world"),
        "other_failures": len(failures) - failures.count("world"),
        "not_ended": len(clean) - len(answered) - len(failures),
        "wrong_answers": sum(answer != clean[question]["answer"] for question, answer in answered.items()),
    }


def _small_budget(folder: Path, url: str, cap: float) -> dict[str, Any]:
    command = ask_command(folder, "small.jsonl", "--journal", str(folder / "small.db"), "--budget-usd", str(cap))
    stopped = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert stopped.returncode == 2, stopped.stderr
    assert "BudgetExceeded" in stopped.stderr
    again = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert again.returncode == 2, again.stderr
    billed = stats(url)["cost_usd"]
    return {"budget_usd": cap, "budget_billed_usd": billed, "over_budget_usd": max(0.0, billed - cap)}


if __name__ == "__main__":
    plain = drill(questions=200, kills=5)
    conditional = drill(questions=200, kills=5, policy=CONDITIONAL)
    print(json.dumps(plain | {f"conditional_{key}": value for key, value in conditional.items()}))
