"""What the README, the docs and the examples show is true: every Python block and every example runs, every command exists."""

import ast
import re
import subprocess
import sys
import threading
from asyncio import Event, new_event_loop
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

import podium
from podium.acting.pool_file import read_pool
from podium.cli.app import app
from podium.gym.server import make_app, running
from podium.gym.specialists import specialists
from podium.gym.world import World

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FOREIGN = {"pool.toml", "config.toml", "recipe.json"}  # files of the reader, of another program, of a run
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(language: str) -> list[tuple[str, str]]:
    found = [(name_of(page), text) for page in PAGES for kind, text in BLOCK.findall(page.read_text()) if kind == language]
    assert found
    return found


@pytest.fixture(scope="module")
def model_server() -> Iterator[str]:
    """The gym's specialists behind OpenAI's protocol, for the pool file that the docs talk of."""
    ready, loop, stop, address = threading.Event(), new_event_loop(), Event(), []

    async def serve() -> None:
        async with running(make_app(specialists(World()))) as url:
            address.append(url)
            ready.set()
            await stop.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    assert ready.wait(30)
    yield address[0]
    loop.call_soon_threadsafe(stop.set)
    thread.join()
    loop.close()


@pytest.fixture
def workspace(tmp_path: Path, model_server: str) -> Path:
    """A folder as a reader of the docs has it: a pool file with two workers, and problems."""
    worker = '[[worker]]\nname = "{}"\nmodel = "openai:{}"\nbase_url = "{}/v1"\nmax_tokens = 256\nprompt_usd_per_million = 1\n'
    workers = [worker.format(*names, model_server) for names in (("strong", "brook"), ("local", "cedar"))]
    (tmp_path / "pool.toml").write_text("".join(f"{text}completion_usd_per_million = 1\n" for text in workers))
    [problems] = [text for page, text in blocks("json") if page == "docs/tutorials/measure.md"]
    (tmp_path / "problems.jsonl").write_text(problems)
    return tmp_path


@pytest.mark.parametrize(("page", "code"), blocks("python"))
def test_python_blocks_run(page: str, code: str, workspace: Path) -> None:
    script = workspace / "block.py"
    script.write_text(code)
    done = subprocess.run([sys.executable, "-W", "error", script], cwd=workspace, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("page", "code"), blocks("py"))
def test_blocks_that_would_not_end_can_be_read(page: str, code: str) -> None:
    """A server, a client of a running one: what they import is there, and the rest is Python."""
    tree = ast.parse(code)
    imports: list[ast.stmt] = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    exec(compile(ast.Module(imports, []), page, "exec"), {})  # noqa: S102 - our own docs
    named = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)]
    assert all(hasattr(podium, node.attr) for node in named if isinstance(node.value, ast.Name) and node.value.id == "podium")


@pytest.mark.parametrize(("page", "text"), blocks("toml"))
def test_pool_files_are_valid(page: str, text: str, tmp_path: Path) -> None:
    (tmp_path / "pool.toml").write_text(text)
    assert read_pool(tmp_path / "pool.toml").workers


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.name)
def test_examples_are_short_and_run(example: Path) -> None:
    assert len(example.read_text().splitlines()) <= 40
    done = subprocess.run([sys.executable, "-W", "error", example], capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_files_named_in_backticks_exist(page: Path) -> None:
    places = (ROOT, ROOT / "src" / "podium", ROOT / "src" / "podium" / "workflow")
    old = re.compile(r"^\| `[\w/.]+` \|", re.MULTILINE)  # the left column of the page about what changed
    text = old.sub("", page.read_text()) if page.name == "changes_0_2.md" else page.read_text()
    for name in re.findall(r"`([\w/]+\.(?:py|toml|json))`", text):
        if name not in FOREIGN:
            assert any((place / name).exists() for place in places), f"{page.name} names {name}"


COMMAND = re.compile(
    r"^podium (\w+)"
    r"(?: (list|show|check|serve|problems|ledger|probe|create|change|correct|revoke|export|delete|convert))?"
    r"([^#\n]*)",
    re.MULTILINE,
)


def test_commands_shown_exist_with_their_flags() -> None:
    flags: dict[str, set[str]] = {}
    for _, text in blocks("sh"):
        for command, part, rest in COMMAND.findall(text):
            flags.setdefault(f"{command} {part}".strip(), set()).update(re.findall(r"--[a-z-]+", rest))
    assert flags["evaluate"] >= {"--max-usd", "--set"}
    for command, named in flags.items():
        done = CliRunner().invoke(app, [*command.split(), "--help"], env={"COLUMNS": "200"})
        assert done.exit_code == 0, command
        assert not [flag for flag in named if flag not in done.output], command


def test_what_make_is_told_to_make_it_can_make() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {target for _, text in blocks("sh") for target in re.findall(r"^make (\w+)", text, re.MULTILINE)}
    assert {"demo", "test", "docs"} <= named <= targets


def test_the_readme_is_short_and_its_tree_is_the_package() -> None:
    text = (ROOT / "README.md").read_text()
    assert len(text.splitlines()) < 150
    [tree] = [block for kind, block in BLOCK.findall(text) if kind == "text"]
    rooms = {path.parent.name for path in (ROOT / "src" / "podium").glob("*/__init__.py")}
    assert set(re.findall(r"\b(\w+)/ ", tree)) == rooms
    for file in re.findall(r"\b(\w+\.py)\b", tree):
        assert list((ROOT / "src" / "podium").rglob(file)), file


def test_public_names_are_sorted_and_there() -> None:
    assert podium.__all__ == sorted(podium.__all__)
    assert all(hasattr(podium, name) for name in podium.__all__)
    ours = {name for name, value in vars(podium).items() if getattr(value, "__module__", "").startswith("podium.")}
    assert ours <= set(podium.__all__)
