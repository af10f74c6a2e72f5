"""The study drill: ``python -m benchmarks.study``.

``podium evaluate STUDY.toml`` over workers behind HTTP, with a journal; killed with SIGKILL in the middle again and again, and
started again. Then its results are compared with those of the same study left alone, and with the server's own books.

``lost``, ``doubled``: answers that are missing, or stand there twice. ``different``: verdicts that are not those of the study
left alone. ``paid_twice``: completions the server billed minus calls the journal knows to have paid (``unsettled``: those that
were under way when the process died; they are asked again, and count against the cap).
"""

import json
import os
import signal
import subprocess
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.faults import PODIUM, gym_server, stats, write_pool

STUDY = """\
title = "The drill"
out = "{out}"
pool = "{folder}/pool.toml"
journal = "{folder}/{name}.db"
arms = ["worker:*", "reflection:brook", "mixture:brook"]
compare = "mixture:brook"
concurrency = 8
[problems]
gym = {each}
"""


def drill(each: int, kills: int) -> dict[str, Any]:
    """A study of ``each`` problems per kind, killed ``kills`` times."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # A server each: asked with the same idempotency key once more, it answers again and bills nothing.
        with gym_server(0.0) as url:
            write_pool(folder / "pool.toml", url)
            subprocess.run(_study(folder, "alone", each), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            calls = stats(url)["completions"]
        expected = _answers(folder / "alone")
        with gym_server(0.0) as url:
            write_pool(folder / "pool.toml", url)
            command = _study(folder, "killed", each)
            killed = _kill(command, url, kills, every=calls // (kills + 2))
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            billed = stats(url)["completions"]
        found = _answers(folder / "killed")
        ledger = [*PODIUM, "pool", "ledger", str(folder / "killed.db"), "--json"]
        rows = json.loads(subprocess.run(ledger, check=True, capture_output=True).stdout)
        paid, unsettled = sum(row["calls"] for row in rows), sum(row["unsettled"] for row in rows)
        return {
            "killed": killed,
            "answers": len(expected),
            "lost": len(set(expected) - set(found)),
            "doubled": sum(count - 1 for count in Counter(found.elements()).values()),
            "different": len(set(found) - set(expected)),
            "billed_by_server": billed,
            "paid_in_journal": paid,
            "unsettled": unsettled,
            "paid_twice": max(0, billed - paid - unsettled),
        }


def _study(folder: Path, name: str, each: int) -> list[str]:
    path = folder / f"{name}.toml"
    path.write_text(STUDY.format(out=folder / name, folder=folder, name=name, each=each))
    return [*PODIUM, "evaluate", str(path), "--json"]


def _answers(out: Path) -> Counter[tuple[str, str, int, bool]]:
    """Every line of a study: arm, problem, repeat, and whether it was right."""
    lines = map(json.loads, (out / "results.jsonl").read_text().splitlines())
    return Counter((line["arm"], line["problem"], line["repeat"], line["verdict"]["correct"]) for line in lines)


def _kill(command: list[str], url: str, kills: int, every: int) -> int:
    """Start the study ``kills`` times and kill it whenever ``every`` more calls were answered."""
    killed = 0
    for _ in range(kills):
        before = stats(url)["completions"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as study:
            while study.poll() is None and stats(url)["completions"] < before + every:
                time.sleep(0.02)
            if study.poll() is None:
                os.kill(study.pid, signal.SIGKILL)
                killed += 1
    return killed


if __name__ == "__main__":
    print(json.dumps(drill(each=25, kills=5)))
