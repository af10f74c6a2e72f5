"""The first program of docs/howto/python.md runs as it stands: a pool is opened, asked, measured and served."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import httpx

from podium.gym.world import World
from tests.test_readme import BLOCK, ROOT, model_server, workspace

__all__ = ["model_server", "workspace"]
HUB = '''"""Stands in for the library that loads GSM8K from the public hub."""

def load_dataset(dataset, config, *, split, revision):
    assert (dataset, split) == ("openai/gsm8k", "test")
    return [{{"question": question, "answer": f"Think. #### {{target}}"}} for question, target in {rows!r}]
'''
FREE_PORT = """import functools, podium
podium.serve = functools.partial(podium.serve, port=0, on_ready=lambda serving: print(serving.url, flush=True))
"""
"""Port 8000 may be taken where tests run."""


def test_the_ten_lines_run(workspace: Path) -> None:
    page = (ROOT / "docs" / "howto" / "python.md").read_text()
    [code] = [text for kind, text in BLOCK.findall(page) if kind == "py"]
    rows = [(problem.question, problem.target) for problem in World().problems(kinds=("story",), n=210)]
    (workspace / "datasets.py").write_text(HUB.format(rows=rows))
    (workspace / "program.py").write_text(FREE_PORT + code)
    command = [sys.executable, "-W", "error", "program.py"]
    with subprocess.Popen(command, cwd=workspace, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        assert program.stderr is not None
        said = []
        for line in program.stdout:
            said.append(line)
            if found := re.match(r"http://\S+", line):
                body = {"model": "podium", "messages": [{"role": "user", "content": "Why is the sky blue?"}]}
                answer = httpx.post(f"{found[0]}/v1/chat/completions", json=body, timeout=60).json()
                assert answer["choices"][0]["message"]["content"].strip()
                program.send_signal(signal.SIGINT)
        assert program.wait(60) == 0, program.stderr.read()
    table = [line for line in said if line.startswith(("| ours", "| alone"))]
    assert len(table) == 2
    assert "/203" in "".join(said) or " 203 " in "".join(said), said
