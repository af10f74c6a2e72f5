"""The language: golden texts, the inverse, and "any text gives a Workflow or a WorkflowError, nothing else"."""

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.errors import InvalidWorkflow, MalformedWorkflow, WorkflowError
from podium.types import Step, Workflow
from podium.workflow.parse import format_workflow, parse
from podium.workflow.syntax import FIXED_SUBTASK, WorkflowSyntax
from tests.workflows import WORKERS, brief, workflows

TWO = Workflow(steps=(Step(worker=2, subtask="Plan."), Step(worker=0, subtask="Solve it.", access=(0,))))

DIALECTS = {
    "plain": "model_id = [2, 0]\nsubtasks = ['Plan.', 'Solve it.']\naccess_list = [[], 'all']",
    "double quotes": 'model_id = [2, 0]\nsubtasks = ["Plan.", "Solve it."]\naccess_list = [[], ["all"]]',
    "colons": 'model_id: [2, 0]\nsubtasks: ["Plan.", "Solve it."]\naccess_list: [[], [0]]',
    "fence": 'Sure!\n```python\nmodel_id = [2, 0]\nsubtasks = ["Plan.", "Solve it."]\naccess_list = [[], "all"]\n```\nDone.',
    "json": '{"model_id": [2, 0], "subtasks": ["Plan.", "Solve it."], "access_list": [[], ["all"]]}',
    "smart quotes": "model_id = [2, 0]\nsubtasks = [“Plan.”, ‘Solve it.’]\naccess_list = [[], “all”]",
    "several lines": 'model_id = [\n  2,\n  0,\n]\nsubtasks = [\n  "Plan.",\n  "Solve it.",\n]\n'
    'access_list = [\n  [],\n  "all",\n]',
    "markdown": '**model_id** = [2, 0]\n`subtasks` = ["Plan.", "Solve it."]\n**access_list**: [[], All]',
    "one line": 'model_id=[2,0];subtasks=["Plan.","Solve it."];access_list=[[],"ALL"]',
    "triple quotes": 'model_id = [2, 0]\nsubtasks = ["""Plan.""", \'\'\'Solve it.\'\'\']\naccess_list = [[], "all"]',
    "reasoning first": 'I first thought of model_id = [1], but no.\nmodel_id = [2, 0]\nsubtasks = ["Plan.", "Solve it."]\n'
    'access_list = [[], "all"]',
    "the last triple": 'model_id = [1]\nsubtasks = ["No."]\naccess_list = [[]]\nBetter:\nmodel_id = [2, 0]\n'
    'subtasks = ["Plan.", "Solve it."]\naccess_list = [[], "all"]',
    "cut off behind it": 'model_id = [2, 0]\nsubtasks = ["Plan.", "Solve it."]\naccess_list = [[], "all"]\n'
    'model_id = [1]\nsubtasks = ["Agai',
}


@pytest.mark.parametrize("text", DIALECTS.values(), ids=DIALECTS.keys())
def test_dialects_that_language_models_write(text: str) -> None:
    assert parse(text, brief()) == TWO


MALFORMED = {
    "nothing": ("", "no list called model_id"),
    "prose": ("The answer is 42.", "no list called model_id"),
    "no access list": ("model_id = [0]\nsubtasks = ['a']", "no list called access_list"),
    "a call": ("model_id = [f(x)]\nsubtasks = ['a']\naccess_list = [[]]", "model_id is not a list of literals"),
    "not closed": ("model_id = [0]\nsubtasks = ['a']\naccess_list = [[]", "access_list is not a list of literals"),
    "other order": ("subtasks = ['a']\nmodel_id = [0]\naccess_list = [[]]", "one after the other"),
    "other name": ("my_model_id = [0]\nsubtasks = ['a']\naccess_list = [[]]", "no list called model_id"),
    "too deep": ("model_id = [[[[0]]]]\nsubtasks = ['a']\naccess_list = [[]]", "too deep"),
    "huge integer": (f"model_id = [{'9' * 5000}]\nsubtasks = ['a']\naccess_list = [[]]", "digits"),
    "list inside a string": ("model_id = [0]\nsubtasks = ['access_list = [[]]']", "no list called access_list"),
    "no comma": ("model_id = [0 1]\nsubtasks = ['a', 'b']\naccess_list = [[], []]", "comma"),
}


@pytest.mark.parametrize(("text", "reason"), MALFORMED.values(), ids=MALFORMED.keys())
def test_malformed(text: str, reason: str) -> None:
    with pytest.raises(MalformedWorkflow, match=reason):
        parse(text, brief())


INVALID = {
    "unequal lengths": ("[0, 1]", "['a']", "[[], []]", "model_id has 2, subtasks has 1, access_list has 2"),
    "unknown worker": ("[4]", "['a']", "[[]]", "no worker 4; workers are 0 to 3"),
    "negative worker": ("[-1]", "['a']", "[[]]", "no worker -1"),
    "float": ("[0.5]", "['a']", "[[]]", "0.5 is not an integer"),
    "name": ("['gpt']", "['a']", "[[]]", "'gpt' is not an integer"),
    "null": ("[null]", "['a']", "[[]]", "None is not an integer"),
    "forward": ("[0, 1]", "['a', 'b']", "[[1], []]", "step 0 can not see step 1"),
    "itself": ("[0, 1]", "['a', 'b']", "[[], [1]]", "step 1 can not see step 1"),
    "negative access": ("[0, 1]", "['a', 'b']", "[[], [-1]]", "step 1 can not see step -1"),
    "twice": ("[0, 1]", "['a', 'b']", "[[], [0, 0]]", "names a step twice"),
    "some word": ("[0, 1]", "['a', 'b']", "[[], 'some']", "'some' is not an integer"),
    "a number for a list": ("[0, 1]", "['a', 'b']", "[[], 0]", "neither a list nor"),
    "empty subtask": ("[0]", "[' ']", "[[]]", "is not a text"),
    "subtask no text": ("[0]", "[3]", "[[]]", "3 is not a text"),
    "too many steps": ("[0]*6", "", "", ""),
    "empty in round 1": ("[]", "[]", "[]", "in round 1 there is none"),
}


@pytest.mark.parametrize(("workers", "subtasks", "access", "reason"), INVALID.values(), ids=INVALID.keys())
def test_invalid(workers: str, subtasks: str, access: str, reason: str) -> None:
    if workers == "[0]*6":
        workers, subtasks, access, reason = str([0] * 6), str(["a"] * 6), str([[]] * 6), "6 steps; at most 5"
    with pytest.raises(InvalidWorkflow, match=reason):
        parse(f"model_id = {workers}\nsubtasks = {subtasks}\naccess_list = {access}", brief())


def test_empty_lists_keep_the_answer_from_round_2_on() -> None:
    assert parse("model_id = []\nsubtasks = []\naccess_list = []", brief(rounds_done=1)) is None


def test_all_includes_the_last_answer_from_round_2_on_and_positions_do_not() -> None:
    text = "model_id = [0, 1, 2]\nsubtasks = ['a', 'b', 'c']\naccess_list = ['all', [0], 'all']"
    first, second, third = parse(text, brief(rounds_done=1)).steps  # type: ignore[union-attr]
    assert (first.last_answer, second.last_answer, third.last_answer) == (True, False, True)
    assert third.access == (0, 1)
    assert not any(step.last_answer for step in parse(text, brief()).steps)  # type: ignore[union-attr]


def test_positions_stand_in_any_order() -> None:
    text = "model_id = [0, 1, 2]\nsubtasks = ['a', 'b', 'c']\naccess_list = [[], [], [1, 0]]"
    assert parse(text, brief()).steps[2].access == (0, 1)  # type: ignore[union-attr]
    with pytest.raises(InvalidWorkflow):
        parse(text.replace("[1, 0]", "[1, 0, 1]"), brief())


def test_lists_that_are_each_short_and_together_endless_are_given_up() -> None:
    lists = f"model_id = {[0] * 90}\nsubtasks = {['a'] * 90}\naccess_list = {[[]] * 90}\n"
    with pytest.raises(InvalidWorkflow, match="90 steps"):
        parse(lists, brief())
    with pytest.raises(MalformedWorkflow, match="too many lists, or lists too long"):
        parse(lists * 200, brief())


def test_binary_language_refuses_positions() -> None:
    text = "model_id = [0, 1]\nsubtasks = ['a', 'b']\naccess_list = [[], [0]]"
    with pytest.raises(InvalidWorkflow, match="neither"):
        parse(text, brief(), WorkflowSyntax(access="binary"))
    steps = tuple(Step(worker=0, subtask="a", access=seen) for seen in [(), (), (1,)])
    with pytest.raises(ValueError, match="binary"):
        format_workflow(Workflow(steps=steps), WorkflowSyntax(access="binary"))


def test_without_subtasks_every_worker_gets_the_fixed_one() -> None:
    syntax = WorkflowSyntax(subtasks=False)
    text = "model_id = [0, 1]\naccess_list = [[], 'all']"
    workflow = parse(text, brief(), syntax)
    assert workflow is not None
    assert [step.subtask for step in workflow.steps] == [FIXED_SUBTASK] * 2
    assert parse(format_workflow(workflow, syntax), brief(), syntax) == workflow


def test_seeing_every_earlier_step_is_written_as_all_from_the_second_step_on() -> None:
    steps = tuple(Step(worker=0, subtask=f"s{index}", access=tuple(range(index))) for index in range(3))
    assert format_workflow(Workflow(steps=steps[:2])).endswith('access_list = [[], "all"]')
    assert format_workflow(Workflow(steps=steps)).endswith('access_list = [[], "all", "all"]')


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (r"\frac{1}{2} \times \nu \text{ m} \theta", r"\frac{1}{2} \times \nu \text{ m} \theta"),
        (r"First.\nThen \\frac.\tEnd", "First.\nThen \\frac.\tEnd"),
        (r"say \"hi\" and \'ho\'", "say \"hi\" and 'ho'"),
        (r"\u00e9\x41\U0001F600\ud83d\ude00", "éA\U0001f600\U0001f600"),
        (r"\d+\s", r"\d+\s"),
        ("two\nlines", "two\nlines"),
        (r"\UFFFFFFFF", r"\UFFFFFFFF"),
    ],
)
def test_escapes_and_latex(written: str, read: str) -> None:
    workflow = parse(f'model_id = [0]\nsubtasks = ["{written}"]\naccess_list = [[]]', brief())
    assert workflow is not None
    assert workflow.steps[0].subtask == read


CONDITIONAL = WorkflowSyntax(conditions=True)
THREE = "model_id = [0, 1, 2]\nsubtasks = ['a', 'b', 'c']\naccess_list = [[], [0], 'all']"


def test_the_fourth_list_is_there_where_the_language_has_it_and_nowhere_else() -> None:
    text = f"{THREE}\nconditions = ['always', 'IF  failed', \"Unless 2 agree\"]"
    workflow = parse(text, brief(), CONDITIONAL)
    assert workflow is not None
    assert [step.condition for step in workflow.steps] == ["always", "if failed", "unless 2 agree"]
    plain = parse(text, brief())
    assert plain is not None
    assert {step.condition for step in plain.steps} == {"always"}
    with pytest.raises(MalformedWorkflow, match="no list called conditions"):
        parse(THREE, brief(), CONDITIONAL)
    with pytest.raises(ValueError, match="can not say 'if failed'"):
        format_workflow(workflow)


CONDITIONS = {
    "unknown": ("['always', 'maybe', 'always']", "'maybe' is unknown: it is none of"),
    "one can not agree": ("['always', 'always', 'unless 1 agree']", "'unless 1 agree' is unknown"),
    "too many digits": ("['always', 'always', 'unless 999999999 agree']", "is unknown"),
    "fraction": ("['always', 'always', 'unless 2.5 agree']", "is unknown"),
    "other digits": ("['always', 'always', 'unless ² agree']", "is unknown"),
    "more than it sees": (
        "['always', 'unless 2 agree', 'always']",
        'step 1: "unless 2 agree" can never come about: the step sees 1',
    ),
    "nothing to look at": ("['if failed', 'always', 'always']", "the step sees none"),
    "no text": ("['always', 3, 'always']", "3 is not a text"),
    "a list": ("['always', ['if failed'], 'always']", "is not a text"),
    "too few": ("['always', 'always']", "conditions has 2"),
    "long": (f"['always', 'always', '{'if failed ' * 1000}']", "is unknown"),
}


@pytest.mark.parametrize(("conditions", "reason"), CONDITIONS.values(), ids=CONDITIONS.keys())
def test_conditions_that_are_none(conditions: str, reason: str) -> None:
    with pytest.raises(InvalidWorkflow, match=reason):
        parse(f"{THREE}\nconditions = {conditions}", brief(), CONDITIONAL)


def test_a_workflow_made_in_python_keeps_the_same_rules() -> None:
    for condition, access in (("unless 2 agree", (0,)), ("if failed", ()), ("sometimes", (0,))):
        with pytest.raises(ValueError, match=r"sees|none of"):
            Workflow(steps=(Step(worker=0, subtask="a"), Step(worker=0, subtask="b", access=access, condition=condition)))


def test_an_answer_that_was_never_given_can_not_be_kept() -> None:
    shown = brief(rounds_done=1)
    failed = replace(shown, previous_rounds=(replace(shown.previous_rounds[0], answer=None),))
    with pytest.raises(InvalidWorkflow, match="the last round gave none"):
        parse("model_id = []\nsubtasks = []\naccess_list = []", failed)


@settings(max_examples=500, deadline=None)
@given(workflow=workflows(conditions=True, max_steps=7), later_round=st.booleans(), subtasks=st.booleans())
def test_parse_is_the_inverse_of_format_with_conditions(workflow: Workflow, later_round: bool, subtasks: bool) -> None:
    syntax = replace(CONDITIONAL, subtasks=subtasks)
    if not subtasks:
        workflow = Workflow(steps=tuple(replace(step, subtask=FIXED_SUBTASK) for step in workflow.steps))
    text = format_workflow(workflow, syntax, round_number=2 if later_round else 1)
    assert parse(text, brief(rounds_done=int(later_round), max_steps=7), syntax) == workflow


LANGUAGES = [WorkflowSyntax(), WorkflowSyntax(access="binary")]


@settings(max_examples=2000, deadline=None)
@given(workflow=workflows(), later_round=st.booleans(), lead=st.text(max_size=40))
def test_parse_is_the_inverse_of_format(workflow: Workflow, later_round: bool, lead: str) -> None:
    if "model_id" in lead or "[" in lead:
        lead = ""
    text = f"{lead}\n{format_workflow(workflow, round_number=2 if later_round else 1)}"
    assert parse(text, brief(rounds_done=int(later_round))) == workflow


@settings(max_examples=300, deadline=None)
@given(workflow=workflows())
def test_last_answer_survives_the_round_trip(workflow: Workflow) -> None:
    steps = tuple(
        Step(worker=step.worker, subtask=step.subtask, access=tuple(range(index)), last_answer=True)
        for index, step in enumerate(workflow.steps)
    )
    seeing = Workflow(steps=steps)
    for syntax in LANGUAGES:
        assert parse(format_workflow(seeing, syntax, round_number=2), brief(rounds_done=1), syntax) == seeing


WORDS = "model_id subtasks access_list = : [ ] [[ ]] , \" ' “ ” ‘ ’ all 0 1 3 -1 99 1.5 None \\ \\n \\u12 { } () # ``` é"
PIECES = [
    *WORDS.split(),
    *("\x00", "\ud800"),
    *(" ", "\n", '"all"', '"""', "a b", "model_id = [0]", "subtasks = ['a']", "access_list = [[]]", "model_id = [0, 1]"),
    *('subtasks = ["a", "b"]', "access_list = [[], 'all']"),
]


def check(text: str) -> bool:
    """Whether ``text`` is a workflow; anything but a Workflow or a WorkflowError raises."""
    try:
        workflow = parse(text, brief(rounds_done=len(text) % 2))
    except WorkflowError:
        return False
    assert workflow is None or (1 <= len(workflow.steps) <= 5 and all(0 <= step.worker < WORKERS for step in workflow.steps))
    return True


def test_a_hundred_thousand_random_and_mutated_texts() -> None:
    rng = random.Random(20260101)
    seeds = list(DIALECTS.values())
    accepted = 0
    for number in range(100_000):
        if number % 2:
            text = "".join(rng.choices(PIECES, k=rng.randint(1, 30)))
        else:
            characters = list(rng.choice(seeds))
            for _ in range(rng.randint(1, 6)):
                at = rng.randrange(len(characters))
                choice = rng.randrange(3)
                if choice == 0:
                    characters[at] = rng.choice(PIECES)
                elif choice == 1:
                    characters.insert(at, rng.choice(PIECES))
                else:
                    del characters[at : at + rng.randint(1, 8)]
                    characters = characters or [" "]
            text = "".join(characters)
        accepted += check(text)
    assert 1_000 < accepted < 99_000  # both outcomes are really met


@settings(max_examples=500, deadline=None)
@given(st.text())
def test_any_text_is_a_workflow_or_an_error(text: str) -> None:
    check(text)
