"""Steps with a condition: who is skipped and passes on what, that timing changes no text, and that a skipped step asks nobody."""

import asyncio
import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.conditions import read_condition
from podium.errors import BudgetExceeded, ContextOverflow, PodiumError, UnworkableStep, WorkerUnavailable
from podium.events import Event, StepFinished, StepStarted
from podium.jsonl import dumps, loads
from podium.tasks.agreement import Reading
from podium.types import Call, Card, Completion, Generation, ResponseOptions, Step, Tool, Transcript, Workflow
from podium.workers.budget import Budget
from podium.workers.metered import Metered
from podium.workers.pool import Member, WorkerPool
from podium.workers.scripted import Scripted
from podium.workflow.execute import Execution
from tests.workflows import WORKERS, pool_of, workflows

WRITTEN = Generation(text="")
QUESTION = Call.plain("6 times 7?")


def steps(*parts: tuple[int, tuple[int, ...], str]) -> Workflow:
    """(worker, access, condition) of each step; step i is told "#i"."""
    return Workflow(
        steps=tuple(
            Step(worker=worker, subtask=f"#{index}", access=access, condition=condition)
            for index, (worker, access, condition) in enumerate(parts)
        )
    )


async def run(workflow: Workflow, pool: WorkerPool, call: Call = QUESTION, **options: object) -> Transcript:
    return await Execution(workflow, pool, call, WRITTEN, **options).run()  # type: ignore[arg-type]


def texts(transcript: Transcript) -> list[str]:
    return [
        "-" if not each.was_needed else "!" if each.completion is None else ("~" if each.skipped else "") + each.completion.text
        for each in transcript.results
    ]


class Answers:
    """Step i answers with ``texts[i]`` after a pause; an error is raised, a Completion returned as it is. Knows who was asked."""

    def __init__(self, *texts: str | PodiumError | Completion, pauses: dict[int, float] | None = None) -> None:
        self.texts, self.pauses, self.asked, self.stopped, self.calls = (
            texts,
            pauses or {},
            list[int](),
            list[int](),
            list[Call](),
        )

    async def __call__(self, call: Call) -> Completion:
        index = int(call.subtask[1:])
        self.asked.append(index)
        self.calls.append(call)
        try:
            await asyncio.sleep(self.pauses.get(index, 0.0))
        except asyncio.CancelledError:
            self.stopped.append(index)
            raise
        said = self.texts[index]
        if isinstance(said, PodiumError):
            raise said
        return said if isinstance(said, Completion) else Completion(text=said)


CASCADE = steps((0, (), "always"), (1, (), "always"), (2, (0, 1), "unless 2 agree"))


async def test_a_step_is_skipped_where_two_agree_and_carried_out_where_they_differ() -> None:
    same, other = Answers("Answer: 42", "It is \\boxed{42}", "43"), Answers("Answer: 42", "Answer: 41", "Answer: 43")
    agreed_on = await run(CASCADE, pool_of(same, same, same))
    assert texts(agreed_on) == ["Answer: 42", "It is \\boxed{42}", "~Answer: 42"]
    assert agreed_on.answer == "Answer: 42"
    assert same.asked == [0, 1]
    assert agreed_on.results[2].skipped is not None
    assert (agreed_on.results[2].skipped.passes_on, agreed_on.results[2].skipped.because) == (0, (0, 1))
    assert (await run(CASCADE, pool_of(other, other, other))).answer == "Answer: 43"
    assert loads(Transcript, dumps(agreed_on)) == agreed_on


@pytest.mark.parametrize("empty", ["", "Answer: ___", "   "])
async def test_answers_that_say_nothing_agree_on_nothing(empty: str) -> None:
    answers = Answers(empty, empty, "Answer: 43")
    assert (await run(CASCADE, pool_of(answers, answers, answers))).answer == "Answer: 43"


async def test_the_answer_of_whoever_is_right_most_often_is_passed_on_else_of_the_first_in_the_pool() -> None:
    answers = Answers("Answer: 42", "\\boxed{42}", "43")
    swapped = steps((1, (), "always"), (0, (), "always"), (2, (0, 1), "unless 2 agree"))
    assert (await run(swapped, pool_of(answers, answers, answers))).answer == "\\boxed{42}"
    cards = [Card(name="a", skills=(("x", 0.2),)), Card(name="b", skills=(("x", 0.9), ("y", 0.1))), Card(name="c")]
    pool = WorkerPool([Member(worker=answers, card=card) for card in cards])
    assert (await run(swapped, pool)).answer == "Answer: 42"


async def test_with_three_of_four_in_and_two_agreeing_the_rest_of_the_chain_ends() -> None:
    answers = Answers(*["Answer: 1", "Answer: 2", "Answer: 1", "Answer: 2", "x", "y"], pauses={3: 30.0})
    workflow = steps(
        *[(0, (), "always")] * 4,
        (0, (0, 1, 2, 3), "unless 2 agree"),
        (0, (0, 1, 2, 3, 4), "unless 2 agree"),
    )
    events: list[Event] = []
    async with asyncio.timeout(5):
        transcript = await run(workflow, pool_of(answers), on_event=events.append)
    assert texts(transcript) == ["Answer: 1", "Answer: 2", "Answer: 1", "-", "~Answer: 1", "~Answer: 1"]
    assert (answers.asked, answers.stopped) == ([0, 1, 2, 3], [3])
    assert "no step needs it any more" in str(transcript.results[3].failure)
    assert [len(transcript.asked), transcript.failure] == [3, None]
    started = [event.index for event in events if isinstance(event, StepStarted)]
    finished = [event.index for event in events if isinstance(event, StepFinished)]
    assert (started, sorted(finished)) == ([0, 1, 2, 3], [0, 1, 2, 3, 4, 5])


async def test_a_step_is_stopped_once_where_two_that_need_it_not_are_skipped_at_once() -> None:
    answers = Answers("Answer: 1", "Answer: 1", "slow", "x", "y", pauses={2: 30.0})
    seen = (0, 1, 2)
    workflow = steps(*[(0, (), "always")] * 3, (0, seen, "unless 2 agree"), (0, (0, 1, 3), "unless 2 agree"))
    events: list[Event] = []
    async with asyncio.timeout(5):
        transcript = await run(workflow, pool_of(answers), on_event=events.append)
    assert texts(transcript) == ["Answer: 1", "Answer: 1", "-", "~Answer: 1", "~Answer: 1"]
    assert str(transcript.results[2].failure.message if transcript.results[2].failure else "").startswith("stopped")
    assert sorted(event.index for event in events if isinstance(event, StepFinished)) == [0, 1, 2, 3, 4]


async def test_steps_that_only_skipped_ones_would_have_seen_are_not_started() -> None:
    answers = Answers("Answer: 1", "Answer: 1", "slow", "behind", "end", pauses={2: 30.0})
    workflow = steps(
        (0, (), "always"), (0, (), "always"), (0, (), "always"), (0, (2,), "always"), (0, (0, 1, 3), "unless 2 agree")
    )
    async with asyncio.timeout(5):
        transcript = await run(workflow, pool_of(answers))
    assert texts(transcript) == ["Answer: 1", "Answer: 1", "-", "-", "~Answer: 1"]
    assert answers.asked == [0, 1, 2]


async def test_a_step_that_is_known_to_be_unneeded_when_its_turn_comes_is_not_started() -> None:
    """Whoever wakes up first: what both wait for settles that the one step needs nobody, and so not the other either."""
    workflow = steps((0, (), "always"), (0, (0,), "always"), (0, (0, 1), "always"), (0, (0, 1, 2), "unless 2 agree"))
    for same in (("Answer: 1", "Answer: 1"), ("$x^2+2x+1$", "$(x+1)^2$")):
        answers = Answers(*same, "dear", "end", pauses={2: 30.0})
        async with asyncio.timeout(20):
            transcript = await run(workflow, pool_of(answers))
        assert answers.asked == [0, 1]
        assert texts(transcript) == [*same, "-", f"~{same[0]}"]


async def test_a_skipped_step_adds_no_voice_to_an_agreement_and_is_not_shown_twice() -> None:
    answers = Answers("Answer: 1", "mend", "Answer: 2", "Answer: 3")
    workflow = steps((0, (), "always"), (0, (0,), "if failed"), (0, (), "always"), (0, (0, 1, 2), "unless 2 agree"))
    transcript = await run(workflow, pool_of(answers))
    assert texts(transcript) == ["Answer: 1", "~Answer: 1", "Answer: 2", "Answer: 3"]
    assert [earlier.response for earlier in answers.calls[-1].visible] == ["Answer: 1", "Answer: 2"]


async def test_a_step_if_failed_stands_in_for_a_fault_and_knows_the_question() -> None:
    answers = Answers(WorkerUnavailable("busy"), "Answer: 42", "never")
    workflow = steps((0, (), "always"), (1, (0,), "if failed"), (2, (0, 1), "if failed"))
    transcript = await run(workflow, pool_of(answers, answers, answers))
    assert answers.calls[1].question == QUESTION.question
    assert answers.calls[1].visible == ()
    assert transcript.answer == "never", "step 2 sees a step that failed, too"
    assert transcript.failure is None
    fine = Answers("Answer: 42", "no", "no")
    assert texts(await run(workflow, pool_of(fine, fine, fine))) == ["Answer: 42", "~Answer: 42", "~Answer: 42"]


@pytest.mark.parametrize(
    ("error", "caught"),
    [
        (WorkerUnavailable("busy"), True),
        (ContextOverflow("too long"), True),
        (BudgetExceeded("no dollars left"), False),
        (UnworkableStep("nothing to vote on"), False),
    ],
)
@pytest.mark.parametrize("between", [False, True])
async def test_which_failures_a_step_can_stand_in_for(error: PodiumError, caught: bool, between: bool) -> None:
    answers = Answers(error, "between", "mended")
    workflow = steps((0, (), "always"), (0, (0,), "always"), (0, (1,) if between else (0,), "if failed"))
    transcript = await run(workflow, pool_of(answers))
    assert transcript.answer == ("mended" if caught else None)
    if not caught:
        assert transcript.failure is not None
        assert transcript.failure.kind == type(error).__name__


async def test_a_failing_check_is_data_and_no_answer() -> None:
    workflow = steps((0, (), "always"), (1, (0,), "always"), (0, (0, 1), "if failed"))
    failing = Answers("Answer: 1", Completion(text="line 3 is wrong", check_passed=False), "Answer: 2")
    assert (await run(workflow, pool_of(failing, failing))).answer == "Answer: 2"
    assert [earlier.response for earlier in failing.calls[-1].visible] == ["Answer: 1", "line 3 is wrong"]
    passing = Answers("Answer: 1", Completion(text="Answer: 1", check_passed=True), "Answer: 2")
    assert texts(await run(workflow, pool_of(passing, passing)))[2] == "~Answer: 1"
    twice = Answers(*[Completion(text="Traceback", check_passed=False)] * 2, "Answer: 3")
    assert (await run(CASCADE, pool_of(twice, twice, twice))).answer == "Answer: 3", "two that fail alike do not agree"


@pytest.mark.parametrize(
    ("report", "answer"),
    [
        ("Line 3 is wrong.\nCHECK: FAILED", "Answer: 2"),
        ("All fine.\n**CHECK: PASSED**", "Answer: 1"),
        ("Ignore this.\nCHECK: FAILED\nor not", "Ignore this.\nCHECK: FAILED\nor not"),
    ],
)
async def test_any_worker_reports_a_check_by_its_last_line(report: str, answer: str) -> None:
    workflow = steps((0, (), "always"), (1, (0,), "always"), (0, (0, 1), "if failed"))
    answers = Answers("Answer: 1", report, "Answer: 2")
    assert (await run(workflow, pool_of(answers, answers))).answer == answer
    alone = steps((0, (), "always"), (1, (0,), "always"))
    assert (await run(alone, pool_of(answers, answers))).answer == report, "read only where a later step waits for it"


@pytest.mark.parametrize(
    ("verdict", "answer", "asked"), [("PASSED", "Answer: 42", [0, 1, 2]), ("FAILED", "Answer: 43", [0, 1, 2, 3])]
)
async def test_two_checks_do_not_agree_on_their_verdict(verdict: str, answer: str, asked: list[int]) -> None:
    workflow = steps((0, (), "always"), (1, (0,), "always"), (2, (0,), "always"), (0, (0, 1, 2), "unless 2 agree"))
    answers = Answers("Answer: 42", f"I looked.\nCHECK: {verdict}", f"CHECK: {verdict}", "Answer: 43")
    assert (await run(workflow, pool_of(answers, answers, answers))).answer == answer
    assert answers.asked == asked


async def test_no_fault_is_read_as_a_disagreement() -> None:
    answers = Answers(WorkerUnavailable("busy"), "Answer: 1", "Answer: 2")
    transcript = await run(CASCADE, pool_of(answers, answers, answers))
    assert answers.asked == [0, 1], "the third is for those who differ"
    assert transcript.failure is not None
    assert transcript.failure.kind == "WorkerUnavailable"
    three = steps(*[(0, (), "always")] * 3, (0, (0, 1, 2), "unless 2 agree"))
    spared = Answers(WorkerUnavailable("busy"), "Answer: 1", "Answer: 1", "never", pauses={1: 0.02})
    assert texts(await run(three, pool_of(spared))) == ["!", "Answer: 1", "Answer: 1", "~Answer: 1"]


async def test_the_text_streams_where_the_last_step_is_skipped() -> None:
    heard: list[str | None] = []
    answers = Answers("Answer: 42", "Answer: 42", "never")
    await run(CASCADE, pool_of(answers, answers, answers), replace(QUESTION, on_token=heard.append))
    assert heard == ["Answer: 42"]


async def test_a_step_that_is_to_call_tools_is_carried_out_whatever_agrees() -> None:
    answers = Answers("Answer: 42", "Answer: 42", "with tools")
    call = replace(QUESTION, response_options=ResponseOptions(tools=(Tool(name="now"),)))
    assert (await run(CASCADE, pool_of(answers, answers, answers), call)).answer == "with tools"


@pytest.mark.parametrize("options", [ResponseOptions(tools=(Tool(name="now"),)), ResponseOptions(response_format="{}")])
async def test_a_step_that_is_to_call_tools_stands_in_for_a_fault_all_the_same(options: ResponseOptions) -> None:
    call = replace(QUESTION, response_options=options)
    repair = steps((0, (), "always"), (1, (0,), "if failed"))
    answers = Answers(WorkerUnavailable("busy"), "stands in")
    assert texts(await run(repair, pool_of(answers, answers), call)) == ["!", "stands in"]
    assert (answers.calls[1].question, answers.calls[1].response_options) == (QUESTION.question, options)
    three = steps(*[(0, (), "always")] * 3, (0, (0, 1, 2), "unless 2 agree"))
    agree, differ = ([WorkerUnavailable("busy"), "Answer: 1", said, "with tools"] for said in ("Answer: 1", "Answer: 2"))
    assert texts(await run(three, pool_of(Answers(*agree)), call)) == ["!", "Answer: 1", "Answer: 1", "with tools"]
    assert texts(await run(three, pool_of(Answers(*differ)), call))[3] == "!", "no fault is read as a disagreement"


async def test_a_skipped_step_reserves_and_costs_nothing() -> None:
    card = Card(name="w", prompt_usd=1e-6, completion_usd=1e-6)
    budget = Budget(usd=1e-3)
    says = Scripted("Answer: 42")
    dear = Metered(says, replace(card, prompt_usd=1.0, completion_usd=1.0), 100, [budget])
    cheap = Metered(says, card, 100, [budget])
    transcript = await run(CASCADE, pool_of(cheap, cheap, dear))
    assert transcript.answer == "Answer: 42"
    assert transcript.results[2].completion == Completion(text="Answer: 42")
    differ = pool_of(Metered(Scripted("Answer: 41"), card, 100, [budget]), cheap, dear)
    failure = (await run(CASCADE, differ)).failure
    assert failure is not None
    assert failure.kind == "BudgetExceeded"


async def test_the_critical_path_ends_where_it_was_known() -> None:
    said = [Completion(text="Answer: 1", seconds=seconds) for seconds in (1.0, 2.0, 2.5, 0.0, 1.0)]
    workflow = steps(*[(0, (), "always")] * 3, (0, (0, 1, 2), "unless 2 agree"), (0, (3,), "always"))
    assert (await run(workflow, pool_of(Answers(*said)))).critical_seconds == 3.0


class Says:
    """Step i says ``answers[i]`` and a secret of its own, after a pause that the seed decides."""

    def __init__(self, answers: list[str], seed: int) -> None:
        self.answers, self._rng, self.heard = answers, random.Random(seed), dict[int, str]()

    async def __call__(self, call: Call) -> Completion:
        index = int(call.subtask[1:])
        assert index not in self.heard, "asked twice"
        shown = [message.content for earlier in call.visible for message in earlier.question]
        shown += [f"{earlier.subtask} {earlier.response}" for earlier in call.visible]
        self.heard[index] = "\n".join([*(message.content for message in call.question), *shown])
        for _ in range(self._rng.randint(0, 6)):
            await asyncio.sleep(0)
        return Completion(text=self.says(index))

    def says(self, index: int) -> str:
        return f"<secret-{index}>\nAnswer: {self.answers[index]}"


def serially(workflow: Workflow, says: Says) -> tuple[list[str], list[int]]:
    """The reference, one step after the other and written anew: what each says, and who said it."""
    said: list[str] = []
    voice: list[int] = []
    for index, step in enumerate(workflow.steps):
        condition, source = read_condition(step.condition), None
        if condition.if_failed:
            good = [seen for seen in step.access if not says.answers[voice[seen]].startswith("_")]
            source = (good or step.access)[-1]
        if condition.agree is not None:
            for end in range(1, len(step.access) + 1):
                voices = {voice[seen]: seen for seen in reversed(step.access[:end])}
                first = sorted(voices, key=voices.__getitem__)
                found = Reading("6 times 7?").agreed([says.says(each) for each in first], condition.agree)
                if found:
                    best = min((first[place] for place in found), key=lambda each: (workflow.steps[each].worker, each))
                    source = voices[best]
                    break
        voice.append(index if source is None else voice[source])
        said.append(says.says(voice[-1]))
    return said, voice


@settings(max_examples=400, deadline=None)
@given(
    workflow=workflows(max_steps=8, subtasks=st.just("x"), conditions=True),
    answers=st.lists(st.sampled_from(["1", "2", "3", "___"]), min_size=8, max_size=8),
    seed=st.integers(0, 10**6),
)
def test_any_conditions_parallel_equals_serial_and_nobody_sees_more(workflow: Workflow, answers: list[str], seed: int) -> None:
    workflow = Workflow(steps=tuple(replace(step, subtask=f"#{i}") for i, step in enumerate(workflow.steps)))
    says = Says(answers, seed)
    transcript = asyncio.run(run(workflow, pool_of(*[says] * WORKERS)))
    said, voice = serially(workflow, says)
    assert transcript.answer == said[-1]
    for index, (step, result) in enumerate(zip(workflow.steps, transcript.results, strict=True)):
        if not result.was_needed:
            continue  # only skipped steps would have seen it
        assert result.completion is not None
        assert result.completion.text == said[index]
        assert (result.skipped is not None) == (voice[index] != index)
        assert (index in says.heard) == (result.skipped is None), "a skipped step asks nobody"
        if index in says.heard:
            heard = {each for each in range(8) if f"<secret-{each}>" in says.heard[index]}
            assert heard == {voice[seen] for seen in step.access}
            assert ("6 times 7?" in says.heard[index]) == (index == 0 or 0 in step.access)
            others = {each for each in range(8) if f"#{each} " in says.heard[index]}
            assert others <= set(step.access), "a skipped step's own subtask, never that of the step behind it"
