"""``podium serve`` as a process: it says where it listens, answers, and ends in order."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import psycopg
import pytest

from benchmarks.server import BODY, POOL, started
from podium.gym.world import World


@contextmanager
def serving(folder: Path, *flags: str, **environment: str) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    command = [sys.executable, "-m", "podium", "serve", "--port", "0", *flags]
    with subprocess.Popen(
        command, cwd=folder, stderr=subprocess.PIPE, text=True, env={**os.environ, "COLUMNS": "200", **environment}
    ) as process:
        assert process.stderr is not None
        try:
            line = process.stderr.readline()
            found = re.search(r"at (http://\S+)/v1", line)
            assert found is not None, line + process.stderr.read()
            yield found[1], process
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)


def test_it_serves_the_built_in_pool_and_the_page(tmp_path: Path) -> None:
    [problem] = World().problems(split="held_out_numbers", n=1, kinds=("story",))
    with serving(tmp_path, "--policy", "best") as (url, process), httpx.Client(base_url=url) as http:
        body = {"model": "podium", "messages": [{"role": "user", "content": problem.question}]}
        answer = http.post("/v1/chat/completions", json=body).json()
        assert f"Answer: {problem.target}" in answer["choices"][0]["message"]["content"]
        assert http.get("/").status_code == 200
        assert http.get(f"/runs/{answer['podium']['run']}").status_code == 200
        assert http.get("/v1/models", headers={"Host": "evil.example"}).status_code == 400
        tools = [{"type": "function", "function": {"name": "now"}}]
        refused = http.post("/v1/chat/completions", json={**body, "tools": tools})
        assert (refused.status_code, refused.json()["error"]["code"]) == (400, "invalid_request")
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    runs = subprocess.run(
        [sys.executable, "-m", "podium", "runs", "list", "--json"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert answer["podium"]["run"] in runs.stdout


def test_headers_without_an_end_are_not_kept(tmp_path: Path) -> None:
    with serving(tmp_path, "--policy", "best", "--no-page") as (url, _):
        host, port = url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=20) as endless:
            endless.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n")
            sent = 0
            with suppress(ConnectionError):
                while sent < 64 << 20:
                    sent += endless.send(b"X: " + b"y" * 4000 + b"\r\n")
            assert sent < 32 << 20, "what the sockets between hold, and no more"
        with httpx.Client(base_url=url) as http:  # one connection, many requests, a body larger than all headers may be
            for _ in range(3):
                assert http.get("/healthz", headers={"X-Long": "y" * 60_000}).status_code == 200
                big = {"model": "atlas", "messages": [{"role": "user", "content": "y" * 3_000_000}]}
                assert http.post("/v1/chat/completions", json=big).status_code == 200


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (("--host", "0.0.0.0"), "podium keys create"),
        (("--policy", "trained:nobody"), "no trained Conductor"),
        (("--db", "mysql://x"), "mysql"),
        (("--host", "256.1.1.1", "--no-keys"), "can not listen"),
    ],
)
def test_what_can_not_be_served_is_said_before_anybody_asks(tmp_path: Path, flags: tuple[str, ...], says: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "podium", "serve", "--port", "0", *flags],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_told_to_stop_it_finishes_what_is_under_way(tmp_path: Path) -> None:
    with started([sys.executable, "-m", "benchmarks.mock_upstream"], r"(\d+)", SECONDS="2") as (port, _):
        (tmp_path / "pool.toml").write_text(POOL.format(port=port))
        flags = ("--pool", str(tmp_path / "pool.toml"), "--policy", "solo:mock")
        with serving(tmp_path, *flags) as (url, process), ThreadPoolExecutor() as threads:
            asked = threads.submit(httpx.post, f"{url}/v1/chat/completions", json=BODY, timeout=30)
            while not httpx.get(f"http://127.0.0.1:{port}/stats").json()["under_way"]:
                time.sleep(0.02)
            process.send_signal(signal.SIGTERM)
            answer = asked.result()
            assert answer.json()["choices"][0]["message"]["content"] == "It is 42."
            assert process.wait(30) == 0
    shown = [sys.executable, "-m", "podium", "runs", "show", answer.headers["x-podium-run"]]
    assert "It is 42." in subprocess.run(shown, cwd=tmp_path, capture_output=True, text=True, check=True).stdout


def test_told_to_stop_twice_it_gives_up_what_is_under_way_without_a_traceback(tmp_path: Path) -> None:
    with started([sys.executable, "-m", "benchmarks.mock_upstream"], r"(\d+)", SECONDS="60") as (port, _):
        (tmp_path / "pool.toml").write_text(POOL.format(port=port))
        flags = ("--pool", str(tmp_path / "pool.toml"), "--policy", "solo:mock", "--no-page")
        with serving(tmp_path, *flags) as (url, process), ThreadPoolExecutor() as threads:
            asked = threads.submit(httpx.post, f"{url}/v1/chat/completions", json=BODY, timeout=30)
            while not httpx.get(f"http://127.0.0.1:{port}/stats").json()["under_way"]:
                time.sleep(0.02)
            process.send_signal(signal.SIGINT)
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 0
            assert process.stderr is not None
            said = process.stderr.read()
            assert asked.exception() is not None or asked.result().status_code >= 500
    assert "stopped serving" in said
    assert "Traceback" not in said


def test_the_databases_password_is_in_no_file_and_no_output(tmp_path: Path, postgresql_server: str) -> None:
    with psycopg.connect(host=postgresql_server, user="podium", dbname="postgres", autocommit=True) as connection:
        connection.execute("CREATE DATABASE with_password")
    # Of whom this server asks for no password, one may be told all the same.
    url = f"postgresql://podium:hunter2@/with_password?host={postgresql_server}&password=hunter2"
    calls = tmp_path / "calls.db"
    with started([sys.executable, "-m", "benchmarks.mock_upstream"], r"(\d+)") as (port, _):
        (tmp_path / "pool.toml").write_text(POOL.format(port=port))
        flags = ("--pool", str(tmp_path / "pool.toml"), "--policy", "solo:mock", "--journal", str(calls))
        with serving(tmp_path, *flags, PODIUM_DB=url) as (at, process):
            for _ in range(2):
                assert httpx.post(f"{at}/v1/chat/completions", json=BODY, timeout=30).status_code == 200
            process.send_signal(signal.SIGTERM)
            process.wait(30)
            assert process.stderr is not None
            said = process.stderr.read()
    ledger = [sys.executable, "-m", "podium", "pool", "ledger", str(calls), "--json"]
    [row] = json.loads(subprocess.run(ledger, capture_output=True, text=True, check=True).stdout)
    assert (row["run"], row["calls"]) == ("serve postgresql://localhost:5432/with_password", 1)
    assert "hunter2" not in said
    for file in tmp_path.rglob("*"):
        assert not file.is_file() or b"hunter2" not in file.read_bytes(), file
    assert calls.stat().st_mode & 0o777 == 0o600


def test_a_share_per_key_needs_keys(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "podium", "serve", "--port", "0", "--concurrency-per-key", "2"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "--keys" in done.stderr
