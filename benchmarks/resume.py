"""The kill drill: ``python -m benchmarks.resume``.

One run of 30 iterations in peace, and the same run killed with SIGKILL at 20 random moments and started again each time. Then
everything is compared: final weights bit for bit, every reward and every text, and the journal's books.

``kills``: how often it was killed; ``weights_equal``, ``rewards_equal``: whether both runs came to the same; ``paid_twice``:
paid calls that the killed run's journal has beyond those of the run in peace; ``unsettled``: calls under way at a kill, whose
reply was lost with the process.
"""

import asyncio
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from safetensors.torch import load_file

from podium.workers.journal import Journal

RECIPE = Path(__file__).with_name("resume_recipe.py")
KILLS = 20


def started(out: Path) -> subprocess.Popen[bytes]:
    """``podium train`` in a process of its own."""
    command = [sys.executable, "-m", "podium", "train", str(RECIPE), "--out", str(out), "--json"]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def finish(out: Path) -> None:
    """Run, or go on, to the end."""
    process = started(out)
    _, said = process.communicate()
    if process.returncode:
        raise SystemExit(f"the run failed: {said.decode()[-2000:]}")


def killed(out: Path, seconds: float) -> bool:
    """Run for ``seconds`` and kill it; whether there was anything left to kill."""
    process = started(out)
    try:
        process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.communicate()
        return True
    return False


def rewards(out: Path) -> list[Any]:
    """Every group of the run as it was written down."""
    return [json.loads(line) for line in (out / "seed-0" / "groups.jsonl").read_text(encoding="utf-8").splitlines()]


async def paid(out: Path) -> tuple[int, int]:
    """Paid calls in the journal, and those whose reply was lost."""
    with Journal(out / "seed-0" / "calls.db", run="resume") as journal:
        rows = await journal.ledger()
    return sum(row.calls for row in rows), sum(row.unsettled for row in rows)


def main() -> None:
    """Run both, compare, print, and end with the JSON line."""
    rng = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        peace, drill = Path(folder) / "peace", Path(folder) / "drill"
        begun = time.perf_counter()
        finish(peace)
        whole = time.perf_counter() - begun
        print(f"in peace: {whole:.0f} s")
        kills = 0
        while kills < KILLS:
            # Every start loads torch for some seconds first; a kill should fall into the run as often as before it.
            seconds = rng.uniform(2.0, 8.0)
            if not killed(drill, seconds):
                break
            kills += 1
            print(f"kill {kills} after {seconds:.1f} s")
        finish(drill)
        ours, theirs = (load_file(out / "seed-0" / "policy" / "model.safetensors") for out in (peace, drill))
        (calls, _), (again, unsettled) = asyncio.run(paid(peace)), asyncio.run(paid(drill))
        figures = {
            "kills": kills,
            "weights_equal": all(bool((ours[name] == theirs[name]).all()) for name in ours) and set(ours) == set(theirs),
            "rewards_equal": rewards(peace) == rewards(drill),
            "iterations": len({line["iteration"] for line in rewards(drill)}),
            "paid_calls": calls,
            "paid_twice": again - calls,
            "unsettled": unsettled,
        }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
