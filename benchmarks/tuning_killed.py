"""The kill drill of tuning: ``python -m benchmarks.tuning_killed``.

Four workers behind a loopback server, a pool file, a file of problems, and the command as a user types it: ``podium tune --pool
--file --max-usd --out``. Once in peace, and once killed with SIGKILL ten times at random moments and started again each time;
``--faults 0.1`` spoils so many requests besides. Then everything is compared, with the server's own books.

``kills``: how often it was killed while it ran; ``same_folder``: whether policy, questions, report and picture are the same byte
for byte, but for measured seconds, which differ from run to run; ``billed_in_peace``, ``billed``: replies that the server billed;
``unsettled``: calls under way at a kill, whose reply was lost with the process; ``paid_twice``: what was billed beyond those
and the run in peace; ``over_cap_usd``: dollars beyond ``--max-usd``; ``refused_over_cap``: in a third run with a cap of a tenth,
billed dollars beyond it, the calls of one killed process aside.
"""

import argparse
import json
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.faults import PODIUM, gym_server, stats, write_pool
from podium.gym.world import World

WORKERS = ("brook", "cedar", "ember", "atlas")
FILES = ("policy.json", "questions.jsonl", "report.md", "frontier.svg")
CAP_USD = 5.0


def prepared(folder: Path, url: str, problems: int) -> None:
    """A pool file of four workers, and problems whose answers are words or numbers."""
    write_pool(folder / "all.toml", url)
    tables = (folder / "all.toml").read_text().split("[[worker]]")[1:]
    named = [f"[[worker]]{table}" for table in tables if any(f'name = "{name}"' in table for name in WORKERS)]
    (folder / "pool.toml").write_text("".join(named))
    found = [problem for problem in World().problems(split="train", n=8 * problems) if problem.kind in ("choice", "knowledge")]
    lines = [{"question": one.question, "target": one.target, "kind": one.kind} for one in found[:problems]]
    (folder / "problems.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def command(folder: Path, out: Path, usd: float, calls: int) -> list[str]:
    """What the user types."""
    files = ("--pool", str(folder / "pool.toml"), "--file", str(folder / "problems.jsonl"))
    bounds = ("--max-usd", f"{usd:.9f}", "--max-calls", str(calls), "--no-gate")
    return [*PODIUM, "tune", *files, *bounds, "--out", str(out), "--json"]


def run(words: list[str]) -> None:
    """To the end, in peace."""
    done = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"the run failed: {done.stderr[-2000:]}")


def killed_run(words: list[str], url: str, kills: int, whole: int, rng: random.Random) -> int:
    """Kill it at random moments; between its start and a random number of replies more. How often there was anything to kill."""
    done = 0
    for _ in range(kills):
        before = stats(url)["completions"]
        until = before + rng.randrange(1, max(2, whole // kills))
        with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as client:
            while client.poll() is None and stats(url)["completions"] < until:
                time.sleep(0.005)
            time.sleep(rng.uniform(0.0, 0.1))
            if client.poll() is None:
                client.send_signal(signal.SIGKILL)
                done += 1
    return done


def unsettled(journal: Path) -> int:
    """Calls whose reply was lost with a killed process."""
    told = subprocess.run([*PODIUM, "pool", "ledger", str(journal), "--json"], check=True, capture_output=True)
    return sum(row["unsettled"] for row in json.loads(told.stdout))


def timeless(file: Path) -> str:
    """What stands in ``file`` without measured seconds: in the policy by name, in the report the last column of a workflow."""
    text = re.sub(r'"seconds": [0-9.e-]+', '"seconds": ?', file.read_text())
    return re.sub(r"^(\| \d.*\|) [0-9.]+ \|$", r"\1 ? |", text, flags=re.MULTILINE)


def drill(problems: int, calls: int, kills: int, faults: float, seed: int) -> dict[str, Any]:
    """Everything; the figures."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with gym_server(0.0) as url:
            prepared(folder, url, problems)
            run(command(folder, folder / "peace", CAP_USD, calls))
            peace = stats(url)
        print(f"in peace: {peace['completions']} calls", file=sys.stderr, flush=True)
        with gym_server(faults) as url:
            prepared(folder, url, problems)
            words = command(folder, folder / "killed", CAP_USD, calls)
            done = killed_run(words, url, kills, peace["completions"], rng)
            print(f"killed {done} times", file=sys.stderr, flush=True)
            run(words)
            books = stats(url)
        lost = unsettled(folder / "killed" / "calls.db")
        alike = [timeless(folder / "peace" / file) == timeless(folder / "killed" / file) for file in FILES]
        cap = peace["cost_usd"] / 10
        with gym_server(faults) as url:
            prepared(folder, url, problems)
            words = command(folder, folder / "small", cap, calls)
            killed_run(words, url, 1, peace["completions"] // 10, rng)
            subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            small = stats(url)["cost_usd"]
    return {
        "kills": done,
        "same_folder": all(alike),
        "billed_in_peace": peace["completions"],
        "billed": books["completions"],
        "unsettled": lost,
        "paid_twice": max(0, books["completions"] - peace["completions"] - lost),
        "over_cap_usd": max(0.0, books["cost_usd"] - CAP_USD),
        "small_cap_usd": cap,
        "refused_over_cap": max(0.0, small - cap),
    }


def main() -> None:
    """Run it and print one JSON object."""
    parser = argparse.ArgumentParser(description="kill -9 in the middle of tuning.")
    parser.add_argument("--problems", type=int, default=80)
    parser.add_argument("--calls", type=int, default=300)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--faults", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=0)
    print(json.dumps(drill(**vars(parser.parse_args()))))


if __name__ == "__main__":
    main()
