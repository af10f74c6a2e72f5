"""What a policy wrote is shown in the message about it, and cut where it is long."""

import pytest

from podium.errors import InvalidWorkflow
from podium.workflow.parse import parse
from tests.workflows import brief


@pytest.mark.parametrize(("length", "shown"), [(38, f"'{'x' * 38}'"), (39, f"'{'x' * 36}..."), (3000, f"'{'x' * 36}...")])
def test_forty_characters_are_shown_whole(length: int, shown: str) -> None:
    with pytest.raises(InvalidWorkflow) as caught:
        parse(f"model_id = ['{'x' * length}']\nsubtasks = ['a']\naccess_list = [[]]", brief())
    assert str(caught.value) == f"step 0: the worker {shown} is not an integer"
