"""The chat endpoint as OpenAI's own client sees it."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from openai import AsyncOpenAI

from podium.errors import ContextOverflow, WorkerRefused, WorkerUnavailable
from podium.request_options import RequestOptions
from podium.serving.app import ServerLimits
from podium.serving.asking import conducted
from podium.serving.concurrency import ConcurrencyGate
from podium.serving.conversation import ParsedRequest
from podium.serving.metrics import Metrics
from podium.serving.service import RequestService
from podium.types import Call, Message
from tests.serving.live import TWO_STEPS, Live, Puppet, catalog_of, live, said, until

JSON = {"Content-Type": "application/json"}
ASKED: Any = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "6 times 7?"},
    {"role": "assistant", "content": "41."},
    {"role": "user", "content": [{"type": "text", "text": "Are you "}, {"type": "text", "text": "sure?"}]},
]


def client(server: Live, key: str = "none", **more: Any) -> AsyncOpenAI:
    return AsyncOpenAI(base_url=f"{server.url}/v1", api_key=key, max_retries=0, **more)


async def test_the_whole_conversation_is_conducted_and_the_story_told(tmp_path: Path) -> None:
    boss, planner, solver = said(TWO_STEPS), said("Multiply."), said("It is 42.")
    async with live(catalog_of(boss, planner, solver), tmp_path) as server, client(server) as ai:
        raw = await ai.chat.completions.with_raw_response.create(model="podium", messages=ASKED, temperature=0.0, max_tokens=50)
        answer = raw.parse()
        assert answer.choices[0].message.content == "It is 42."
        assert answer.choices[0].finish_reason == "stop"
        assert answer.usage is not None
        assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (10, 3), "of the last step: the client's context"
        story: Any = answer.model_dump()["podium"]
        assert story["usage"]["total_tokens"] == 30 + len(TWO_STEPS.split(" ")) + 1 + 3
        assert raw.headers["x-podium-prompt-tokens"] == "30"
        assert raw.headers["x-podium-completion-tokens"] == str(story["usage"]["completion_tokens"])
        assert [step["worker"] for step in story["rounds"][0]["steps"]] == ["w1", "w2"]
        assert [step["response"] for step in story["rounds"][0]["steps"]] == ["Multiply.", "It is 42."]
        assert story["cost_usd"] == pytest.approx(0.003)
        assert raw.headers["x-podium-run"] == story["run"]
        assert float(raw.headers["x-podium-cost-usd"]) == pytest.approx(0.003)
        [first], [last] = planner.calls, solver.calls
        assert [message.role for message in first.question] == ["system", "user", "assistant", "user"]
        assert first.question[-1] == Message(role="user", content="Are you sure?")
        assert (first.response_options.sampling.temperature, last.response_options.sampling.temperature) == (None, 0.0)
        assert (first.response_options.sampling.max_tokens, last.response_options.sampling.max_tokens) == (None, 50)
        kept = await server.accounts.runs.get(story["run"], key=None)
        assert kept is not None
        assert (kept.question, kept.answer, kept.workers) == ("Are you sure?", "It is 42.", ("w1", "w2"))


async def test_the_answer_streams_as_it_comes_and_the_steps_before_it_as_reasoning(tmp_path: Path) -> None:
    boss, planner, solver = said(TWO_STEPS), said("Multiply."), Puppet(lambda call: "It is 42.", seconds=0.05)
    async with live(catalog_of(boss, planner, solver), tmp_path) as server, client(server) as ai:
        stream = await ai.chat.completions.create(
            model="podium", messages=ASKED, stream=True, stream_options={"include_usage": True}
        )
        chunks = [chunk async for chunk in stream]
        deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
        assert deltas[0].role == "assistant"
        assert [delta.role for delta in deltas[1:]] == [None] * (len(deltas) - 1)
        assert [delta.content for delta in deltas if delta.content] == ["It ", "is ", "42."]
        reasoning = "".join(getattr(delta, "reasoning_content", None) or "" for delta in deltas)
        assert (
            reasoning == "step 0, w1 (sees question): Plan it.\nstep 1, w2 (sees step 0): Solve it.\n\nstep 0, w1: Multiply.\n\n"
        )
        assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "stop"
        assert chunks[-1].choices == []
        assert chunks[-1].usage is not None
        assert (chunks[-1].usage.prompt_tokens, chunks[-1].usage.completion_tokens) == (10, 3)
        assert (chunks[-1].model_extra or {})["podium"]["usage"]["prompt_tokens"] == 30
        events = [told["event"] for chunk in chunks if (told := (chunk.model_extra or {}).get("podium")) and "event" in told]
        assert events == ["workflow", "step_started", "step_finished", "step_started", "step_finished"]


async def test_choices_are_draws_of_their_own(tmp_path: Path) -> None:
    solver = Puppet(lambda call: f"draw {call.sample[0] if len(call.sample) > 1 else ''}")
    async with live(catalog_of(said(TWO_STEPS), said("Plan."), solver), tmp_path) as server, client(server) as ai:
        answer = await ai.chat.completions.create(model="w2", messages=ASKED, n=3)
        assert [choice.index for choice in answer.choices] == [0, 1, 2]
        assert len({call.sample for call in solver.calls}) == 3
        stream = await ai.chat.completions.create(model="podium", messages=ASKED, n=2, stream=True)
        assert {chunk.choices[0].index async for chunk in stream} == {0, 1}


@pytest.mark.parametrize("stream", [False, True])
async def test_stop_ends_the_answer_wherever_it_was_cut(tmp_path: Path, stream: bool) -> None:
    solver = said("one two END three")
    async with live(catalog_of(said(TWO_STEPS), said("Plan."), solver), tmp_path) as server, client(server) as ai:
        if stream:
            chunks = [
                c async for c in await ai.chat.completions.create(model="podium", messages=ASKED, stop=["o END"], stream=True)
            ]
            text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
            reason = chunks[-1].choices[0].finish_reason
        else:
            whole = await ai.chat.completions.create(model="podium", messages=ASKED, stop="o END")
            text, reason = whole.choices[0].message.content or "", whole.choices[0].finish_reason
        assert (text, reason) == ("one tw", "stop")


async def test_a_run_with_a_choice_that_failed_is_kept_as_failed(tmp_path: Path) -> None:
    tries = []

    def second_fails(call: Call) -> str:
        tries.append(call)
        if len(tries) == 2:
            raise WorkerUnavailable("gone")
        return "42"

    async with live(catalog_of(said(TWO_STEPS), said("Plan."), Puppet(second_fails)), tmp_path) as server, client(server) as ai:
        with pytest.raises(openai.APIStatusError):
            await ai.chat.completions.create(model="w2", messages=ASKED, n=2)
        [run] = await server.accounts.runs.search(key=None)
        assert (run.failure, run.answer) == ("WorkerUnavailable", None)
        assert run.usage.cost_usd == pytest.approx(0.001)


async def test_one_stop_text_may_be_long(tmp_path: Path) -> None:
    solver = said("42 and that is the end of it")
    async with live(catalog_of(said(TWO_STEPS), said("Plan."), solver), tmp_path) as server, client(server) as ai:
        stopped = await ai.chat.completions.create(model="w2", messages=ASKED, stop=" and that is the end")
        assert stopped.choices[0].message.content == "42"
        with pytest.raises(openai.BadRequestError):
            await ai.chat.completions.create(model="w2", messages=ASKED, stop=["x"] * 17)


async def test_rounds_and_workers_are_chosen_by_body_and_by_header(tmp_path: Path) -> None:
    texts = iter(
        [TWO_STEPS, "model_id = [1]\nsubtasks = ['Again.']\naccess_list = [[]]"] + [TWO_STEPS.replace("[1, 2]", "[0, 1]")] * 2
    )
    boss = Puppet(lambda call: next(texts))
    async with live(catalog_of(boss, said("Plan."), said("42")), tmp_path) as server, client(server) as ai:
        twice = await ai.chat.completions.create(model="podium", messages=ASKED, extra_body={"podium": {"rounds": 2}})
        assert [len(each["steps"]) for each in twice.model_dump()["podium"]["rounds"]] == [2, 1]
        assert twice.choices[0].message.content == "Plan."
        for how in ({"extra_body": {"podium": {"exclude_workers": ["boss"]}}}, {"extra_headers": {"X-Podium-Workers": "w1, w2"}}):
            with pytest.raises(openai.BadRequestError, match="boss"):
                await ai.chat.completions.create(model="podium", messages=ASKED, **how)
        alone = await ai.chat.completions.create(
            model="podium", messages=ASKED, extra_headers={"X-Podium-Policy": "solo:w2", "X-Podium-Exclude-Workers": "boss"}
        )
        assert alone.choices[0].message.content == "42"
        with pytest.raises(openai.BadRequestError, match="x-podium-rounds"):
            await ai.chat.completions.create(model="podium", messages=ASKED, extra_headers={"X-Podium-Rounds": "many"})


async def test_a_budget_is_kept_before_the_call(tmp_path: Path) -> None:
    solver = said("42")
    async with live(catalog_of(said(TWO_STEPS), said("Plan."), solver), tmp_path) as server, client(server) as ai:
        with pytest.raises(openai.APIStatusError) as caught:
            await ai.chat.completions.create(model="w2", messages=ASKED, extra_body={"podium": {"budget_usd": 0.0001}})
        assert caught.value.status_code == 402
        assert caught.value.code == "budget_exceeded"
        assert not solver.calls


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (WorkerUnavailable("503 from upstream", 7.0), 503, "worker_unavailable"),
        (WorkerUnavailable("Request timed out."), 504, "worker_timeout"),
        (WorkerUnavailable("sometimes it is without a reply"), 503, "worker_unavailable"),
        (WorkerRefused("content filter"), 502, "worker_refused"),
        (ContextOverflow("too long"), 400, "context_length_exceeded"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
async def test_faults_have_openais_shape(tmp_path: Path, error: Exception, status: int, code: str, stream: bool) -> None:
    def fail(call: Call) -> str:
        raise error

    async with live(catalog_of(Puppet(fail), said("Plan.")), tmp_path) as server, client(server) as ai:
        with pytest.raises(openai.APIStatusError) as caught:
            await ai.chat.completions.create(model="podium", messages=ASKED, stream=stream)
        assert (caught.value.status_code, caught.value.code) == (status, code)
        if error.args[-1] == 7.0:
            assert caught.value.response.headers["retry-after"] == "7"
        assert caught.value.response.headers.get("x-should-retry") == ("false" if code == "worker_refused" else None)


async def test_a_policy_that_writes_no_workflow_is_asked_again_and_then_502(tmp_path: Path) -> None:
    boss = said("I would rather talk about the weather.")
    async with live(catalog_of(boss, said("Plan.")), tmp_path) as server, client(server) as ai:
        with pytest.raises(openai.APIStatusError) as caught:
            await ai.chat.completions.create(model="podium", messages=ASKED)
        assert (caught.value.status_code, caught.value.code) == (502, "no_workflow")
        assert len(boss.calls) == 2


async def test_a_fault_in_the_middle_of_a_stream_is_an_error_the_client_raises(tmp_path: Path) -> None:
    def fail(call: Call) -> str:
        raise WorkerUnavailable("gone")

    async with live(catalog_of(said(TWO_STEPS), said("Plan."), Puppet(fail)), tmp_path) as server, client(server) as ai:
        stream = await ai.chat.completions.create(model="podium", messages=ASKED, stream=True)
        with pytest.raises(openai.APIError, match="gone"):
            async for _ in stream:
                pass


async def test_an_answer_that_begins_anew_in_other_words_is_not_mixed_with_the_first(tmp_path: Path) -> None:
    class Wavering:
        def __init__(self, again: str) -> None:
            self.again = again

        async def __call__(self, call: Call) -> Any:
            assert call.on_token is not None
            call.on_token("It is ")
            call.on_token(None)
            call.on_token(self.again)
            return await said(self.again)(Call())

    for again, good in (("It is 42.", True), ("No idea.", False)):
        catalog = catalog_of(said(TWO_STEPS), said("Plan."), said("x"))
        catalog._pool.workers.named("w2").worker._worker = Wavering(again)  # type: ignore[attr-defined]
        (tmp_path / again).mkdir()
        async with live(catalog, tmp_path / again) as server, client(server) as ai:
            stream = await ai.chat.completions.create(model="w2", messages=ASKED, stream=True)
            if good:
                assert "".join([c.choices[0].delta.content or "" async for c in stream]) == again
            else:
                with pytest.raises(openai.APIError, match="other words"):
                    async for _ in stream:
                        pass
                assert [run.failure for run in await server.accounts.runs.search(key=None)] == ["WorkerUnavailable"]


@pytest.mark.parametrize("stream", [False, True])
async def test_spending_stops_when_the_client_leaves(tmp_path: Path, stream: bool) -> None:
    solver = Puppet(lambda call: "word " * 1000, seconds=0.01)
    async with live(catalog_of(said(TWO_STEPS), said("Plan."), solver), tmp_path) as server:
        body = {"model": "podium", "messages": ASKED, "stream": stream}

        async def ask() -> None:
            async with httpx.AsyncClient() as http, http.stream("POST", f"{server.url}/v1/chat/completions", json=body) as reply:
                async for _ in reply.aiter_bytes():
                    pass

        asking = asyncio.create_task(ask())
        await until(lambda: solver.under_way == 1)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        await until(lambda: solver.under_way == 0, seconds=1.0)
        assert solver.cancelled == 1
        async with asyncio.timeout(5):
            while not (kept := await server.accounts.runs.search(key=None)):  # noqa: ASYNC110 - nothing announces it
                await asyncio.sleep(0.02)
        assert [(run.failure, run.question, run.answer) for run in kept] == [("Cancelled", "Are you sure?", None)]
        assert kept[0].usage.cost_usd == pytest.approx(0.002), "the workflow and the plan were paid for"


async def test_who_leaves_while_the_end_is_sent_has_been_answered(tmp_path: Path) -> None:
    catalog = catalog_of(said(TWO_STEPS), said("Plan."), said("42"))
    async with live(catalog, tmp_path) as server:
        service = RequestService(catalog=catalog, accounts=server.accounts, gate=ConcurrencyGate(1, 1), metrics=Metrics())
        asked = ParsedRequest(model="w2", call=Call.plain("6 times 7?"), options=RequestOptions())
        async with service.admitted(None, asked) as active:
            await service.finish(active, await conducted(active.conductors, active.call))
            await service.left(active)
        [run] = await server.accounts.runs.search(key=None)
        assert (run.id, run.failure, run.answer) == (active.run, "", "42")


async def test_a_run_that_failed_is_kept_with_what_it_cost(tmp_path: Path) -> None:
    def fail(call: Call) -> str:
        raise WorkerUnavailable("gone")

    async with live(catalog_of(said(TWO_STEPS), said("Plan."), Puppet(fail)), tmp_path) as server, client(server) as ai:
        with pytest.raises(openai.APIStatusError):
            await ai.chat.completions.create(model="podium", messages=ASKED)
        [run] = await server.accounts.runs.search(key=None)
        assert (run.failure, run.steps, run.workers) == ("WorkerUnavailable", 2, ("w1", "w2"))
        assert run.usage.cost_usd == pytest.approx(0.002)


async def test_more_than_can_wait_is_turned_away(tmp_path: Path) -> None:
    solver = Puppet(lambda call: "slow", seconds=0.5)
    limits = ServerLimits(concurrency=1, queue=1)
    async with live(catalog_of(said(TWO_STEPS), said("Plan."), solver), tmp_path, limits=limits) as server, client(server) as ai:
        asked = [asyncio.create_task(ai.chat.completions.create(model="w2", messages=ASKED)) for _ in range(3)]
        done = await asyncio.gather(*asked, return_exceptions=True)
        [refused] = [each for each in done if isinstance(each, openai.RateLimitError)]
        assert refused.code == "overloaded"
        assert refused.response.headers["retry-after"] == "1"
        assert len(solver.calls) == 2


async def test_who_leaves_while_waiting_makes_room_for_others(tmp_path: Path) -> None:
    solver = Puppet(lambda call: "slow", seconds=1.0)
    limits = ServerLimits(concurrency=1, queue=1)
    async with live(catalog_of(said(TWO_STEPS), said("Plan."), solver), tmp_path, limits=limits) as server, client(server) as ai:
        ask: Callable[[], Any] = lambda: ai.chat.completions.create(model="w2", messages=ASKED)  # noqa: E731
        under_way = asyncio.create_task(ask())
        await until(lambda: solver.under_way == 1)
        leaver = asyncio.create_task(ask())
        await asyncio.sleep(0.2)
        leaver.cancel()
        await asyncio.sleep(0.2)
        answers = await asyncio.gather(under_way, ask())
        assert [answer.choices[0].message.content for answer in answers] == ["slow", "slow"]
        assert len(solver.calls) == 2


async def test_requests_that_can_not_be_asked(tmp_path: Path) -> None:
    limits = ServerLimits(body_bytes=10_000)
    async with (
        live(catalog_of(said(TWO_STEPS), said("P"), said("A")), tmp_path, limits=limits) as server,
        httpx.AsyncClient() as http,
    ):
        ask = {"model": "podium", "messages": [{"role": "user", "content": "?"}]}
        for change, status, code in (
            ({"model": "gpt-5"}, 404, "model_not_found"),
            ({"foo": 1}, 400, "invalid_request"),
            ({"messages": []}, 400, "invalid_request"),
            ({"messages": [{"role": "assistant", "content": "?"}]}, 400, "invalid_request"),
            ({"messages": [{"role": "tool", "content": "?", "tool_call_id": "x"}]}, 400, "invalid_request"),
            ({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": "x"}]}]}, 400, "invalid_request"),
            ({"messages": [{"role": "user", "content": [{"type": "input_audio"}]}]}, 400, "not_served"),
            ({"messages": [{"role": "user", "content": "\ud800"}]}, 400, "invalid_request"),
            ({"stop": [""]}, 400, "invalid_request"),
            ({"n": 0}, 400, "invalid_request"),
            ({"temperature": 3}, 400, "invalid_request"),
            ({"tool_choice": "required"}, 400, "invalid_request"),
            ({"response_format": {"type": "json_schema"}}, 400, "invalid_request"),
            ({"podium": {"rounds": 99}}, 400, "invalid_request"),
            ({"podium": {"budget_usd": -1}}, 400, "invalid_request"),
            ({"podium": {"policy": "trained:/etc"}}, 400, "invalid_request"),
            ({"podium": {"workers": ["nobody"]}}, 400, "invalid_request"),
            ({"messages": [{"role": "user", "content": "x" * 20_000}]}, 413, "request_too_large"),
        ):
            reply = await http.post(f"{server.url}/v1/chat/completions", content=json.dumps({**ask, **change}), headers=JSON)
            assert (reply.status_code, reply.json()["error"]["code"]) == (status, code), change
        for content in (b"", b"{", b"[]", b"\xff", b'{"model": ' + b"[" * 5000):
            reply = await http.post(f"{server.url}/v1/chat/completions", content=content, headers=JSON)
            assert reply.status_code == 400, content[:20]
            assert set(reply.json()["error"]) == {"message", "type", "param", "code"}
        assert (await http.get(f"{server.url}/v1/nothing")).json()["error"]["code"] == "not_found"
        assert (await http.get(f"{server.url}/v1/chat/completions")).status_code == 405


async def test_models_health_and_metrics(tmp_path: Path) -> None:
    async with live(catalog_of(said(TWO_STEPS), said("P"), said("42")), tmp_path) as server, client(server) as ai:
        names = [model.id async for model in ai.models.list()]
        assert names == ["podium", "podium-fast", "podium-recursive", "boss", "w1", "w2"]
        assert (await ai.models.retrieve("w1")).id == "w1"
        with pytest.raises(openai.NotFoundError):
            await ai.models.retrieve("w9")
        await ai.chat.completions.create(model="podium", messages=ASKED)
        async with httpx.AsyncClient(base_url=server.url) as http:
            assert (await http.get("/healthz")).json() == {"status": "ok"}
            assert (await http.get("/readyz")).json() == {"status": "ready"}
            metrics = (await http.get("/metrics")).text
        assert 'podium_runs_total{model="podium",outcome="answered"} 1.0' in metrics
        assert 'podium_usd_total{model="podium"} 0.003' in metrics
        assert 'podium_step_seconds_count{worker="w2"} 1.0' in metrics
        assert "6 times 7" not in metrics
