import io
import json
import re
from dataclasses import replace

import pytest
from rich.console import Console

from podium.evaluation.compare import Comparison
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


def shown(rows: list[ArmSummary], width: int = 200, *, wide: bool = False) -> str:
    console = Console(file=io.StringIO(), width=width)
    console.print(terminal_table(rows, wide=wide))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def columns(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"\s{2,}", line.strip())]


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


def test_the_wide_table_shows_the_same_figures_with_a_line_for_each_kind() -> None:
    lines = shown(ROWS, wide=True).splitlines()
    for line in markdown_table(ROWS).split("\n")[2:]:
        arm, n, accuracy, _, *rest = cells(line)
        (found,) = (columns(one) for one in lines if one.startswith(f" {arm} "))
        assert found == [arm, n, accuracy, *rest]
    assert [columns(one)[:3] for one in lines if one.startswith("   code ")] == [["code", "450", "50.0 % (25.0 to 75.0)"]]


def test_five_columns_that_can_be_read_in_80_and_what_they_leave_out_below() -> None:
    seen = shown(ROWS, width=80)
    header, _, gpt, *_ = [line for line in seen.splitlines() if line.strip()]
    assert columns(header) == ["arm", "right (95 % CI)", "$ each", "seconds", "steps"]
    assert columns(gpt) == ["gpt", "75.1 % (70.9 to 78.9)", "0.0012", "1.3", "1.0"]
    assert "answers: gpt 450, free 450, cheap 450, down 0" in seen
    assert "invalid: gpt 2" in seen
    clean = [replace(ROW, invalid=0, no_answer=0, unworkable=0, world_faults=0)]
    assert "450 answers each" in shown(clean)
    assert "invalid" not in shown(clean)
    assert "invalid" not in shown(clean, wide=True)
    assert "1 answer each" in shown([replace(ROW, n=1)])


@pytest.mark.parametrize("width", [40, 60, 71, 72, 80, 200])
@pytest.mark.parametrize("compared", [False, True])
def test_names_are_never_cut_to_the_point_of_being_the_same(width: int, compared: bool) -> None:
    names = [f"trained:runs/a-long-folder-name/seed-{n}/policy@2+workers=random" for n in (0, 1)]
    rows = [replace(ROW, arm=name) for name in names]
    interval = Interval(low=-0.2, high=0.1)
    figures = {"problems": 9, "left_out": 0, "difference": -0.1, "wins": 1, "losses": 2, "p": 0.5, "p_holm": 0.5, "needed": None}
    pair = Comparison(arm=names[0], other=names[1], interval=interval, **figures)  # type: ignore[arg-type]
    console = Console(file=io.StringIO(), width=width)
    console.print(terminal_table(rows, [pair] if compared else []))
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()
    assert all(len(line) <= width for line in lines)
    begin = next(i for i, line in enumerate(lines) if set(line.strip()) == {"─"}) + 1
    end = next(i for i, line in enumerate(lines) if i > begin and not line.strip())
    assert "".join(line[1:].split("  ")[0] for line in lines[begin:end]) == "".join(names)


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


@pytest.mark.parametrize("width", [60, 80, 100])
def test_with_every_column_a_name_is_whole_in_a_narrow_terminal(width: int) -> None:
    rows = [replace(row, arm=f"worker:{row.arm}") for row in ROWS]
    table = shown(rows, width, wide=True)
    assert all(row.arm in table for row in rows)
    assert max(map(len, table.splitlines())) <= width
