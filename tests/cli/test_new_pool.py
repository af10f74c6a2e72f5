"""``podium new`` and ``podium doctor``: a pool file from a few answers, and what is said of this machine."""

import io
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from podium.acting.pool_file import read_pool
from podium.cli.app import app
from podium.cli.asking import agreed, answered
from podium.errors import ConfigError
from podium.extras import EXTRAS
from podium.pools import doctor as examining
from podium.pools.new_pool import USUAL, Choice, interviewed, of_local, of_model, of_provider, offered, pool_text, write_pool
from podium.workers.local_servers import LocalModel
from podium.workers.price_list import price_of

KEYS: dict[str, str | None] = {f"{name.upper()}_API_KEY": None for name in USUAL}
LOCAL = LocalModel(server="Ollama", port=11434, name="qwen3:8b")


def podium(*arguments: str, env: dict[str, str | None] | None = None) -> Result:
    return CliRunner().invoke(app, list(arguments), env={**KEYS, **(env or {})})


def shown(result: Result) -> str:
    return " ".join(result.output.split())


def test_a_pool_of_what_is_named(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    result = podium("new", str(file), "--yes", "--no-check", "--no-local", "--provider", "openai", "--model", "vllm:my/model")
    assert result.exit_code == 0, result.output
    pool = read_pool(file)
    assert [(worker.name, getattr(worker, "model", "")) for worker in pool.workers] == [
        ("gpt-5-mini", "openai:gpt-5-mini"),
        ("model", "vllm:my/model"),
    ]
    assert [worker.price is None for worker in pool.workers] == [True, False], "a model of one's own machine is free, and says so"
    assert pool.conductor is not None
    assert pool.conductor.worker == "gpt-5-mini"


def test_what_is_ready_is_taken_where_nothing_is_named_and_no_key_is_written(tmp_path: Path) -> None:
    file = tmp_path / "pool.toml"
    result = podium("new", str(file), "--yes", "--no-check", "--no-local", env={"MISTRAL_API_KEY": "not-to-be-written-1"})
    assert result.exit_code == 0, result.output
    assert [worker.name for worker in read_pool(file).workers] == [USUAL["mistral"]]
    assert "not-to-be-written" not in file.read_text() + result.output
    assert "MISTRAL_API_KEY" in file.read_text()


def test_a_file_that_is_there_stays_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "pool.toml"
    file.write_text("precious")
    result = podium("new", str(file), "--yes", "--no-check", "--no-local", "--provider", "openai")
    assert result.exit_code == 2
    assert "is there already" in shown(result)
    assert file.read_text() == "precious"
    with pytest.raises(ConfigError, match="is there already"):
        write_pool(file, pool_text([of_model("openai:gpt-5-mini")]))
    assert file.read_text() == "precious"
    write_pool(file, pool_text([of_model("openai:gpt-5-mini")]), replace=True)
    assert len(read_pool(file).workers) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["pool.toml"]


BAD = {
    "nobody to ask": ([], "nobody can answer questions here"),
    "nothing there": (["--yes", "--no-local"], "nothing to put into a pool file"),
    "unknown provider": (["--yes", "--no-local", "--provider", "opnai"], "did you mean 'openai'?"),
    "a provider of one's own": (["--yes", "--no-local", "--provider", "ollama"], "--model ollama:NAME"),
    "no provider": (["--yes", "--no-local", "--model", "gpt"], "names no provider"),
    "a key": (["--yes", "--no-local", "--model", "openai:sk-abcdefghij0123456789"], "looks like a key"),
    "a line end": (["--yes", "--no-local", "--model", "openai:a\nb"], "control character"),
}


@pytest.mark.parametrize(("flags", "message"), BAD.values(), ids=BAD.keys())
def test_what_makes_no_pool_file_leaves_none(flags: list[str], message: str, tmp_path: Path) -> None:
    result = podium("new", str(tmp_path / "pool.toml"), *flags)
    assert result.exit_code == 2
    assert message in shown(result)
    assert "sk-abcdefghij" not in result.output
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    result = podium("new", str(tmp_path / "none" / "pool.toml"), "--yes", "--no-check", "--no-local", "--provider", "openai")
    assert result.exit_code == 2
    assert "there is no folder" in shown(result)
    assert "mkdir -p" in shown(result), "said before anything is asked"


def test_quotes_and_backslashes_stay_inside_their_text(tmp_path: Path) -> None:
    file = tmp_path / "pool.toml"
    model = 'openai:a"\\ ] [[worker]] name = "b'
    write_pool(file, pool_text([of_model(model), of_model(model)]))
    first, second = read_pool(file).workers
    assert (getattr(first, "model", ""), getattr(second, "model", "")) == (model, model)
    assert first.name != second.name


def test_the_interview(tmp_path: Path) -> None:
    said: list[str] = []
    choices = offered([LOCAL], {"OPENAI_API_KEY": "x"})
    answers = iter(["1, 2", "gpt-5"])
    asked: list[str] = []

    def ask(question: str, usual: str) -> str:
        asked.append(f"{question} {usual}")
        return next(answers)

    chosen = interviewed(choices, said.append, ask)
    assert [choice.model for choice in chosen] == ["openai:gpt-5", "ollama:qwen3:8b"]
    assert "OPENAI_API_KEY is set" in said[0]
    assert "found at 127.0.0.1:11434" in said[1]
    assert "ANTHROPIC_API_KEY is not set" in said[2]
    assert asked[0].endswith("1 2"), "what is ready is proposed"
    for answer in ("0", "99", "x", "1 -1", "²", "1" * 5000):
        with pytest.raises(ConfigError, match="none of the numbers"):
            interviewed(choices, said.append, lambda question, usual, answer=answer: answer)  # type: ignore[misc]


def test_a_wrong_answer_is_asked_for_again_and_a_key_is_no_model() -> None:
    key = f"sk-proj-{'a1B2' * 8}"
    answers = iter(["x", "1", key, "gpt-5"])
    said: list[str] = []
    [chosen] = interviewed(offered([], {}), said.append, lambda question, usual: next(answers))
    assert chosen.model == "openai:gpt-5"
    assert "'x' is none of the numbers 1 to" in said[-2]
    assert "looks like a key" in said[-1]
    assert key not in "".join(said)
    with pytest.raises(ConfigError, match="looks like a key"):
        of_model(f"openai:{key}")


def test_a_found_server_is_asked_where_it_was_found() -> None:
    here = of_local(LocalModel(server="LM Studio", port=1234, name="phi"))
    assert here == Choice(model="openai:phi", base_url="http://127.0.0.1:1234/v1", note=here.note)
    text = pool_text([here])
    assert 'base_url = "http://127.0.0.1:1234/v1"' in text
    assert "prompt_usd_per_million = 0 " in text
    assert "API_KEY" not in text, "a provider's key never goes to another address"


@pytest.mark.parametrize("provider", USUAL)
def test_the_usual_models_have_a_price(provider: str) -> None:
    assert price_of(provider, USUAL[provider]) is not None
    assert of_provider(provider, {}).is_ready is False


@pytest.fixture
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without local servers, whose sandbox is not tried out in every test."""

    async def nobody() -> Sequence[LocalModel]:
        return []

    async def holds() -> None:
        return None

    monkeypatch.setattr(examining, "local_models", nobody)
    monkeypatch.setattr(examining, "probe_isolation", holds)


@pytest.mark.usefixtures("quiet")
def test_doctor_without_a_pool_finds_the_built_in_one() -> None:
    result = podium("doctor", "--json")
    assert result.exit_code == 0, result.output
    found = {(each["part"], each["name"]): each for each in json.loads(result.stdout)}
    assert found["installed", "python"]["said"] in sys.version
    assert found["reachable", "built-in pool"]["state"] == "ok"
    assert found["isolated", "sandbox"]["state"] == "ok"
    assert all(each["costs"] for each in found.values() if each["state"] != "ok"), "what is missing says what it costs one"
    assert "without it" in podium("doctor").output


@pytest.mark.usefixtures("quiet")
def test_doctor_says_by_its_exit_code_whether_the_pool_works(tmp_path: Path) -> None:
    file = tmp_path / "pool.toml"
    file.write_text('[[worker]]\nname = "a"\nmodel = "openai:x"\nbase_url = "http://127.0.0.1:9/v1"\n')
    result = podium("doctor", "--pool", str(file), "--json")
    assert result.exit_code == 3
    found = {(each["part"], each["name"]): each for each in json.loads(result.stdout)}
    assert found["reachable", "a"]["stops_pool"]
    assert found["priced", "a"]["state"] == "missing"
    file.write_text(file.read_text() + file.read_text().replace('"a"', '"b"'))
    said = podium("doctor", "--pool", str(file)).output
    assert "no answer from a, b" in " ".join(said.split())
    assert said.count("\nreachable\n") == said.count("\npriced\n") == 1, "each part once, however many workers there are"
    table = podium("pool", "check", "--pool", str(file), env={"COLUMNS": "80"}).output
    assert "…" not in table, "the settings to set, and the address that does not answer, stand there whole"
    assert podium("doctor", "--pool", str(tmp_path / "none.toml")).exit_code == 2


def test_every_extra_says_what_one_goes_without() -> None:
    assert {*EXTRAS} == {*examining.WITHOUT}


class Typed(io.StringIO):
    """A person's lines, as of a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("typed", "is_yes"), [("y\n", True), ("YES\n", True), ("\n", False), ("sure\nyes\n", True), ("sure\nsure\ny\n", False)]
)
def test_what_is_neither_yes_nor_no_is_asked_for_once_more(typed: str, is_yes: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Typed(typed))
    assert agreed("Replace it?") is is_yes


def test_the_end_of_what_is_typed_leaves_and_takes_nothing_that_is_usual(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Typed("\n"))
    assert answered("Which ones?", "1 2") == "1 2"
    with pytest.raises(KeyboardInterrupt):
        answered("Which ones?", "1 2")
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    assert not agreed("Replace it?"), "where nobody can answer, the answer is no"


@pytest.mark.parametrize(("command", "goes_on"), [("new", False), ("doctor", False), ("tune", True)])
def test_an_interrupted_command_names_no_flags_that_it_does_not_have(
    command: str, goes_on: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("podium.cli.forward.need", interrupted)
    result = podium(command)
    assert result.exit_code == 130
    assert ("--journal" in result.output) is goes_on
