import io
import json
from dataclasses import replace

from rich.console import Console

from podium.evaluation.metrics import ArmSummary, Interval, summarise
from podium.evaluation.report import as_object, markdown_table, terminal_table

ROW = ArmSummary(
    arm="gpt",
    kind=None,
    problems=450,
    n=450,
    correct=338,
    accuracy=0.7511,
    interval=Interval(low=0.7091, high=0.7889),
    standard_error=0.0204,
    correct_given_valid=0.7545,
    no_answer=4,
    invalid=2,
    unworkable=1,
    world_faults=3,
    cost_usd=0.00123,
    tokens=812.4,
    seconds=1.26,
    seconds_p95=3.51,
    steps=1.0,
)
DOWN = replace(ROW, arm="down", n=0, accuracy=None, interval=None, cost_usd=None, tokens=None, seconds=None, steps=None)
ROWS = [
    ROW,
    replace(ROW, kind="code", accuracy=0.5, interval=Interval(low=0.25, high=0.75)),
    replace(ROW, arm="free", cost_usd=None, tokens=None),
    replace(ROW, arm="cheap", cost_usd=0.0000012, seconds=0.004),
    replace(DOWN, seconds_p95=None),
]


def shown(rows: list[ArmSummary], *, width: int = 250) -> str:
    console = Console(file=io.StringIO(), width=width)
    console.print(terminal_table(rows))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_markdown_has_one_line_per_arm_and_one_column_per_kind() -> None:
    header, ruler, gpt, free, cheap, down = (cells(line) for line in markdown_table(ROWS).split("\n"))
    assert header == [
        "arm",
        "n",
        "accuracy (95 % CI)",
        "code",
        "steps",
        "$ per question",
        "tokens",
        "seconds",
        "seconds p95",
        "no answer",
        "invalid",
        "unworkable",
        "faults",
    ]
    assert set(ruler) == {"---", "---:"}
    assert gpt == [
        "gpt",
        "450",
        "75.1 % (70.9 to 78.9)",
        "50.0 % (25.0 to 75.0), n 450",
        "1.0",
        "0.0012",
        "812",
        "1.3",
        "3.5",
        "4",
        "2",
        "1",
        "3",
    ]
    assert (free[3], free[5], free[6]) == ("–", "unknown", "unknown")
    assert (cheap[5], cheap[7]) == ("1.2e-06", "0.004")
    assert down == ["down", "0", "–", "–", "–", "–", "–", "–", "–", "4", "2", "1", "3"]


def test_the_terminal_shows_the_same_figures_with_a_line_for_each_kind() -> None:
    seen = shown(ROWS)
    for line in markdown_table(ROWS).split("\n")[2:]:
        arm, n, accuracy, _, steps, usd, _, seconds, _, *counts = cells(line)
        (found,) = (cells(one.replace("│", "|")) for one in seen.splitlines() if f" {arm} " in one)
        assert found == [arm, n, accuracy, steps, usd, seconds, *counts]
    assert [cells(one.replace("│", "|"))[:3] for one in seen.splitlines() if "  code " in one] == [
        ["code", "450", "50.0 % (25.0 to 75.0)"]
    ]


def test_the_terminal_has_no_column_for_what_never_happened_and_is_read_in_80_columns() -> None:
    clean = [replace(row, arm=f"worker:{row.arm}", invalid=0, no_answer=0, unworkable=0, world_faults=0) for row in ROWS[:-1]]
    seen = shown(clean, width=80)
    assert "invalid" not in seen
    assert "faults" not in seen
    assert "…" not in seen
    assert "invalid" in shown([*clean, replace(ROW, arm="b")])


def test_hostile_names_break_no_table() -> None:
    rows = [replace(ROW, arm="[red]a|b[/nope]\n<script>"), replace(ROW, arm="a", kind="x|y")]
    assert "[red]a|b[/nope]" in shown(rows)
    header, _, line = markdown_table(rows).split("\n")
    assert line.replace("\\|", "").count("|") == header.replace("\\|", "").count("|") == 14
    assert "\\<script\\>" in line


def test_the_object_is_json_with_the_figures_in_full() -> None:
    plain = json.loads(json.dumps(as_object(ROWS), allow_nan=False))
    assert [arm["arm"] for arm in plain["arms"]] == ["gpt", "free", "cheap", "down"]
    gpt, free = plain["arms"][:2]
    assert gpt["accuracy"] == 0.7511
    assert gpt["interval"] == {"low": 0.7091, "high": 0.7889}
    assert [(kind["kind"], kind["accuracy"]) for kind in gpt["kinds"]] == [("code", 0.5)]
    assert free["cost_usd"] is None
    assert free["kinds"] == []


def test_no_rows_are_an_empty_table() -> None:
    assert len(markdown_table(summarise([])).split("\n")) == 2
    assert as_object([]) == {"arms": [], "comparisons": []}
