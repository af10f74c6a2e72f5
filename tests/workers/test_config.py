"""Pool files: six lines are enough, every mistake is named with its place, and no secret is ever repeated."""

import os
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.errors import ConfigError
from podium.protocols import Worker
from podium.types import Card, Sampling
from podium.workers.chat import ChatWorker
from podium.workers.chat_config import ChatWorkerConfig, build_chat_worker
from podium.workers.config import _pool, build_pool, read_pool
from podium.workers.connections import Connections
from podium.workers.kinds import BareWorker
from podium.workers.prices import Price
from podium.workers.table import DEFAULT_MAX_TOKENS

SIX_LINES = """\
[[worker]]
name = "small"
model = "openai:gpt-5-mini"
[[worker]]
name = "local"
model = "ollama:qwen3:8b"
"""
SECRET = "sk-proj-abcdefghijklmnop0123456789"  # noqa: S105 - not a real one
BARE = {"OPENAI_API_KEY": "k1"}


def written(folder: Path, text: str) -> Path:
    path = folder / "pool.toml"
    path.write_text(text, encoding="utf-8")
    return path


def bare(made: BareWorker) -> Worker:
    return made.worker


def test_six_lines_make_two_workers(tmp_path: Path) -> None:
    pool = build_pool(read_pool(written(tmp_path, SIX_LINES)), BARE, bare, Connections())
    assert pool.names == ("small", "local")
    small, local = (member.worker for member in pool)
    assert isinstance(small, ChatWorker)
    assert isinstance(local, ChatWorker)
    assert small.identity == ChatWorker(model="openai:gpt-5-mini", sampling=Sampling(max_tokens=DEFAULT_MAX_TOKENS)).identity
    assert local.name == "qwen3:8b"
    assert pool.cards[0].prompt_usd == pytest.approx(0.25e-6)
    assert pool.cards[1].prompt_usd is None, "a local model is not free until the file says so"


def test_every_key_arrives(tmp_path: Path) -> None:
    text = """
        [[worker]]
        name = "large"
        model = "vllm:Qwen/Qwen3-8B"
        base_url = "http://localhost:8000/v1"
        api_key_env = "MY_KEY"
        max_tokens = 4096
        temperature = 1
        top_p = 0.9
        thinking_tokens = 0
        timeout_seconds = 30
        retries = 0
        concurrency = 8
        requests_per_minute = 100
        tokens_per_minute = 10000
        fallback = "small"
        hedge_after_seconds = 2.5
        prompt_usd_per_million = 0
        completion_usd_per_million = 2
        about = "good at sums"
        [worker.extra_body.chat_template_kwargs]
        enable_thinking = false
        [worker.skills]
        mathematics = 0.9
        code = 1
        [[worker]]
        name = "small"
        model = "openai:gpt-5-mini"
        [conductor]
        worker = "small"
        cards = true
        max_steps = 4
        attempts = 3
    """
    config = read_pool(written(tmp_path, text))
    large = config.workers[0]
    assert isinstance(large, ChatWorkerConfig)
    assert large == ChatWorkerConfig(
        name="large",
        model="vllm:Qwen/Qwen3-8B",
        base_url="http://localhost:8000/v1",
        api_key_env="MY_KEY",
        max_tokens=4096,
        temperature=1.0,
        top_p=0.9,
        thinking_tokens=0,
        extra_body={"chat_template_kwargs": {"enable_thinking": False}},
        timeout_seconds=30.0,
        retries=0,
        concurrency=8,
        requests_per_minute=100,
        tokens_per_minute=10000,
        fallback="small",
        hedge_after_seconds=2.5,
        prompt_usd_per_million=0.0,
        completion_usd_per_million=2.0,
        about="good at sums",
        skills={"mathematics": 0.9, "code": 1.0},
    )
    assert large.price == Price(prompt_usd=0.0, completion_usd=2e-6, source="pool file")
    assert config.conductor is not None
    assert (config.conductor.worker, config.conductor.cards) == ("small", True)
    assert (config.conductor.max_steps, config.conductor.attempts) == (4, 3)
    worker = build_chat_worker(large, {"MY_KEY": "abc"})
    assert worker.identity == (
        '{"base_url":"http://localhost:8000/v1","extra_body":{"chat_template_kwargs":{"enable_thinking":false}},'
        '"model":"Qwen/Qwen3-8B","provider":"vllm",'
        '"sampling":{"max_tokens":4096,"temperature":1.0,"thinking_tokens":0,"top_p":0.9}}'
    )


def test_cards_and_wrapping(tmp_path: Path) -> None:
    text = SIX_LINES + 'prompt_usd_per_million = 0\ncompletion_usd_per_million = 0\nabout = "free"\nskills = { code = 0.5 }\n'
    seen: list[tuple[str, Card]] = []

    def wrap(made: BareWorker) -> Worker:
        assert isinstance(made.worker, ChatWorker)
        assert isinstance(made.table, ChatWorkerConfig)
        assert f"{made.worker.provider}:{made.worker.name}" == made.table.model
        seen.append((made.table.name, made.card))
        return made.worker

    pool = build_pool(read_pool(written(tmp_path, text)), BARE, wrap, Connections())
    assert pool.cards[1] == Card(name="local", about="free", skills=(("code", 0.5),), prompt_usd=0.0, completion_usd=0.0)
    assert dict(seen) == {card.name: card for card in pool.cards}


def test_a_worker_is_wrapped_after_its_fallback(tmp_path: Path) -> None:
    fallbacks = {"a": "c", "b": "a", "c": "d", "d": None, "e": "d"}
    text = "".join(
        f'[[worker]]\nname = "{name}"\nmodel = "ollama:m"\n' + (f'fallback = "{after}"\n' if after else "")
        for name, after in fallbacks.items()
    )
    order: list[str] = []

    def wrap(made: BareWorker) -> Worker:
        assert made.table.fallback is None or made.table.fallback in order
        order.append(made.table.name)
        return made.worker

    pool = build_pool(read_pool(written(tmp_path, text)), {}, wrap, Connections())
    assert sorted(order) == list(pool.names) == list(fallbacks)


def test_reading_looks_at_no_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert len(read_pool(written(tmp_path, SIX_LINES)).workers) == 2


@pytest.mark.parametrize(
    ("settings", "variable"),
    [
        ({"model": "openai:m"}, "OPENAI_API_KEY"),
        ({"model": "anthropic:m"}, "ANTHROPIC_API_KEY"),
        ({"model": "google:m"}, "GOOGLE_API_KEY"),
        ({"model": "openrouter:m"}, "OPENROUTER_API_KEY"),
        ({"model": "ollama:m"}, None),
        ({"model": "openai:m", "api_key_env": "MINE"}, "MINE"),
        # A provider's key goes to that provider; another address gets only what the file names for it.
        ({"model": "openai:m", "base_url": "http://elsewhere.example/v1"}, None),
        ({"model": "openai:m", "base_url": "http://elsewhere.example/v1", "api_key_env": "MINE"}, "MINE"),
    ],
)
def test_where_the_key_comes_from(settings: dict[str, str], variable: str | None) -> None:
    assert ChatWorkerConfig(name="a", **settings).key_env == variable  # type: ignore[arg-type]


@pytest.mark.parametrize("environ", [{}, {"OPENAI_API_KEY": ""}, {"OPENAI_API_KEY": " \n"}])
def test_a_missing_variable(tmp_path: Path, environ: dict[str, str]) -> None:
    path = written(tmp_path, SIX_LINES)
    with pytest.raises(ConfigError, match="OPENAI_API_KEY is not set") as caught:
        build_pool(read_pool(path), environ, bare, Connections())
    assert str(path) in str(caught.value)
    assert "'small'" in str(caught.value)


@pytest.mark.parametrize("value", ["two words", "new\nline", "schlüssel"])
def test_a_variable_that_holds_no_key(value: str) -> None:
    with pytest.raises(ConfigError, match="does not hold a key") as caught:
        build_chat_worker(ChatWorkerConfig(name="a", model="openai:m"), {"OPENAI_API_KEY": value})
    assert value not in str(caught.value)


def test_white_space_around_a_key_is_no_part_of_it() -> None:
    build_chat_worker(ChatWorkerConfig(name="a", model="openai:m"), {"OPENAI_API_KEY": " abc\n"})


ONE = '[[worker]]\nname = "a"\nmodel = "openai:m"\n'
TWO = ONE + '[[worker]]\nname = "b"\nmodel = "openai:m"\n'


@pytest.mark.parametrize(
    ("text", "says_what"),
    [
        ("", ["empty", "[[worker]]"]),
        ("worker = []", ["empty"]),
        ("worker = 5", ["[[worker]]"]),
        ("worker = [5]", ["[[worker]]"]),
        ('[worker]\nname = "a"', ["[[worker]]"]),
        ("[[worker]]\nname = \nmodel = 5", ["not TOML", "line 2"]),
        ("[[workers]]\n", ["unknown key 'workers'", "did you mean 'worker'"]),
        (ONE + "temprature = 1", ["worker 'a'", "unknown key 'temprature'", "did you mean 'temperature'"]),
        (ONE + "zzz = 1", ["worker 'a'", "unknown key 'zzz'", "max_tokens"]),
        ('[[worker]]\nname = "a"\n', ["worker 'a'", "model is missing"]),
        ('[[worker]]\nmodel = "openai:m"\n', ["worker number 1", "name is missing"]),
        ('[[worker]]\nname = ""\nmodel = "openai:m"', ["name"]),
        ('[[worker]]\nname = "a\\u0007"\nmodel = "openai:m"', ["worker number 1", "name"]),
        ('[[worker]]\nname = "a"\nmodel = "gpt-5"', ["model", "provider:model"]),
        ('[[worker]]\nname = "a"\nmodel = "opnai:gpt-5"', ["did you mean 'openai'"]),
        (ONE + "max_tokens = 0", ["max_tokens", "greater than 0"]),
        (ONE + "max_tokens = -5", ["max_tokens", "greater than 0"]),
        (ONE + "max_tokens = 1.5", ["max_tokens"]),
        (ONE + 'max_tokens = "9"', ["max_tokens"]),
        (ONE + "max_tokens = true", ["max_tokens"]),
        (ONE + "temperature = -1", ["temperature"]),
        (ONE + "temperature = nan", ["temperature"]),
        (ONE + "top_p = 0", ["top_p"]),
        (ONE + "thinking_tokens = -1", ["thinking_tokens"]),
        (ONE + "max_tokens = 10\nthinking_tokens = 10", ["thinking_tokens = 10", "max_tokens"]),
        (ONE + "timeout_seconds = 0", ["timeout_seconds"]),
        (ONE + "timeout_seconds = inf", ["timeout_seconds"]),
        (ONE + "retries = -1", ["retries"]),
        (ONE + "concurrency = 0", ["concurrency"]),
        (ONE + "requests_per_minute = 0", ["requests_per_minute"]),
        (ONE + "prompt_usd_per_million = -1\ncompletion_usd_per_million = 1", ["prompt_usd_per_million"]),
        (ONE + "prompt_usd_per_million = 1", ["both", "completion_usd_per_million"]),
        (ONE + "skills = { code = 1.5 }", ["skills.code"]),
        (ONE + 'skills = "code"', ["skills"]),
        (ONE + "extra_body = 5", ["extra_body"]),
        (ONE + "extra_body = { messages = [] }", ["extra_body", "messages"]),
        (ONE + "extra_body = { day = 2026-11-20 }", ["extra_body", "JSON"]),
        (ONE + "extra_body = { a = nan }", ["extra_body", "JSON"]),
        (ONE + 'base_url = "localhost"', ["base_url", "http"]),
        (ONE + ONE, ["two workers are named 'a'"]),
        (ONE + 'fallback = "a"', ["its own fallback"]),
        (TWO + 'fallback = "c"', ["worker 'b'", "no worker is named 'c'"]),
        (TWO.replace('"openai:m"\n[[', '"openai:m"\nfallback = "b"\n[[') + 'fallback = "a"', ["circle", "a -> b -> a"]),
        (ONE + "[conductor]\ncards = true", ["conductor", "worker is missing"]),
        (ONE + '[conductor]\nworker = "b"', ["conductor", "no worker is named 'b'"]),
        (ONE + '[conductor]\nworker = "a"\ncard = true', ["unknown key 'card'", "did you mean 'cards'"]),
        (ONE + '[conductor]\nworker = "a"\nmax_steps = 0', ["max_steps"]),
        ("conductor = 5\n" + ONE, ["[conductor]"]),
        (ONE + "a" + "=[" * 1 + "[" * 5000, ["pool.toml"]),
        (ONE + f"max_tokens = {'9' * 5000}", ["pool.toml"]),
    ],
)
def test_mistakes(tmp_path: Path, text: str, says_what: list[str]) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        read_pool(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    for part in says_what:
        assert part in message, message


@pytest.mark.parametrize(
    "line",
    [
        f'api_key = "{SECRET}"',
        'api_key = "hunter2-hunter2"',
        'API_KEY = "hunter2-hunter2"',
        'token = "hunter2-hunter2"',
        'secret = "hunter2-hunter2"',
        f'api_key_env = "{SECRET}"',
        'api_key_env = "hunter2-hunter2"',
        'api_key_env = "AIzaSyhunter2hunter2hunter2hunter2"',
        'api_key_env = "hunter2"',
        f'about = "my key is {SECRET}"',
        f'extra_body = {{ auth = {{ header = "{SECRET}" }} }}',
        'extra_body = { api_key = "hunter2-hunter2" }',
        'extra_body = { list = [ { Authorization = "hunter2-hunter2" } ] }',
        'base_url = "http://me:hunter2@localhost/v1"',
        f'base_url = "http://localhost/v1?key={SECRET}"',
        f'"{SECRET}" = 1',
        f'skills = {{ "{SECRET}" = 1 }}',
        'extra_body = { hex = "hunter200112233445566778899aabbccddeeff" }',
    ],
)
def test_a_key_in_the_file_is_refused_and_not_repeated(tmp_path: Path, line: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_pool(written(tmp_path, ONE + line))
    message = str(caught.value)
    assert "api_key_env" in message
    assert "worker 'a'" in message
    shown: BaseException | None = caught.value
    while shown is not None:
        assert SECRET not in str(shown)
        assert "hunter2" not in str(shown)
        shown = shown.__cause__


@pytest.mark.parametrize("line", [f'api_key = "{SECRET}"', f'"{SECRET}" = 1', 'api_key = "hunter2"'])
def test_a_key_outside_of_any_table(tmp_path: Path, line: str) -> None:
    with pytest.raises(ConfigError, match="api_key_env") as caught:
        read_pool(written(tmp_path, f"{line}\n{ONE}"))
    assert SECRET not in str(caught.value)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("field", ["name", "model"])
def test_a_key_in_the_place_of_a_name(tmp_path: Path, field: str) -> None:
    text = re.sub(rf'{field} = "[^"]*"', f'{field} = "{SECRET}"', ONE)
    with pytest.raises(ConfigError, match="looks like a key") as caught:
        read_pool(written(tmp_path, text))
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    "model",
    [
        "openai:gpt-4o-mini-2024-07-18",
        "openai:ft:gpt-4o-mini-2024-07-18:my-org:custom-suffix:9AbCdEfG",
        "together:meta-llama/Meta-Llama-3.1-405B-Instruct-Turbo",
        "fireworks:accounts/fireworks/models/llama-v3p1-405b-instruct-long",
        "openrouter:deepseek/deepseek-r1-distill-qwen-32b:free",
        "ollama:hf.co/bartowski/Llama-3.2-3B-Instruct-GGUF:Q4_K_M",
        "anthropic:claude-sonnet-4-5-20250929",
    ],
)
def test_model_names_and_plain_words_are_no_keys(tmp_path: Path, model: str) -> None:
    about = "sk-learn, risk-management-and-planning-2026-edition, task-solving-with-4-or-more-steps"
    config = read_pool(written(tmp_path, f'[[worker]]\nname = "a"\nmodel = "{model}"\nabout = "{about}"\n'))
    assert config.workers[0].answering()["model"] == model


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such file"):
        read_pool(tmp_path / "none.toml")


def test_a_directory(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is a directory"):
        read_pool(tmp_path)


def test_something_that_never_ends(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(ConfigError, match="not a regular file"):
        read_pool(pipe)


def test_an_impossible_path() -> None:
    with pytest.raises(ConfigError, match="can not be read"):
        read_pool("pool\0.toml")


@pytest.mark.parametrize("data", [b"\xff\xfe\x00\x01", b"name = '\xe4'", bytes(range(256))])
def test_not_text(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "pool.toml"
    path.write_bytes(data)
    with pytest.raises(ConfigError, match="not UTF-8"):
        read_pool(path)


def test_binary_that_is_utf8(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not TOML"):
        read_pool(written(tmp_path, "\0\0\0"))


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    assert len(read_pool(written(tmp_path, "\ufeff" + SIX_LINES)).workers) == 2


def test_too_large(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="larger than"):
        read_pool(written(tmp_path, "#" * 1_000_001))


def test_a_missing_extra_names_the_file_and_the_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_: str) -> None:
        raise ImportError("not here")

    monkeypatch.setattr("podium.workers.providers.infer_provider_class", missing)
    path = written(tmp_path, '[[worker]]\nname = "a"\nmodel = "anthropic:claude-haiku-4-5"\n')
    with pytest.raises(ConfigError, match=r"pip install 'podium\[anthropic\]'") as caught:
        build_pool(read_pool(path), {"ANTHROPIC_API_KEY": "abc"}, bare, Connections())
    assert str(path) in str(caught.value)
    assert "worker 'a'" in str(caught.value)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=5,
)


@given(
    st.text(max_size=200)
    | st.lists(
        st.sampled_from(["[[worker]]\n", "name", "model", " = ", '"a"', '"openai:m"', "\n", "5", "[conductor]", "{", "}"])
    ).map("".join)
)
@settings(deadline=None)
def test_any_text_is_a_pool_or_a_config_error(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.getbasetemp() / "any.toml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        said = str(read_pool(path))
    except ConfigError as error:
        said = str(error)
    assert str(path) in said


@given(st.dictionaries(st.sampled_from(sorted(ChatWorkerConfig.model_fields)), VALUES))
@settings(deadline=None)
def test_any_values_are_a_worker_or_a_config_error(table: dict[str, object]) -> None:
    try:
        config = _pool("pool.toml", {"worker": [{"name": "a", "model": "ollama:m", **table}]})
    except ConfigError:
        return
    (worker,) = config.workers
    assert isinstance(worker, ChatWorkerConfig)
    build_chat_worker(worker, {worker.key_env or "": "abc"})
